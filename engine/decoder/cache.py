"""Keys and values of one sequence in preallocated buffers that grow by doubling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

from engine.errors import BadModelFile, ContextFull

FIRST_CAPACITY: Final = 256


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """The shape of a cache: what two caches must share to be interchangeable.

    Attributes:
        layers, kv_heads, head_dim: Of the model.
        context_limit: Most tokens held.
        dtype: Of keys and values as held.
        device: Where they are.
    """

    layers: int
    kv_heads: int
    head_dim: int
    context_limit: int
    dtype: torch.dtype
    device: torch.device

    @property
    def bytes_per_token(self) -> int:
        """Memory that one token costs, in bytes."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.dtype.itemsize


class Rows(Protocol):
    """Rows [kv_heads, capacity, head_dim] of one layer's keys or values, in some format.

    A format with scales (int8 per head and token) keeps them here too.
    """

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

    def read(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Tokens start to end - 1 in `dtype`; [kv_heads, end - start, head_dim], a view where possible."""
        ...

    def resize(self, capacity: int, keep: int) -> None:
        """Have room for `capacity` tokens, keeping the first `keep`; unchanged if memory runs out."""
        ...

    def export(self, length: int) -> dict[str, Tensor]:
        """The first `length` tokens in the held format, by the name of each part; views where possible."""
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

    def read(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Tokens start to end - 1; [kv_heads, end - start, head_dim], a view if held in `dtype`."""
        return self.data[:, start:end].to(dtype)

    def resize(self, capacity: int, keep: int) -> None:
        """Have room for `capacity` tokens, keeping the first `keep`."""
        grown = self.data.new_empty((self.data.shape[0], capacity, self.data.shape[2]))
        grown[:, :keep].copy_(self.data[:, :keep])
        self.data = grown

    def export(self, length: int) -> dict[str, Tensor]:
        """The first `length` tokens, a view, under the empty name."""
        return {"": self.data[:, :length]}


class KVCache:
    """A `SequenceCache`: keys and values of every layer.

    All layers keep all tokens, also those that see a window only, so cropping is one assignment at any length.
    Tokens become part of the sequence by `advance`; until then what was written past `length` does not count, so
    a pass that stops in the middle leaves the cache as it was.
    """

    @torch.inference_mode(False)  # buffers made inside inference mode could not be written outside of it
    def __init__(self, layout: CacheLayout) -> None:
        self.layout = layout
        self._length = 0
        self.keys = tuple(DenseRows(layout, 0) for _ in range(layout.layers))
        self.values = tuple(DenseRows(layout, 0) for _ in range(layout.layers))

    @property
    def length(self) -> int:
        """Tokens held."""
        return self._length

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, room for tokens to come included."""
        return sum(rows.nbytes for rows in (*self.keys, *self.values))

    @property
    def capacity(self) -> int:
        """Tokens there is room for in every layer."""
        return min((rows.capacity for rows in (*self.keys, *self.values)), default=0)

    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens; always possible."""
        self._length = max(0, min(self._length, length))
        return True

    def reserve(self, count: int) -> None:
        """Make room for `count` more tokens, doubling up to the context limit.

        Raises:
            ContextFull: They would pass the context limit; the cache is unchanged.
        """
        needed = self._length + count
        if needed > self.layout.context_limit:
            raise ContextFull(
                f"The conversation is longer than the {self.layout.context_limit:,} tokens this model can read.",
                f"{self._length} held, {count} more wanted",
            )
        if needed > self.capacity:
            self._resize(min(self.layout.context_limit, max(needed, FIRST_CAPACITY, 2 * self.capacity)))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Put keys and values [kv_heads, n, head_dim] of the next n tokens, for which room was reserved."""
        self.keys[layer].write(self._length, keys)
        self.values[layer].write(self._length, values)

    def read(self, layer: int, start: int, end: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Keys and values of tokens start to end - 1, [kv_heads, end - start, head_dim] each."""
        return self.keys[layer].read(start, end, dtype), self.values[layer].read(start, end, dtype)

    def advance(self, count: int) -> None:
        """Count the next `count` tokens, which every layer has written, as held."""
        self._length += count

    def compact(self) -> None:
        """Give back the room for tokens to come."""
        self._resize(self._length)

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """The first `length` tokens (None: all) as `0.keys` [kv_heads, length, head_dim] and so on; views."""
        count = self._length if length is None else max(0, min(length, self._length))
        return {
            f"{index}.{side}{part}": tensor
            for side, layers in (("keys", self.keys), ("values", self.values))
            for index, rows in enumerate(layers)
            for part, tensor in rows.export(count).items()
        }

    @classmethod
    def restore(cls, layout: CacheLayout, tensors: Mapping[str, Tensor]) -> KVCache:
        """The cache that `export` gave these tensors of.

        Raises:
            BadModelFile: They are not the tensors of one cache of this layout.
        """
        length = _exported_length(layout, tensors)
        cache = cls(layout)
        cache._resize(length)
        for side, layers in (("keys", cache.keys), ("values", cache.values)):
            for index, rows in enumerate(layers):
                rows.write(0, tensors[f"{index}.{side}"])
        cache.advance(length)
        return cache

    @torch.inference_mode(False)
    def _resize(self, capacity: int) -> None:
        # Layer by layer: the peak is one layer more than the result, not twice the cache.
        for rows in (*self.keys, *self.values):
            if rows.capacity != capacity:
                rows.resize(capacity, self._length)


def _exported_length(layout: CacheLayout, tensors: Mapping[str, Tensor]) -> int:
    names = {f"{index}.{side}" for index in range(layout.layers) for side in ("keys", "values")}
    shapes = {(*tensor.shape[:1], *tensor.shape[2:], tensor.dtype) for tensor in tensors.values()}
    lengths = {tensor.shape[1] for tensor in tensors.values() if tensor.dim() == 3}
    fits = set(tensors) == names and shapes == {(layout.kv_heads, layout.head_dim, layout.dtype)}
    if not fits or len(lengths) != 1 or max(lengths) > layout.context_limit:
        raise BadModelFile("A saved conversation cache does not fit this model and is not used.", str(shapes))
    return lengths.pop()
