"""Keys and values of one sequence in the layout that the kernels read, float16, growing by doubling."""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import BadModelFile, ContextFull
from engine.kernels.formats import padded
from engine.kernels.plan import SPAN

Halves = NDArray[np.float16]
_PRETENDED = 0.01
KEYS = 16  # keys that lie side by side, element by element


@dataclass(frozen=True, slots=True)
class CacheShape:
    """What two caches must share to be interchangeable."""

    layers: int
    kv_heads: int
    head_dim: int
    context_limit: int

    @property
    def bytes_per_token(self) -> int:
        """Memory that one token costs, in bytes."""
        return 4 * self.layers * self.kv_heads * self.head_dim


class KernelCache:
    """A `SequenceCache`.

    Per layer it holds keys [kv_heads, capacity / 16, head_dim, 16] and values [kv_heads, capacity, head_dim]. Tokens
    become part of the sequence by `advance`; what was written past `length` does not count. All layers keep all tokens,
    also those that see a window only, so cropping is one assignment.
    """

    def __init__(self, shape: CacheShape) -> None:
        self.shape = shape
        self.length = 0
        self.capacity = 0
        self.keys: list[Halves] = [self._empty_keys(0) for _ in range(shape.layers)]
        self.values: list[Halves] = [self._empty_values(0) for _ in range(shape.layers)]
        # Where each layer's keys and values lie, int64 [2, layers]; asking the arrays each time would take 60 us.
        self.addresses = np.zeros((2, shape.layers), np.int64)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, room for tokens to come included."""
        return sum(part.nbytes for part in (*self.keys, *self.values))

    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens; always possible."""
        self.length = max(0, min(self.length, length))
        return True

    def advance(self, count: int) -> None:
        """Count the next `count` tokens, which every layer has written, as held."""
        self.length += count

    def pretend(self, count: int) -> None:
        """Hold `count` more tokens that nobody computed, for measuring; raises as `reserve` does."""
        self.reserve(count)
        for part in (*self.keys, *self.values):
            part.fill(_PRETENDED)  # pages that were never written are all one page, which no memory is read for
        self.advance(count)

    def reserve(self, count: int) -> None:
        """Make room for `count` more tokens, doubling up to the context limit.

        Raises:
            ContextFull: They would pass the context limit; the cache is unchanged.
        """
        needed = self.length + count
        if needed > self.shape.context_limit:
            raise ContextFull(
                f"The chat has become longer than the {self.shape.context_limit:,} tokens this model can read.",
                f"{self.length} held, {count} more wanted",
            )
        if needed > self.capacity:
            self._resize(min(padded(self.shape.context_limit, SPAN), padded(max(needed, 2 * self.capacity), SPAN)))

    def compact(self) -> None:
        """Give back the room for tokens to come."""
        if self.capacity > padded(self.length, SPAN):
            self._resize(padded(self.length, SPAN))

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """The first `length` tokens as `0.keys`, `0.values` and so on, float16 [kv_heads, length, head_dim]."""
        count = self.length if length is None else max(0, min(length, self.length))
        parts = {}
        for index, (keys, values) in enumerate(zip(self.keys, self.values, strict=True)):
            rows = keys[:, : padded(count, KEYS) // KEYS].transpose(0, 1, 3, 2)
            flat = rows.reshape(self.shape.kv_heads, -1, self.shape.head_dim)
            parts[f"{index}.keys"] = torch.from_numpy(flat[:, :count])
            parts[f"{index}.values"] = torch.from_numpy(values[:, :count])
        return parts

    @classmethod
    def restore(cls, shape: CacheShape, tensors: Mapping[str, Tensor]) -> KernelCache:
        """The cache that `export` gave these tensors of; they are copied.

        Raises:
            BadModelFile: They are not the tensors of one cache of this shape.
        """
        length = _exported_length(shape, tensors)
        cache = cls(shape)
        cache._resize(padded(length, SPAN))
        for index in range(shape.layers):
            cache._write(index, tensors[f"{index}.keys"].numpy(), tensors[f"{index}.values"].numpy())
        cache.length = length
        return cache

    def _write(self, index: int, keys: Halves, values: Halves) -> None:
        """Whole keys and values [kv_heads, length, head_dim] of a layer."""
        length = keys.shape[1]
        full = np.zeros((self.shape.kv_heads, padded(length, KEYS), self.shape.head_dim), np.float16)
        full[:, :length] = keys
        blocks = full.reshape(self.shape.kv_heads, -1, KEYS, self.shape.head_dim)
        self.keys[index][:, : blocks.shape[1]] = blocks.transpose(0, 1, 3, 2)
        self.values[index][:, :length] = values

    def _resize(self, capacity: int) -> None:
        """Layer by layer: the peak is one layer more than the result, not twice the cache."""
        held = padded(self.length, KEYS)
        for index in range(self.shape.layers):
            keys, values = self._empty_keys(capacity), self._empty_values(capacity)
            keys[:, : held // KEYS] = self.keys[index][:, : held // KEYS]
            values[:, : self.length] = self.values[index][:, : self.length]
            self.keys[index], self.values[index] = keys, values
            self.addresses[:, index] = keys.ctypes.data, values.ctypes.data
        self.capacity = capacity

    # Zeros, because the kernels compute with what lies past the last key before they discard it: it must be finite.
    def _empty_keys(self, capacity: int) -> Halves:
        return _zeros(self.shape.kv_heads, capacity // KEYS, self.shape.head_dim, KEYS)

    def _empty_values(self, capacity: int) -> Halves:
        return _zeros(self.shape.kv_heads, capacity, self.shape.head_dim)


def _zeros(*shape: int) -> Halves:
    """Zeros on pages of their own.

    They go back to the system the moment they are dropped. What malloc freed it kept: caches that came and went in a
    budget of 75 MiB left 107 MiB resident.

    Raises:
        MemoryError: There are none left.
    """
    nbytes = math.prod(shape) * np.dtype(np.float16).itemsize
    if nbytes == 0:
        return np.zeros(shape, np.float16)
    try:
        pages = _pages(nbytes)
    except OSError as error:  # which is how the system refuses memory that is asked for in this way
        raise MemoryError(f"{nbytes} bytes for a cache: {error}") from error
    return np.frombuffer(pages, np.float16).reshape(shape)


def _pages(nbytes: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, nbytes)
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _exported_length(shape: CacheShape, tensors: Mapping[str, Tensor]) -> int:
    names = {f"{index}.{side}" for index in range(shape.layers) for side in ("keys", "values")}
    shapes = {(tensor.dtype, *tensor.shape) for tensor in tensors.values()}
    found = next(iter(shapes), (torch.float16, shape.kv_heads, -1, shape.head_dim))
    length = int(found[2]) if len(found) == 4 else -1
    expected = {(torch.float16, shape.kv_heads, length, shape.head_dim)}
    if set(tensors) != names or shapes != expected or not 0 <= length <= shape.context_limit:
        raise BadModelFile("A saved chat cache does not fit this model and is not used.", str(shapes))
    return length
