"""Imports a GGUF model into Loquat's own model folder, a few rows at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt
from gguf.constants import GGMLQuantizationType

from engine.chat import RequestHandle
from engine.events import LoadStage
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
    WEIGHTS,
    WEIGHTS_INDEX,
    Imported,
    write_json,
)
from engine.models.pack_weights import pack_weights
from engine.models.progress import Step, stop_if_cancelled
from engine.models.safetensors_file import TensorEntry, write_header

SHARD_BYTES: Final = 4_000_000_000
_SMALL_MODEL: Final = 1_000_000_000
_HF_NAME: Final = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
_TEMPLATE_KEY: Final = "tokenizer.chat_template"


def storage_dtype(weights: Sequence[Weight]) -> str:
    """How weights are stored: "float32", "float16" or "bfloat16".

    A small model is kept in float32, where 4-bit blocks are exact once unpacked; it costs little. A large one keeps
    float16 if it came in it, and is bfloat16 otherwise, which has float32's range.
    """
    if sum(weight.elements for weight in weights) < _SMALL_MODEL:
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
        entries = [TensorEntry(weight.name, _HF_NAME[dtype], weight.shape) for weight in stored]
        # The weights as they are, and at most one byte each in packed form.
        need_room(folder, sum(entry.nbytes + entry.elements for entry in entries), f"import {label}")
        _write_tokenizer(file, folder)
        _write_configs(file.metadata, config, dtype, folder)
        stop_if_cancelled(handle)
        report = _Report(label, sum(weight.tensor.blocks.nbytes for weight in stored), handle)
        yield from _write_weights(stored, entries, folder, report)
        yield from pack_weights(GgufSource(stored), config, folder, label, handle, weights=weights)
        parameters = sum(weight.elements for weight in stored)
        return Imported(config["model_type"], parameters, file.metadata.text("general.name", ""))


class _Report:
    """Counts the packed bytes that are done with."""

    def __init__(self, label: str, total: int, handle: RequestHandle) -> None:
        self.label = label
        self.total = total
        self.handle = handle
        self.done = 0

    def step(self, nbytes: int) -> Step:
        """Count, and look at the cancel flag."""
        stop_if_cancelled(self.handle)
        self.done = min(self.total, self.done + nbytes)
        return Step(
            LoadStage.IMPORT, self.done, self.total, f"Importing {self.label}: {100 * self.done // self.total} %"
        )


def _write_weights(
    weights: Sequence[Weight], entries: Sequence[TensorEntry], folder: Path, report: _Report
) -> Generator[Step, None, None]:
    shards = _shards(entries)
    places: dict[str, str] = {}
    queue = iter(weights)
    for number, shard in zip(count(1), shards, strict=False):
        name = WEIGHTS if len(shards) == 1 else f"model-{number:05}-of-{len(shards):05}.safetensors"
        places |= dict.fromkeys((entry.name for entry in shard), name)
        with (folder / name).open("wb") as file:
            write_header(file, shard)
            for entry in shard:
                yield from _write_weight(next(queue), entry.dtype, file, report)
    if len(shards) > 1:
        total = sum(entry.nbytes for entry in entries)
        write_json(folder / WEIGHTS_INDEX, {"metadata": {"total_size": total}, "weight_map": places})


def _shards(entries: Sequence[TensorEntry]) -> list[list[TensorEntry]]:
    """The tensors in order, cut into files of at most SHARD_BYTES (a single larger tensor has its own)."""
    shards: list[list[TensorEntry]] = [[]]
    room = SHARD_BYTES
    for entry in entries:
        if entry.nbytes > room and shards[-1]:
            shards.append([])
            room = SHARD_BYTES
        shards[-1].append(entry)
        room -= entry.nbytes
    return shards


def _write_weight(weight: Weight, dtype: str, file: BinaryIO, report: _Report) -> Generator[Step, None, None]:
    for values in weight.chunks():
        file.write(_packed(values, dtype))
        yield report.step(weight.tensor.blocks.nbytes * values.size // weight.elements)


def _packed(values: npt.NDArray[np.float32], dtype: str) -> memoryview:
    """float32 numbers in the bytes of another type."""
    if dtype == "BF16":
        return _bfloat16(values).data.cast("B")
    return np.ascontiguousarray(values, np.float16 if dtype == "F16" else np.float32).data.cast("B")


def _bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The upper half of each float32, rounded to nearest, ties to even; not a number stays so."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) >> 16
    return np.where(np.isnan(values), (bits >> 16) | 0x40, rounded).astype(np.uint16)


def _write_tokenizer(file: GgufFile, folder: Path) -> None:
    metadata = file.metadata
    build_tokenizer(metadata).save(str(folder / TOKENIZER), pretty=False)
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
