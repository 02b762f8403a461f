"""Packed weights on disk: one safetensors file, written once at import and memory-mapped from then on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from engine.decoder.config import DecoderConfig
from engine.errors import BadModelFile
from engine.kernels.formats import Kind, QuantizedMatrix
from engine.kernels.weights import NORMS, KernelLayer, KernelWeights, PackedLinear
from engine.models.safetensors_file import TensorEntry, write_header

FORMAT: Final = "loquat-packed-1"
LINEARS: Final = ("qkv", "output", "gate_up", "down")
_DTYPES: Final = {"uint8": "U8", "float32": "F32"}

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, int, int]]


def packed_path(folder: Path, name: str) -> Path:
    """Where a model folder holds its weights in a packed format, "int4" for example."""
    return folder / f"packed-{name}.safetensors"


def save_packed(weights: KernelWeights, path: Path) -> None:
    """Write packed weights beside their place, then put them there in one step.

    Raises:
        OSError: The disk refused; nothing is left behind.
    """
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            _write(file, weights)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load_packed(path: Path, config: DecoderConfig) -> KernelWeights:
    """Packed weights of a model, memory-mapped.

    Raises:
        BadModelFile: The file is damaged, or of another model or version.
    """
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise ValueError(f"format {about.get('format')}")
            arrays = {name: file.get_tensor(name).numpy() for name in file.offset_keys()}
        return _assemble(arrays, json.loads(about["matrices"]), config)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BadModelFile(f"The packed weights in {path.parent.name} cannot be used.", repr(error)) from error


def _write(file: BinaryIO, weights: KernelWeights) -> None:
    arrays = dict(_arrays(weights))
    shapes = {name: (m.kind.name, m.rows, m.columns) for name, m in _matrices(weights)}
    entries = [TensorEntry(name, _DTYPES[array.dtype.name], array.shape) for name, array in arrays.items()]
    write_header(file, entries, {"format": FORMAT, "matrices": json.dumps(shapes)})
    for array in arrays.values():
        file.write(np.ascontiguousarray(array).data)


def _matrices(weights: KernelWeights) -> Iterator[tuple[str, QuantizedMatrix]]:
    for index, layer in enumerate(weights.layers):
        yield from ((f"layers.{index}.{name}", getattr(layer, name).matrix) for name in LINEARS)
    yield "head", weights.head.matrix
    if weights.embedding is not weights.head.matrix:
        yield "embedding", weights.embedding


def _arrays(weights: KernelWeights) -> Iterator[tuple[str, Array]]:
    """Matrices first: their sizes keep each other aligned for vector loads."""
    yield from ((name, matrix.data) for name, matrix in _matrices(weights))
    yield "norm", weights.norm
    if weights.head.bias is not None:
        yield "head.bias", weights.head.bias
    for index, layer in enumerate(weights.layers):
        vectors = {name: getattr(layer, name) for name in NORMS}
        vectors |= {f"{name}.bias": getattr(layer, name).bias for name in LINEARS}
        yield from ((f"layers.{index}.{name}", array) for name, array in vectors.items() if array is not None)


def _assemble(arrays: Mapping[str, Array], shapes: Shapes, config: DecoderConfig) -> KernelWeights:
    def matrix(name: str) -> QuantizedMatrix:
        kind, rows, columns = shapes[name]
        return QuantizedMatrix(Kind[str(kind)], rows, columns, arrays[name])

    def linear(name: str, rows: int, columns: int) -> PackedLinear:
        made = PackedLinear(matrix(name), arrays.get(f"{name}.bias"))
        if (made.matrix.rows, made.matrix.columns) != (rows, columns):
            raise ValueError(f"{name} is {made.matrix.rows} x {made.matrix.columns}, not {rows} x {columns}")
        return made

    def layer(index: int) -> KernelLayer:
        prefix, hidden, inner = f"layers.{index}.", config.hidden_size, config.intermediate_size
        attended = config.heads * config.head_dim
        return KernelLayer(
            qkv=linear(f"{prefix}qkv", sum(config.qkv_sizes), hidden),
            output=linear(f"{prefix}output", hidden, attended),
            gate_up=linear(f"{prefix}gate_up", 2 * inner, hidden),
            down=linear(f"{prefix}down", hidden, inner),
            attention_norm=arrays[f"{prefix}attention_norm"],
            mlp_norm=arrays[f"{prefix}mlp_norm"],
            **{name: arrays.get(prefix + name) for name in NORMS[2:]},
        )

    head = linear("head", config.vocab_size, config.hidden_size)
    embedding = matrix("embedding") if "embedding" in shapes else head.matrix
    layers = tuple(layer(index) for index in range(len(config.layers)))
    return KernelWeights(layers, arrays["norm"], head, embedding)
