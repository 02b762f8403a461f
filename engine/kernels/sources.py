"""Where packed weights come from: a model folder's floats, or a GGUF file's blocks, both by transformers' names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from engine.decoder.checkpoint import Checkpoint
from engine.kernels.formats import Kind, QuantizedMatrix, stack
from engine.kernels.quantize import from_q4_0, from_q4_1, from_q4_k, from_q8_0, quantize, unify
from engine.models.gguf_weights import Weight

Floats = NDArray[np.float32]
Shape = tuple[int, ...]
Repack = Callable[[NDArray[np.uint8], int, int], QuantizedMatrix]

EXACT: Final[Mapping[GGMLQuantizationType, Repack]] = {
    GGMLQuantizationType.Q4_0: from_q4_0,
    GGMLQuantizationType.Q4_1: from_q4_1,
    GGMLQuantizationType.Q4_K: from_q4_k,
    GGMLQuantizationType.Q8_0: from_q8_0,
}
FLOATS: Final = (GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16)
ROWS_AT_ONCE: Final = 4096  # quantised together; bounds the memory beyond the result


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
        return stack([_quantized(self._rows(name, shape), kind) for name, shape in parts])

    def vector(self, name: str, shape: Shape) -> Floats:
        """A stored vector; raises as `matrix` does."""
        values: Floats = self._tensor(name, shape).to(torch.float32).numpy()
        return values

    def _rows(self, name: str, shape: Shape) -> Iterable[Floats]:
        tensor = self._tensor(name, shape)
        for start in range(0, shape[0], ROWS_AT_ONCE):
            yield tensor[start : start + ROWS_AT_ONCE].to(torch.float32).numpy()

    def _tensor(self, name: str, shape: Shape) -> torch.Tensor:
        return self._checkpoint.head(shape) if name == "lm_head.weight" else self._checkpoint.decoder(name, shape)


class GgufSource:
    """The weights of an open GGUF file."""

    def __init__(self, weights: Iterable[Weight]) -> None:
        self._weights = {weight.name.removeprefix("model."): weight for weight in weights}

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        """Repack blocks as they are where a format of ours holds them; others go through floats.

        Formats of 5 and 6 bits become 8 bits, plain floats become `kind`.

        Raises:
            BadModelFile: A weight is no number.
        """
        return stack(unify([_repacked(self._weights[name], kind) for name, _ in parts]))

    def vector(self, name: str, shape: Shape) -> Floats:
        """A vector of the file."""
        return np.concatenate(list(self._weights[name].chunks())).reshape(shape)


def _repacked(weight: Weight, kind: Kind) -> QuantizedMatrix:
    rows, columns = weight.shape
    repack = EXACT.get(weight.tensor.ggml_type)
    if repack:
        return repack(weight.blocks(0, rows), rows, columns)
    return _quantized(_unpacked(weight), kind if weight.tensor.ggml_type in FLOATS else Kind.Q8)


def _unpacked(weight: Weight) -> Iterable[Floats]:
    for start in range(0, weight.shape[0], ROWS_AT_ONCE):
        blocks = weight.blocks(start, min(start + ROWS_AT_ONCE, weight.shape[0]))
        yield np.asarray(dequantize(blocks, weight.tensor.ggml_type))


def _quantized(rows: Iterable[Floats], kind: Kind) -> QuantizedMatrix:
    return stack([quantize(kind, part) for part in rows])
