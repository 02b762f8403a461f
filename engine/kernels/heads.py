"""The two inner loops of attention for a few queries at once, emitted as LLVM instructions.

Keys lie transposed in blocks of 16, so a vector holds one element of 16 keys and scores need no sum across lanes;
values lie row by row, so a vector holds 16 elements of one. Both are float16 and widened once for all queries.
Every sum runs in the same order for any number of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types

from engine.kernels.target import TARGET
from engine.kernels.vector import F16X, F32, F32X, I8, I64, LANES, call, load, operation, pointer, splat

KEYS = 32  # that one call scores
_REGISTERS = 16 if TARGET.lanes == LANES else 4  # vectors of 16 sums that fit beside what is loaded


def in_flight(queries: int) -> int:
    """Vectors of sums for each query: one's latency hides behind the others, as far as registers go."""
    return 2 if 2 * queries <= _REGISTERS else 1


class _Loop:
    """A loop over `count` >= 1 with float vectors carried from turn to turn."""

    def __init__(self, builder: ir.IRBuilder, count: ir.Value, carried: int) -> None:
        self._builder, self._count = builder, count
        entry = builder.block
        self._body = builder.append_basic_block("turn")
        builder.branch(self._body)
        builder.position_at_end(self._body)
        self.index = builder.phi(I64)
        self.index.add_incoming(I64(0), entry)
        self.values = [builder.phi(F32X) for _ in range(carried)]
        for value in self.values:
            value.add_incoming(ir.Constant(F32X, None), entry)

    def close(self, updated: list[ir.Value]) -> None:
        """End a turn with the carried values of the next."""
        builder = self._builder
        following = builder.add(self.index, I64(1))
        self.index.add_incoming(following, builder.block)
        for value, new in zip(self.values, updated, strict=True):
            value.add_incoming(new, builder.block)
        done = builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed("<", following, self._count), self._body, done)
        builder.position_at_end(done)


def _offset(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, stride: ir.Value | int) -> ir.Value:
    stride = I64(stride) if isinstance(stride, int) else stride
    return builder.add(base, builder.mul(index, stride))


def _half(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.fpext(load(builder, address, F16X), F32X)


def _products(
    builder: ir.IRBuilder, loop: _Loop, vectors: Sequence[ir.Value], numbers: ir.Value, stride: ir.Value
) -> list[ir.Value]:
    """The loop's sums plus the vectors times each row's number of this turn."""
    updated: list[ir.Value] = []
    for row in range(len(loop.values) // len(vectors)):
        at = _offset(builder, _offset(builder, numbers, I64(row), stride), loop.index, 4)
        number = splat(builder, load(builder, at, F32, 4))
        for vector in vectors:
            updated.append(call(builder, "llvm.fma.v16f32", F32X, vector, number, loop.values[len(updated)]))
    return updated


def _store_rows(
    builder: ir.IRBuilder, sums: Sequence[ir.Value], vectors: int, out: ir.Value, out_stride: ir.Value
) -> None:
    for index, value in enumerate(sums):
        row = _offset(builder, out, I64(index // vectors), out_stride)
        at = builder.add(row, I64(64 * (index % vectors)))
        builder.store(value, pointer(builder, at, F32X), align=4)


def score_product(queries: int) -> Callable[..., Any]:
    """An operation: `queries` rows times 32 keys.

    Its arguments, all int64: address of the first query (float32), bytes from one to the next, address of two blocks
    of 16 keys, elements of a head, address of the first query's 32 scores, bytes from one query's to the next.
    """

    @operation(types.void, *(types.int64,) * 6)
    def product(
        builder: ir.IRBuilder,
        query: ir.Value,
        query_stride: ir.Value,
        keys: ir.Value,
        head_dim: ir.Value,
        out: ir.Value,
        out_stride: ir.Value,
    ) -> ir.Value:
        """Scores of 32 keys."""
        vectors = in_flight(queries)
        block = builder.mul(head_dim, I64(2 * LANES))
        for first in range(0, KEYS // LANES, vectors):
            begin = builder.add(keys, builder.mul(block, I64(first)))
            loop = _Loop(builder, head_dim, vectors * queries)
            row = _offset(builder, begin, loop.index, 2 * LANES)
            key = [_half(builder, builder.add(row, builder.mul(block, I64(i)))) for i in range(vectors)]
            updated = _products(builder, loop, key, query, query_stride)
            loop.close(updated)
            _store_rows(builder, updated, vectors, builder.add(out, I64(64 * first)), out_stride)
        return ir.Constant(I8.as_pointer(), None)

    return product


def mix_product(queries: int, vectors: int) -> Callable[..., Any]:
    """An operation: the weighted sum of values for `queries` rows, `16 * vectors` elements of the head.

    Its arguments, all int64: address of the first query's weights (float32, one a key), bytes from one query's to the
    next, address of the elements in the first value (float16), bytes from one value to the next, number of keys,
    address of the first query's sums, bytes from one query's to the next.
    """

    @operation(types.void, *(types.int64,) * 7)
    def product(
        builder: ir.IRBuilder,
        weights: ir.Value,
        weight_stride: ir.Value,
        values: ir.Value,
        value_stride: ir.Value,
        count: ir.Value,
        out: ir.Value,
        out_stride: ir.Value,
    ) -> ir.Value:
        """Weighted sums."""
        loop = _Loop(builder, count, vectors * queries)
        row_at = _offset(builder, values, loop.index, value_stride)
        value = [_half(builder, builder.add(row_at, I64(32 * i))) for i in range(vectors)]
        updated = _products(builder, loop, value, weights, weight_stride)
        loop.close(updated)
        _store_rows(builder, updated, vectors, out, out_stride)
        return ir.Constant(I8.as_pointer(), None)

    return product
