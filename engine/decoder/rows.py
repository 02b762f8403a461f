"""The formats that keys and values of one layer are held in: floating point, or int8 with a scale a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

# Behind the tokens of each exported part: its dtype, and whether a token has a whole row of head_dim numbers or one.
Parts = Mapping[str, tuple[torch.dtype, bool]]
_INT8_PARTS: Final[Parts] = {"": (torch.int8, True), ".scale": (torch.float32, False)}
_LARGEST: Final = 127  # symmetric: -128 is never used
_SMALLEST_SCALE: Final = 1e-30  # of a row of zeros


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """The shape of a cache: what two caches must share to be interchangeable.

    Attributes:
        layers, kv_heads, head_dim: Of the model.
        context_limit: Most tokens held.
        dtype: Of keys and values as held; int8 has a float32 scale per head and token beside it.
        device: Where they are.
    """

    layers: int
    kv_heads: int
    head_dim: int
    context_limit: int
    dtype: torch.dtype
    device: torch.device

    @property
    def parts(self) -> Parts:
        """What the rows of one layer's keys or values are held in, by the end of its name."""
        return _INT8_PARTS if self.dtype == torch.int8 else {"": (self.dtype, True)}

    @property
    def bytes_per_token(self) -> int:
        """Memory that one token costs, in bytes."""
        row = sum(dtype.itemsize * (self.head_dim if whole else 1) for dtype, whole in self.parts.values())
        return 2 * self.layers * self.kv_heads * row

    def part_shape(self, whole: bool, tokens: int) -> tuple[int, ...]:
        """Of one part for so many tokens: [kv_heads, tokens, head_dim], or [kv_heads, tokens]."""
        return (self.kv_heads, tokens, self.head_dim) if whole else (self.kv_heads, tokens)


class Rows(Protocol):
    """Rows [kv_heads, capacity, head_dim] of one layer's keys or values, in some format."""

    @property
    def capacity(self) -> int:
        """Tokens there is room for."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows [kv_heads, n, head_dim] at tokens start to start + n - 1."""
        ...

    def write_at(self, position: Tensor, row: Tensor) -> None:
        """Put a row [kv_heads, 1, head_dim] at the token that an int64 tensor [1] on the device names."""
        ...

    def read(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Tokens start to end - 1 in `dtype`; [kv_heads, end - start, head_dim], a view where possible."""
        ...

    def resize(self, capacity: int, keep: int) -> None:
        """Have room for `capacity` tokens, keeping the first `keep`; unchanged if memory runs out."""
        ...

    def blank(self, start: int) -> None:
        """Make all tokens from `start` on zeros."""
        ...

    def export(self, length: int) -> dict[str, Tensor]:
        """The first `length` tokens in the held format, by `CacheLayout.parts`; views where possible."""
        ...

    def fill(self, parts: Mapping[str, Tensor]) -> None:
        """Put what `export` gave at the first tokens, for which there is room."""
        ...


class DenseRows:
    """Rows in a floating-point dtype."""

    def __init__(self, layout: CacheLayout, capacity: int) -> None:
        shape = (layout.kv_heads, capacity, layout.head_dim)
        self.data = torch.empty(shape, dtype=layout.dtype, device=layout.device)

    @property
    def capacity(self) -> int:
        """Tokens there is room for."""
        return self.data.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.data.nbytes

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows [kv_heads, n, head_dim] at tokens start to start + n - 1."""
        self.data[:, start : start + rows.shape[1]].copy_(rows)

    def write_at(self, position: Tensor, row: Tensor) -> None:
        """Put a row [kv_heads, 1, head_dim] at the token that an int64 tensor [1] names."""
        self.data.index_copy_(1, position, row.to(self.data.dtype))

    def read(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Tokens start to end - 1; [kv_heads, end - start, head_dim], a view if held in `dtype`."""
        return self.data[:, start:end].to(dtype)

    def resize(self, capacity: int, keep: int) -> None:
        """Have room for `capacity` tokens, keeping the first `keep`."""
        self.data = _resized(self.data, capacity, keep)

    def blank(self, start: int) -> None:
        """Make all tokens from `start` on zeros."""
        self.data[:, start:].zero_()

    def export(self, length: int) -> dict[str, Tensor]:
        """The first `length` tokens, a view, under the empty name."""
        return {"": self.data[:, :length]}

    def fill(self, parts: Mapping[str, Tensor]) -> None:
        """Put what `export` gave at the first tokens."""
        self.write(0, parts[""])


class Int8Rows:
    """Rows in int8, each with the float32 scale that maps its largest absolute value to 127."""

    def __init__(self, layout: CacheLayout, capacity: int) -> None:
        self.codes = torch.empty((layout.kv_heads, capacity, layout.head_dim), dtype=torch.int8, device=layout.device)
        self.scales = torch.empty((layout.kv_heads, capacity), dtype=torch.float32, device=layout.device)

    @property
    def capacity(self) -> int:
        """Tokens there is room for."""
        return self.codes.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, scales included."""
        return self.codes.nbytes + self.scales.nbytes

    def write(self, start: int, rows: Tensor) -> None:
        """Put rows [kv_heads, n, head_dim] at tokens start to start + n - 1, each rounded by its own scale."""
        codes, scales = _rounded(rows)
        end = start + rows.shape[1]
        self.codes[:, start:end].copy_(codes)
        self.scales[:, start:end].copy_(scales)

    def write_at(self, position: Tensor, row: Tensor) -> None:
        """Put a row [kv_heads, 1, head_dim] at the token that an int64 tensor [1] names."""
        codes, scales = _rounded(row)
        self.codes.index_copy_(1, position, codes)
        self.scales.index_copy_(1, position, scales)

    def read(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Tokens start to end - 1, multiplied out; [kv_heads, end - start, head_dim]."""
        return (self.codes[:, start:end] * self.scales[:, start:end, None]).to(dtype)

    def resize(self, capacity: int, keep: int) -> None:
        """Have room for `capacity` tokens, keeping the first `keep`."""
        # Both before either is put in place: memory may run out between them.
        codes, scales = _resized(self.codes, capacity, keep), _resized(self.scales, capacity, keep)
        self.codes, self.scales = codes, scales

    def blank(self, start: int) -> None:
        """Make all tokens from `start` on zeros."""
        self.codes[:, start:].zero_()
        self.scales[:, start:].zero_()

    def export(self, length: int) -> dict[str, Tensor]:
        """The first `length` tokens as int8 [kv_heads, length, head_dim] and scales [kv_heads, length]; views."""
        return {"": self.codes[:, :length], ".scale": self.scales[:, :length]}

    def fill(self, parts: Mapping[str, Tensor]) -> None:
        """Put what `export` gave at the first tokens, without rounding again."""
        length = parts[""].shape[1]
        self.codes[:, :length].copy_(parts[""])
        self.scales[:, :length].copy_(parts[".scale"])


def make_rows(layout: CacheLayout) -> Rows:
    """Empty rows in the layout's format."""
    return Int8Rows(layout, 0) if layout.dtype == torch.int8 else DenseRows(layout, 0)


def _rounded(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Codes [..., n, head_dim] int8 and scales [..., n] float32 of rows, in two passes over them."""
    exact = rows.float()
    scales = torch.linalg.vector_norm(exact, ord=float("inf"), dim=-1).div_(_LARGEST)
    codes = exact.div(scales.clamp_min(_SMALLEST_SCALE)[..., None]).round_()
    return codes.to(torch.int8), scales


def _resized(data: Tensor, capacity: int, keep: int) -> Tensor:
    """A copy [n, capacity, ...] of [n, tokens, ...] with the first `keep` tokens."""
    grown = data.new_empty((data.shape[0], capacity, *data.shape[2:]))
    grown[:, :keep].copy_(data[:, :keep])
    return grown
