"""Packed weights on disk: one safetensors file, written as they are made, and memory-mapped from then on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
_LAYER_ROOM: Final = 4096  # of the header, for the thirteen tensors of a layer, and as much for what is no layer
_DTYPES: Final = {"uint8": "U8", "float32": "F32"}

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, int, int]]


def packed_path(folder: Path, name: str) -> Path:
    """Where a model folder holds its weights in a packed format, "int4" for example."""
    return folder / f"packed-{name}.safetensors"


class PackedWriter:
    """Packed weights on their way to the disk: matrices as they come, so that they need never be in memory together.

    Args:
        file: Empty.
        layers: How many will come; room for the header is left for as many.
    """

    def __init__(self, file: BinaryIO, layers: int) -> None:
        self._file = file
        self._room = (layers + 1) * _LAYER_ROOM
        self._entries: list[TensorEntry] = []
        self._shapes: dict[str, tuple[str, int, int]] = {}
        self._vectors: dict[str, Array] = {}
        file.seek(self._room)

    def ends(self, embedding: QuantizedMatrix, head: PackedLinear, norm: Array) -> None:
        """What comes before and after the layers."""
        self._linear("head", head)
        if embedding is not head.matrix:
            self._matrix("embedding", embedding)
        self._vectors["norm"] = norm

    def layer(self, index: int, layer: KernelLayer) -> None:
        """One layer."""
        for name in LINEARS:
            self._linear(f"layers.{index}.{name}", getattr(layer, name))
        vectors = {f"layers.{index}.{name}": getattr(layer, name) for name in NORMS}
        self._vectors |= {name: vector for name, vector in vectors.items() if vector is not None}

    def finish(self) -> None:
        """What is small comes last, as matrices keep each other aligned for vector loads; then the header."""
        for name, vector in self._vectors.items():
            self._write(name, vector)
        self._file.seek(0)
        about = {"format": FORMAT, "matrices": json.dumps(self._shapes)}
        write_header(self._file, self._entries, about, self._room)

    def _linear(self, name: str, linear: PackedLinear) -> None:
        self._matrix(name, linear.matrix)
        if linear.bias is not None:
            self._vectors[f"{name}.bias"] = linear.bias

    def _matrix(self, name: str, matrix: QuantizedMatrix) -> None:
        self._shapes[name] = (matrix.kind.name, matrix.rows, matrix.columns)
        self._write(name, matrix.data)

    def _write(self, name: str, array: Array) -> None:
        self._entries.append(TensorEntry(name, _DTYPES[array.dtype.name], array.shape))
        self._file.write(np.ascontiguousarray(array).data)


@contextmanager
def packed_writer(path: Path, layers: int) -> Iterator[PackedWriter]:
    """Write packed weights beside their place, and put them there in one step when the block has ended.

    Raises:
        OSError: The disk refused; nothing is left behind.
    """
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            writer = PackedWriter(file, layers)
            yield writer
            writer.finish()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def save_packed(weights: KernelWeights, path: Path) -> None:
    """Write packed weights that are in memory; see `packed_writer`."""
    with packed_writer(path, len(weights.layers)) as writer:
        writer.ends(weights.embedding, weights.head, weights.norm)
        for index, layer in enumerate(weights.layers):
            writer.layer(index, layer)


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


def _assemble(arrays: Mapping[str, Array], shapes: Shapes, config: DecoderConfig) -> KernelWeights:
    """Every size is checked: the kernels trust it, and would read foreign memory."""
    hidden, inner, attended = config.hidden_size, config.intermediate_size, config.heads * config.head_dim

    def matrix(name: str, rows: int, columns: int) -> QuantizedMatrix:
        kind, *found = shapes[name]
        if found != [rows, columns]:
            raise ValueError(f"{name} is {found}, not {rows} x {columns}")
        return QuantizedMatrix(Kind[str(kind)], rows, columns, arrays[name])

    def vector(name: str, *shape: int) -> Array:
        found = arrays[name]
        if found.dtype != np.float32 or found.shape != shape:
            raise ValueError(f"{name} is {found.dtype} {found.shape}, not float32 {shape}")
        return found

    def linear(name: str, rows: int, columns: int, bias: bool = False) -> PackedLinear:
        held = matrix(name, rows, columns)
        return PackedLinear(held, vector(f"{name}.bias", held.padded_rows) if bias else None)

    def layer(index: int) -> KernelLayer:
        prefix = f"layers.{index}."
        return KernelLayer(
            qkv=linear(f"{prefix}qkv", sum(config.qkv_sizes), hidden, config.qkv_bias),
            output=linear(f"{prefix}output", hidden, attended, config.output_bias),
            gate_up=linear(f"{prefix}gate_up", 2 * inner, hidden, config.mlp_bias),
            down=linear(f"{prefix}down", hidden, inner, config.mlp_bias),
            attention_norm=vector(f"{prefix}attention_norm", hidden),
            mlp_norm=vector(f"{prefix}mlp_norm", hidden),
            attention_post_norm=vector(f"{prefix}attention_post_norm", hidden) if config.post_norms else None,
            mlp_post_norm=vector(f"{prefix}mlp_post_norm", hidden) if config.post_norms else None,
            qk_norm=vector(f"{prefix}qk_norm", heads, config.head_dim) if config.qk_norm else None,
        )

    heads = config.heads + config.kv_heads
    head = linear("head", config.vocab_size, hidden)
    embedding = matrix("embedding", config.vocab_size, hidden) if "embedding" in shapes else head.matrix
    layers = tuple(layer(index) for index in range(len(config.layers)))
    return KernelWeights(layers, vector("norm", hidden), head, embedding)
