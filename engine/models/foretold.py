"""What a model will take, foretold from its config.json and the name of its file alone, before anything is downloaded.

The tensors follow from the architecture; how many bits each is held in follows from the format of the file: what
`engine.kernels.sources` repacks as it is keeps its bits, floats become 4 or 8, everything else becomes 8. llama.cpp's
mixed formats give more bits to some layers (its `llama_tensor_get_type`). Torch-free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final

from engine.errors import BadModelFile
from engine.formats import MOST_LAYERS
from engine.models.safetensors_file import TensorEntry
from engine.models.shape import ModelShape, shape_of

FLOATS: Final = ("F32", "F16", "BF16")
# Bits of a number as the CPU kernels hold what a file has in these formats; a scale for every 32 numbers included.
_HELD: Final[Mapping[str, float]] = {"Q4_0": 4.5, "Q4_1": 5, "Q4_K": 5}
_FROM_FLOATS: Final[Mapping[str, float]] = {"int4": 5, "int8": 8.5}
_EIGHT: Final = 8.5
_FLOAT: Final = 32  # norms and biases
# Bits of a number in a file.
_STORED: Final[Mapping[str, float]] = {
    **{"F32": 32, "F16": 16, "BF16": 16, "Q8_0": 8.5, "Q6_K": 6.5625, "Q5_K": 5.5, "Q5_0": 5.5, "Q5_1": 6},
    **{"Q4_K": 4.5, "Q4_0": 4.5, "Q4_1": 5, "Q3_K": 3.4375, "Q2_K": 2.625, "IQ4_NL": 4.5},
}
_BLOCK: Final = 256  # numbers of a row that a K format takes together; rows that it does not divide get another format
_INSTEAD: Final[Mapping[str, str]] = {
    **{"Q2_K": "IQ4_NL", "Q3_K": "IQ4_NL", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"},
}
_FILE_TYPE: Final = re.compile(r"(?<![A-Z0-9])(BF16|F16|F32|I?Q\d_(?:K(?:_[SML])?|NL|\d))(?![A-Z0-9])")
_GEMMA: Final = ("gemma2", "gemma3_text")
_QK_NORM: Final = ("qwen3", "gemma3_text")
_TILE: Final = 16  # rows, and
_COLUMNS: Final = 32  # columns that packed matrices are padded to


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A matrix of the checkpoint.

    Attributes:
        role: "embedding", "head", "qkv", "v", "output", "gate_up" or "down".
        layer: Its number; -1 outside the layers.
        rows, columns: Its size.
    """

    role: str
    layer: int
    rows: int
    columns: int


def file_type(name: str) -> str:
    """The format that a GGUF file's name tells of, "Q4_K_M" for example; "" if it tells of none."""
    found = _FILE_TYPE.findall(name.upper())
    return str(found[-1]) if found else ""


def foretold_shape(config: Mapping[str, Any], stored: str, weights: str = "int4") -> ModelShape:
    """The sizes of a model.

    Args:
        config: Its config.json, or the values of it that sizes follow from.
        stored: The format of its file as `file_type` has it, or a dtype of floats.
        weights: What floats become when it is imported: "int4" or "int8".

    Raises:
        BadModelFile: The sizes make no sense.
    """
    outer = config.get("text_config")
    inner = {**outer, "model_type": f"{config.get('model_type')}_text"} if isinstance(outer, dict) else config
    try:
        shape = shape_of(inner, list(_entries(inner)), {})
        sizes = {weights: _packed_bytes(inner, stored, weights)}
        return replace(shape, packed_bytes=sizes, unread_bytes={weights: _unread_bytes(inner, stored, weights)})
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise BadModelFile("The sizes in the model's config.json make no sense.", repr(error)) from error


def foretold_file(config: Mapping[str, Any], stored: str) -> int:
    """Bytes of the weights in a file of a format; the tokenizer comes on top."""
    matrices = sum(_STORED[_stored_type(m, config, stored)] * m.rows * m.columns for m in _matrices(config))
    return int(matrices + _FLOAT * _vector_numbers(config)) // 8


def _entries(config: Mapping[str, Any]) -> Iterator[TensorEntry]:
    for matrix in _matrices(config):
        name = {"embedding": "embed_tokens.weight", "head": "lm_head.weight"}.get(matrix.role, matrix.role)
        yield TensorEntry(name, "BF16", (matrix.rows, matrix.columns))
    yield TensorEntry("vectors", "BF16", (_vector_numbers(config),))


def _matrices(config: Mapping[str, Any]) -> Iterator[_Matrix]:
    hidden, inner, words = (int(config[key]) for key in ("hidden_size", "intermediate_size", "vocab_size"))
    heads, kv_heads, head = _heads(config)
    yield _Matrix("embedding", -1, words, hidden)
    if not config["tie_word_embeddings"]:
        yield _Matrix("head", -1, words, hidden)
    layers = int(config["num_hidden_layers"])
    if layers > MOST_LAYERS:
        raise ValueError(f"{layers} layers")
    for layer in range(layers):
        if config["model_type"] == "phi3":
            yield _Matrix("qkv", layer, (heads + 2 * kv_heads) * head, hidden)
        else:
            yield _Matrix("qk", layer, (heads + kv_heads) * head, hidden)
            yield _Matrix("v", layer, kv_heads * head, hidden)
        yield _Matrix("output", layer, hidden, heads * head)
        yield _Matrix("gate_up", layer, 2 * inner, hidden)
        yield _Matrix("down", layer, hidden, inner)


def _heads(config: Mapping[str, Any]) -> tuple[int, int, int]:
    heads = int(config["num_attention_heads"])
    head = int(config.get("head_dim") or int(config["hidden_size"]) // heads)
    return heads, int(config.get("num_key_value_heads") or heads), head


def _vector_numbers(config: Mapping[str, Any]) -> int:
    """Numbers in norms and biases."""
    kind, hidden = config["model_type"], int(config["hidden_size"])
    heads, kv_heads, head = _heads(config)
    layer = hidden * (4 if kind in _GEMMA else 2)
    layer += 2 * head if kind in _QK_NORM else 0
    layer += (heads + 2 * kv_heads) * head if kind == "qwen2" else 0
    return hidden + int(config["num_hidden_layers"]) * layer


def _packed_bytes(config: Mapping[str, Any], stored: str, weights: str) -> int:
    """Bytes of the weights as the CPU kernels hold them."""
    held = {(m.role, m.layer): _held_bits(m, config, stored, weights) for m in _matrices(config)}
    bits = 0.0
    for matrix in _matrices(config):
        each = held[matrix.role, matrix.layer]
        if matrix.role in ("qk", "v"):  # stacked into one matrix, in the wider of their formats
            each = max(held["qk", matrix.layer], held["v", matrix.layer])
        rows, columns = (unit * ceil(n / unit) for n, unit in ((matrix.rows, _TILE), (matrix.columns, _COLUMNS)))
        bits += each * rows * columns
    return int(bits + _FLOAT * _vector_numbers(config)) // 8


def _unread_bytes(config: Mapping[str, Any], stored: str, weights: str) -> int:
    """Bytes of the embedding where the head is another matrix."""
    if config["tie_word_embeddings"]:
        return 0
    matrix = next(_matrices(config))
    return int(_held_bits(matrix, config, stored, weights) * matrix.rows * matrix.columns) // 8


def _held_bits(matrix: _Matrix, config: Mapping[str, Any], stored: str, weights: str) -> float:
    kind = _stored_type(matrix, config, stored)
    if kind in FLOATS:
        return _FROM_FLOATS[weights] if matrix.layer >= 0 else _EIGHT
    return _HELD.get(kind, _EIGHT)


def _stored_type(matrix: _Matrix, config: Mapping[str, Any], stored: str) -> str:
    """The format of one matrix in a file of a format."""
    base = re.sub(r"_[SML]$", "", stored)
    kind = base
    if "_K" in base or base in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        kind = _mixed_type(matrix, config, stored, base)
    if kind.endswith("_K") and matrix.columns % _BLOCK:
        return _INSTEAD[kind]
    return kind


def _mixed_type(matrix: _Matrix, config: Mapping[str, Any], stored: str, base: str) -> str:
    tied, layers = bool(config["tie_word_embeddings"]), int(config["num_hidden_layers"])
    if matrix.role == "head" or (matrix.role == "embedding" and tied):
        return "Q6_K"
    if stored == "Q4_K_M" and matrix.role == "qkv":
        return "Q5_K"
    if stored in ("Q4_K_M", "Q5_K_M") and matrix.role in ("v", "down") and _gets_more(matrix.layer, layers):
        return "Q6_K"
    first = {"v": 4, "down": layers // 8}.get(matrix.role, 0)
    if stored == "Q4_K_S" and matrix.layer < first:
        return "Q5_K"
    return base


def _gets_more(layer: int, layers: int) -> bool:
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
