"""Weight formats behind two small protocols; the dense one is here, packed ones plug in beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_HAS_ONEDNN: Final = torch._C._has_mkldnn and hasattr(torch.ops.mkldnn, "_linear_pointwise")
_FEW_ROWS, _ROW_STEP, _MANY_ROWS = 8, 32, 128


def uses_onednn(x: Tensor) -> bool:
    """Whether `multiply` leaves rows like these to oneDNN."""
    return _HAS_ONEDNN and x.dtype == torch.float32 and x.device.type == "cpu"


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows [n, in] times a matrix [out, in], plus a bias [out]; rows [n, out].

    In float32 on a CPU torch itself takes MKL, which uses half of what an AMD CPU can do and one thread for a single
    row. Measured on a Zen 5, two threads, 3072x576: 128 rows 5.3 ms, by oneDNN 2.0; one row 0.41 ms, by oneDNN 0.15.
    But oneDNN compiles every shape that it meets and keeps some 0.6 MB for each, so it gets few numbers of rows: those
    left over after a multiple of 128 are filled up with zeros.
    """
    if not uses_onednn(x):
        return F.linear(x, weight, bias)
    count = x.shape[0]
    rest = count % _MANY_ROWS
    if count == 1 or rest == 0:
        return _by_onednn(x, weight, bias)
    step = _FEW_ROWS if rest <= _FEW_ROWS else _ROW_STEP
    last = _by_onednn(F.pad(x[count - rest :], (0, 0, 0, -rest % step)), weight, bias)[:rest]
    return last if rest == count else torch.cat((_by_onednn(x[: count - rest], weight, bias), last))


def _by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


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
        return multiply(x, self.weight, self.bias)


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
