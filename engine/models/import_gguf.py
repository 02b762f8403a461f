"""Imports a GGUF model into Loquat's own model folder, a few rows at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

from gguf.constants import GGMLQuantizationType

from engine.chat import RequestHandle
from engine.errors import BadModelFile
from engine.events import LoadStage
from engine.formats import SMALL_MODEL
from engine.kernels.sources import GgufSource
from engine.models.end_tokens import end_token_ids
from engine.models.files import need_room
from engine.models.gguf_config import Config, config_of
from engine.models.gguf_metadata import Metadata
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_reader import GgufFile
from engine.models.gguf_tokenizer import CONTROL, TOKENS, build_tokenizer, token_id, token_types
from engine.models.gguf_weights import Weight, weights_of
from engine.models.model_folder import (
    CONFIG,
    GENERATION,
    TEMPLATE,
    TOKENIZER,
    TOKENIZER_CONFIG,
    Imported,
    write_json,
)
from engine.models.pack_weights import pack_weights
from engine.models.progress import Step, stop_if_cancelled
from engine.models.safetensors_file import ITEM_BYTES
from engine.models.weight_files import FILE_DTYPES, write_weights

_TEMPLATE_KEY: Final = "tokenizer.chat_template"


def storage_dtype(weights: Sequence[Weight]) -> str:
    """How weights are stored: "float32", "float16" or "bfloat16".

    A small model is kept in float32, where 4-bit blocks are exact once unpacked; it costs little. A large one keeps
    float16 if it came in it, and is bfloat16 otherwise, which has float32's range.
    """
    if sum(weight.elements for weight in weights) < SMALL_MODEL:
        return "float32"
    largest = max(weights, key=lambda weight: weight.elements)
    return "float16" if largest.tensor.ggml_type is GGMLQuantizationType.F16 else "bfloat16"


def import_gguf(
    source: Path, folder: Path, label: str, handle: RequestHandle, *, weights: str = ""
) -> Generator[Step, None, Imported]:
    """Write the model in a GGUF file into an empty folder, in the layout of transformers.

    Args:
        source: The GGUF file, or any of its parts.
        folder: Where to; it is left half-filled on an error.
        label: The model's name in progress sentences.
        handle: Cancels.
        weights: How they are to be held, one of `engine.formats.WEIGHTS`; "" takes what suits the device.

    Raises:
        BadModelFile, UnsupportedModel: See `open_gguf`, `config_of`, `weights_of` and `build_tokenizer`.
        DiskFull: There is too little room.
        Cancelled: `handle` was cancelled.
        OSError: The disk failed.
    """
    yield Step(LoadStage.IMPORT, 0, 0, f"Reading {label}")
    with open_gguf(source) as file:
        config = config_of(file)
        stored = weights_of(file, config)
        dtype = storage_dtype(stored)
        # The weights as they are, and at most one byte each in packed form.
        numbers = sum(weight.elements for weight in stored)
        need_room(folder, numbers * (ITEM_BYTES[FILE_DTYPES[dtype]] + 1), f"import {label}")
        _check_rows(file, config)
        _write_tokenizer(file, folder, handle)
        _write_configs(file.metadata, config, dtype, folder)
        stop_if_cancelled(handle)
        yield from write_weights([(weight, dtype) for weight in stored], folder, label, handle)
        yield from pack_weights(GgufSource(stored), config, folder, label, handle, weights=weights)
        return Imported(config["model_type"], numbers, file.metadata.text("general.name", ""))


def _check_rows(file: GgufFile, config: Config) -> None:
    """Every token must be a row of the embedding, or the model fails in the middle of an answer."""
    metadata, rows = file.metadata, config["vocab_size"]
    tokens = len(metadata.strings(TOKENS)) if TOKENS in metadata else 0
    if tokens > rows:
        raise BadModelFile(
            f"The tokenizer and the weights in {metadata.file_name} do not belong together; get the file again.",
            f"{tokens} tokens, {rows} rows",
        )


def _write_tokenizer(file: GgufFile, folder: Path, handle: RequestHandle) -> None:
    metadata = file.metadata
    tokenizer = build_tokenizer(metadata, lambda: stop_if_cancelled(handle))
    tokenizer.save(str(folder / TOKENIZER), pretty=False)
    tokens = metadata.strings(TOKENS)
    named = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
    special = {key: tokens[index] for key, which in named.items() if (index := token_id(metadata, which)) is not None}
    write_json(
        folder / TOKENIZER_CONFIG,
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": metadata.integer(f"{metadata.text('general.architecture')}.context_length"),
            "clean_up_tokenization_spaces": False,
            **special,
        },
    )
    if _TEMPLATE_KEY in metadata:
        (folder / TEMPLATE).write_text(metadata.text(_TEMPLATE_KEY), encoding="utf-8", newline="")


def _write_configs(metadata: Metadata, config: Config, dtype: str, folder: Path) -> None:
    ids: dict[str, Any] = {
        "bos_token_id": token_id(metadata, "bos"),
        "eos_token_id": token_id(metadata, "eos"),
        "pad_token_id": token_id(metadata, "padding"),
    }
    write_json(folder / CONFIG, config | ids | {"dtype": dtype})
    ends = end_token_ids((token_id(metadata, which) for which in ("eos", "eot", "eom")), _control_tokens(metadata))
    write_json(folder / GENERATION, ids | {"eos_token_id": ends})


def _control_tokens(metadata: Metadata) -> dict[str, int]:
    tokens, types = metadata.strings(TOKENS), token_types(metadata)
    return {tokens[i]: i for i in (types == CONTROL).nonzero()[0].tolist()}
