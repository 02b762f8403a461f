"""Where packed weights come from: a model folder's floats, or a GGUF file's blocks, both by transformers' names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from engine.decoder.checkpoint import Checkpoint
from engine.errors import BadModelFile
from engine.kernels.formats import TILE, Kind, QuantizedMatrix, gather, stack
from engine.kernels.quantize import from_q4_0, from_q4_1, from_q4_k, from_q8_0, quantize, unify
from engine.models.gguf_weights import Weight

Floats = NDArray[np.float32]
Shape = tuple[int, ...]
Repack = Callable[[NDArray[np.uint8], int, int], QuantizedMatrix]

EXACT: Final[Mapping[GGMLQuantizationType, tuple[Kind, Repack]]] = {
    GGMLQuantizationType.Q4_0: (Kind.Q4S, from_q4_0),
    GGMLQuantizationType.Q4_1: (Kind.Q4A, from_q4_1),
    GGMLQuantizationType.Q4_K: (Kind.Q4A, from_q4_k),
    GGMLQuantizationType.Q8_0: (Kind.Q8, from_q8_0),
}
FLOATS: Final = (GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16)
AT_ONCE: Final = 1 << 20  # numbers quantised together: few enough for the caches, and for the memory beyond the result


class Source(Protocol):
    """Weights by the names they have in transformers, without the prefix that differs between architectures."""

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        """Matrices of these names and shapes, stacked by their rows; floats are quantised to `kind`."""
        ...

    def vector(self, name: str, shape: Shape) -> Floats:
        """A vector, as float32."""
        ...


class FolderSource:
    """A model folder in the Hugging Face layout."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        """Quantise stored matrices, a few rows at a time.

        Raises:
            BadModelFile: One is missing, of another shape, or holds what is no number.
        """
        return stack([_quantized(self._rows(name, shape), kind, shape) for name, shape in parts])

    def vector(self, name: str, shape: Shape) -> Floats:
        """A stored vector; raises as `matrix` does."""
        values: Floats = self._tensor(name, shape).to(torch.float32).numpy()
        if not np.isfinite(values).all():
            raise BadModelFile("This model has weights that are not numbers; download it again.", name)
        return values

    def _rows(self, name: str, shape: Shape) -> Iterable[Floats]:
        tensor = self._tensor(name, shape)
        for start, stop in _spans(shape):
            yield tensor[start:stop].to(torch.float32).numpy()

    def _tensor(self, name: str, shape: Shape) -> torch.Tensor:
        return self._checkpoint.head(shape) if name == "lm_head.weight" else self._checkpoint.decoder(name, shape)


class GgufSource:
    """The weights of an open GGUF file."""

    def __init__(self, weights: Iterable[Weight]) -> None:
        self._weights = {weight.name.removeprefix("model."): weight for weight in weights}

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        """Repack blocks as they are where a format of ours holds them; others go through floats.

        Plain floats become `kind`, other packed formats 8 bits, those of 2 and 3 bits too: quantised to 4 bits again
        they lose as much again (SmolLM2 in IQ4_NL: mean NLL 3.56 in 8 bits, 3.74 in 4; in 3 bits 4.23 and 4.44).

        Raises:
            BadModelFile: A weight is no number.
        """
        return stack(unify([_repacked(self._weights[name], kind) for name, _ in parts]))

    def vector(self, name: str, shape: Shape) -> Floats:
        """A vector of the file."""
        return np.concatenate(list(self._weights[name].chunks())).reshape(shape)


def _repacked(weight: Weight, kind: Kind) -> QuantizedMatrix:
    if weight.tensor.ggml_type not in EXACT:
        return _quantized(_unpacked(weight), kind if weight.tensor.ggml_type in FLOATS else Kind.Q8, weight.shape)
    rows, columns = weight.shape
    held, repack = EXACT[weight.tensor.ggml_type]
    parts = (repack(blocks, len(blocks), columns) for blocks in _blocks(weight))
    return gather(held, rows, columns, parts)


def _blocks(weight: Weight) -> Iterator[NDArray[np.uint8]]:
    for start, stop in _spans(weight.shape):
        yield weight.blocks(start, stop)
        weight.tensor.forget()


def _unpacked(weight: Weight) -> Iterator[Floats]:
    return (np.asarray(dequantize(blocks, weight.tensor.ggml_type)) for blocks in _blocks(weight))


def _quantized(rows: Iterable[Floats], kind: Kind, shape: Shape) -> QuantizedMatrix:
    return gather(kind, shape[0], shape[1], (quantize(kind, part) for part in rows))


def _spans(shape: Shape) -> Iterator[tuple[int, int]]:
    """Rows from and to, in whole tiles, of as many numbers as are handled at once."""
    step = max(1, AT_ONCE // shape[1] // TILE) * TILE
    return ((start, min(start + step, shape[0])) for start in range(0, shape[0], step))
