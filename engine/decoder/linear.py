"""Weight formats behind two small protocols; the dense one is here, packed ones plug in beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor


class Linear(Protocol):
    """A matrix in some weight format that is multiplied with rows of activations."""

    @property
    def in_features(self) -> int:
        """Length of an input row."""
        ...

    @property
    def out_features(self) -> int:
        """Length of an output row."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...

    def __call__(self, x: Tensor) -> Tensor:
        """Rows [n, in_features] to rows [n, out_features], in the dtype of `x`."""
        ...


class Embedding(Protocol):
    """A table of token vectors in some weight format."""

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes; 0 if it is the head's."""
        ...

    def __call__(self, ids: Tensor) -> Tensor:
        """Ids [n] to vectors [n, hidden_size], in the compute dtype."""
        ...


class LinearFactory(Protocol):
    """Turns matrices of a checkpoint into one Linear."""

    def __call__(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Linear:
        """Stack matrices [out_i, in] as stored (often memory-mapped) by their rows; as many biases [out_i], or none."""
        ...


@dataclass(frozen=True, slots=True)
class DenseLinear:
    """A matrix in a floating-point dtype.

    Attributes:
        weight: [out_features, in_features].
        bias: [out_features] or None.
    """

    weight: Tensor
    bias: Tensor | None = None

    @property
    def in_features(self) -> int:
        """Length of an input row."""
        return self.weight.shape[1]

    @property
    def out_features(self) -> int:
        """Length of an output row."""
        return self.weight.shape[0]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.weight.nbytes + (0 if self.bias is None else self.bias.nbytes)

    def __call__(self, x: Tensor) -> Tensor:
        """Rows [n, in_features] to rows [n, out_features]."""
        return F.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class DenseFactory:
    """Makes DenseLinear; a single matrix that has the dtype and device already is kept as it is, not copied."""

    dtype: torch.dtype
    device: torch.device

    def __call__(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> DenseLinear:
        """Stack matrices by their rows; see LinearFactory."""
        return DenseLinear(self._stack(weights), self._stack(biases) if biases else None)

    def _stack(self, parts: Sequence[Tensor]) -> Tensor:
        if len(parts) == 1:
            return parts[0].to(self.device, self.dtype)
        rows = sum(part.shape[0] for part in parts)
        stacked = torch.empty((rows, *parts[0].shape[1:]), dtype=self.dtype, device=self.device)
        torch.cat([part.to(self.device, self.dtype) for part in parts], out=stacked)
        return stacked


@dataclass(frozen=True, slots=True)
class DenseEmbedding:
    """Token vectors in a floating-point dtype.

    Attributes:
        weight: [vocab_size, hidden_size].
        shared: The head holds the same tensor.
    """

    weight: Tensor
    shared: bool

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes; 0 if it is the head's."""
        return 0 if self.shared else self.weight.nbytes

    def __call__(self, ids: Tensor) -> Tensor:
        """Ids [n] to vectors [n, hidden_size]."""
        return F.embedding(ids, self.weight)
