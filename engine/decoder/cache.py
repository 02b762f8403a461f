"""Keys and values of one sequence in preallocated buffers that grow by doubling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import torch
from torch import Tensor

from engine.decoder.rows import CacheLayout, Rows, make_rows
from engine.errors import BadModelFile, ContextFull

FIRST_CAPACITY: Final = 256


class KVCache:
    """A `SequenceCache`: keys and values of every layer.

    All layers keep all tokens, also those that see a window only, so cropping is one assignment at any length.
    Tokens become part of the sequence by `advance`; until then what was written past `length` does not count, so
    a pass that stops in the middle leaves the cache as it was.

    Attributes:
        layout: Shape and format.
        keys, values: By layer.
        buffers: Stands for the addresses of all rows: another object whenever one of them may have moved.
    """

    @torch.inference_mode(False)  # buffers made inside inference mode could not be written outside of it
    def __init__(self, layout: CacheLayout) -> None:
        self.layout = layout
        self._length = 0
        self.keys = tuple(make_rows(layout) for _ in range(layout.layers))
        self.values = tuple(make_rows(layout) for _ in range(layout.layers))
        self.buffers = object()

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
                f"The chat is longer than the {self.layout.context_limit:,} tokens this model can read.",
                f"{self._length} held, {count} more wanted",
            )
        if needed > self.capacity:
            self._resize(min(self.layout.context_limit, max(needed, FIRST_CAPACITY, 2 * self.capacity)))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Put keys and values [kv_heads, n, head_dim] of the next n tokens, for which room was reserved."""
        self.keys[layer].write(self._length, keys)
        self.values[layer].write(self._length, values)

    def write_at(self, layer: int, position: Tensor, keys: Tensor, values: Tensor) -> None:
        """The same for one token, [kv_heads, 1, head_dim], at the place that an int64 tensor [1] names."""
        self.keys[layer].write_at(position, keys)
        self.values[layer].write_at(position, values)

    def blank_spare(self) -> None:
        """Make the room for tokens to come zeros: finite, where somebody multiplies it by nothing."""
        for rows in (*self.keys, *self.values):
            rows.blank(self._length)

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
        """The first `length` tokens (None: all) as `0.keys` [kv_heads, length, head_dim] and so on; views.

        In int8 also `0.keys.scale` [kv_heads, length] and so on.
        """
        count = self._length if length is None else max(0, min(length, self._length))
        return {f"{name}{part}": tensor for name, rows in self._named() for part, tensor in rows.export(count).items()}

    @classmethod
    def restore(cls, layout: CacheLayout, tensors: Mapping[str, Tensor]) -> KVCache:
        """The cache that `export` gave these tensors of.

        Raises:
            BadModelFile: They are not the tensors of one cache of this layout.
        """
        length = _exported_length(layout, tensors)
        cache = cls(layout)
        cache._resize(length)
        for name, rows in cache._named():
            rows.fill({part: tensors[f"{name}{part}"] for part in layout.parts})
        cache.advance(length)
        return cache

    def _named(self) -> Iterator[tuple[str, Rows]]:
        for index, (keys, values) in enumerate(zip(self.keys, self.values, strict=True)):
            yield f"{index}.keys", keys
            yield f"{index}.values", values

    @torch.inference_mode(False)
    def _resize(self, capacity: int) -> None:
        self.buffers = object()
        # Layer by layer: the peak is one layer more than the result, not twice the cache.
        for rows in (*self.keys, *self.values):
            if rows.capacity != capacity:
                rows.resize(capacity, self._length)


def _exported_length(layout: CacheLayout, tensors: Mapping[str, Tensor]) -> int:
    length = next((tensor.shape[1] for tensor in tensors.values() if tensor.dim() > 1), -1)
    expected = {
        f"{index}.{side}{part}": (dtype, layout.part_shape(whole, length))
        for index in range(layout.layers)
        for side in ("keys", "values")
        for part, (dtype, whole) in layout.parts.items()
    }
    found = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in tensors.items()}
    if found != expected or not 0 <= length <= layout.context_limit:
        shapes = str(sorted(map(str, set(found.values()))))
        raise BadModelFile("A saved chat cache does not fit this model and is not used.", shapes)
    return length
