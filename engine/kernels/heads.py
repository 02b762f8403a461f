"""The two inner loops of attention for a few queries at once, emitted as LLVM instructions.

Keys lie transposed in blocks of 16, so a vector holds one element of 16 keys and scores need no sum across lanes;
values lie row by row, so a vector holds 16 elements of one. Both are float16 and widened once for all queries.
Every sum runs in the same order for any number of queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from engine.kernels.vector import F16X, F32, F32X, I8, I64, call, load, operation, pointer, splat

PAIR = 2  # vectors a query has in flight, so that one's latency hides behind the other


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
        loop = _Loop(builder, head_dim, PAIR * queries)
        block = builder.mul(head_dim, I64(32))
        key = [
            _half(builder, _offset(builder, _offset(builder, keys, I64(i), block), loop.index, 32)) for i in range(PAIR)
        ]
        updated = []
        for row in range(queries):
            at = _offset(builder, _offset(builder, query, I64(row), query_stride), loop.index, 4)
            value = splat(builder, load(builder, at, F32, 4))
            for i in range(PAIR):
                updated.append(call(builder, "llvm.fma.v16f32", F32X, key[i], value, loop.values[PAIR * row + i]))
        loop.close(updated)
        for row in range(queries):
            for i in range(PAIR):
                at = builder.add(_offset(builder, out, I64(row), out_stride), I64(64 * i))
                builder.store(updated[PAIR * row + i], pointer(builder, at, F32X), align=4)
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
        updated = []
        for row in range(queries):
            at = _offset(builder, _offset(builder, weights, I64(row), weight_stride), loop.index, 4)
            weight = splat(builder, load(builder, at, F32, 4))
            for i in range(vectors):
                updated.append(call(builder, "llvm.fma.v16f32", F32X, value[i], weight, loop.values[vectors * row + i]))
        loop.close(updated)
        for row in range(queries):
            for i in range(vectors):
                at = builder.add(_offset(builder, out, I64(row), out_stride), I64(64 * i))
                builder.store(updated[vectors * row + i], pointer(builder, at, F32X), align=4)
        return ir.Constant(I8.as_pointer(), None)

    return product
