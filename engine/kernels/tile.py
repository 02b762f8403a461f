"""The inner loop of every matrix product: one tile of 16 weight rows times a few tokens, emitted as LLVM instructions.

Activations are two int8 halves with a scale per block of 32, so a block is two dot products in integers, exact on
every processor, and then two float multiply-adds: scale times activation scale times the integer, and offset times the
activation sum.
The floats are added block by block in the same order for any number of tokens, so a token's result does not depend
on how many are computed together: prefill and decode give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from llvmlite import ir
from numba import types

from engine.kernels.activations import GROUP, HALF_BITS, LOW, RECORD, SCALE, SUM, WEIGHTED
from engine.kernels.formats import BLOCK_BYTES, HEADER_BYTES, TILE, Kind
from engine.kernels.target import TARGET, Target
from engine.kernels.vector import F16, F32, I8, I16, I32, I64, call, load, operation, pointer, splat

CHUNK: Final = 4 * TILE  # bytes of codes in which every row has four


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The vector types for one pass over `count` of the 16 rows."""

    count: int

    @property
    def bytes(self) -> ir.VectorType:
        return ir.VectorType(I8, 4 * self.count)

    @property
    def shorts(self) -> ir.VectorType:
        return ir.VectorType(I16, 2 * self.count)

    @property
    def ints(self) -> ir.VectorType:
        return ir.VectorType(I32, self.count)

    @property
    def floats(self) -> ir.VectorType:
        return ir.VectorType(F32, self.count)

    @property
    def halves(self) -> ir.VectorType:
        return ir.VectorType(F16, self.count)


Dot = Callable[[ir.IRBuilder, _Lanes, Sequence[ir.Value], Sequence[ir.Value], ir.Value], ir.Value]


def _dot_vnni(
    builder: ir.IRBuilder, lanes: _Lanes, weights: Sequence[ir.Value], tokens: Sequence[ir.Value], start: ir.Value
) -> ir.Value:
    """Unsigned times signed bytes, four at a time, in one instruction."""
    name = f"llvm.x86.avx512.vpdpbusd.{32 * lanes.count}"
    for weight, token in zip(weights, tokens, strict=True):
        start = call(builder, name, lanes.ints, start, weight, token)
    return start


def _dot_avx2_unsigned(
    builder: ir.IRBuilder, lanes: _Lanes, weights: Sequence[ir.Value], tokens: Sequence[ir.Value], start: ir.Value
) -> ir.Value:
    """Codes up to 15: eight products of pairs fit 16 bits (8 * 2 * 15 * 127 = 30,480), so one widening ends them."""
    pairs: ir.Value | None = None
    for weight, token in zip(weights, tokens, strict=True):
        products = call(builder, "llvm.x86.avx2.pmadd.ub.sw", lanes.shorts, weight, token)
        pairs = products if pairs is None else builder.add(pairs, products)
    return builder.add(start, _widen(builder, lanes, pairs))


def _dot_avx2_signed(
    builder: ir.IRBuilder, lanes: _Lanes, weights: Sequence[ir.Value], tokens: Sequence[ir.Value], start: ir.Value
) -> ir.Value:
    """Signed codes: |w| * sign(x, w) makes one side unsigned; a pair (2 * 128 * 127) just fits 16 bits."""
    for weight, token in zip(weights, tokens, strict=True):
        size = call(builder, f"llvm.abs.v{4 * lanes.count}i8", lanes.bytes, weight, ir.Constant(ir.IntType(1), 0))
        signed = call(builder, "llvm.x86.avx2.psign.b", lanes.bytes, token, weight)
        products = call(builder, "llvm.x86.avx2.pmadd.ub.sw", lanes.shorts, size, signed)
        start = builder.add(start, _widen(builder, lanes, products))
    return start


def _widen(builder: ir.IRBuilder, lanes: _Lanes, pairs: ir.Value) -> ir.Value:
    ones = splat(builder, ir.Constant(I16, 1), 2 * lanes.count)
    return call(builder, "llvm.x86.avx2.pmadd.wd", lanes.ints, pairs, ones)


def _dot_generic(
    builder: ir.IRBuilder, lanes: _Lanes, weights: Sequence[ir.Value], tokens: Sequence[ir.Value], start: ir.Value
) -> ir.Value:
    """In words LLVM knows as `sdot` on ARM: extend, multiply, add neighbours. Codes up to 15 are signed bytes too."""
    wide = ir.VectorType(I32, 4 * lanes.count)
    name = f"llvm.vector.partial.reduce.add.v{lanes.count}i32.v{4 * lanes.count}i32"
    for weight, token in zip(weights, tokens, strict=True):
        products = builder.mul(builder.sext(weight, wide), builder.sext(token, wide))
        start = call(builder, name, lanes.ints, start, products)
    return start


def _dot(target: Target, kind: Kind) -> Dot:
    if not target.x86:
        return _dot_generic
    if target.vnni:
        return _dot_vnni
    return _dot_avx2_signed if kind is Kind.Q8 else _dot_avx2_unsigned


@dataclass(frozen=True, slots=True)
class Tile:
    """Emits one tile product for a format and a number of tokens."""

    target: Target
    kind: Kind
    tokens: int

    @property
    def flipped(self) -> bool:
        """Whether signed codes are made unsigned by adding 128, which the start value takes back."""
        return self.kind is Kind.Q8 and self.target.vnni

    @property
    def zero_code(self) -> int:
        """What is taken off every code."""
        return {Kind.Q4A: 0, Kind.Q4S: 8, Kind.Q8: 128 if self.flipped else 0}[self.kind]

    def emit(
        self,
        builder: ir.IRBuilder,
        weights: ir.Value,
        blocks: ir.Value,
        x: ir.Value,
        out: ir.Value,
        out_stride: ir.Value,
    ) -> None:
        """All 16 rows, in as many passes as the registers are narrower."""
        lanes = _Lanes(self.target.lanes)
        for first in range(0, TILE, lanes.count):
            sums = self._pass(builder, lanes, first, weights, blocks, x)
            for token, value in enumerate(sums):
                row = builder.add(out, builder.mul(I64(token), out_stride))
                builder.store(value, pointer(builder, builder.add(row, I64(4 * first)), lanes.floats), align=4)

    def _pass(
        self, builder: ir.IRBuilder, lanes: _Lanes, first: int, weights: ir.Value, blocks: ir.Value, x: ir.Value
    ) -> list[ir.Value]:
        """The loop over blocks for rows `first` and on; one float vector a token."""
        entry = builder.block
        loop, done = builder.append_basic_block("blocks"), builder.append_basic_block("done")
        end = builder.add(weights, builder.mul(blocks, I64(BLOCK_BYTES[self.kind])))
        next_group = builder.mul(blocks, I64(GROUP * RECORD))
        builder.branch(loop)
        builder.position_at_end(loop)
        here, records = builder.phi(I64), builder.phi(I64)
        totals = [builder.phi(lanes.floats) for _ in range(self.tokens)]
        for value, start in ((here, weights), (records, x)):
            value.add_incoming(start, entry)
        for value in totals:
            value.add_incoming(ir.Constant(lanes.floats, None), entry)
        sums = self._block(builder, lanes, first, here, self._records(builder, records, next_group), totals)
        following = builder.add(here, I64(BLOCK_BYTES[self.kind]))
        here.add_incoming(following, builder.block)
        records.add_incoming(builder.add(records, I64(GROUP * RECORD)), builder.block)
        for value, updated in zip(totals, sums, strict=True):
            value.add_incoming(updated, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, end), loop, done)
        builder.position_at_end(done)
        return sums

    def _records(self, builder: ir.IRBuilder, first: ir.Value, next_group: ir.Value) -> list[ir.Value]:
        """Addresses of the tokens' records of one block."""
        groups = [first]
        while len(groups) * GROUP < self.tokens:
            groups.append(builder.add(groups[-1], next_group))
        return [builder.add(groups[token // GROUP], I64(token % GROUP * RECORD)) for token in range(self.tokens)]

    def _block(
        self,
        builder: ir.IRBuilder,
        lanes: _Lanes,
        first: int,
        here: ir.Value,
        records: Sequence[ir.Value],
        totals: Sequence[ir.Value],
    ) -> list[ir.Value]:
        """One block of 32 columns for every token."""
        scale = self._header(builder, lanes, here, 2 * first)
        offset = self._header(builder, lanes, here, 32 + 2 * first) if self.kind is Kind.Q4A else None
        codes = self._codes(builder, lanes, builder.add(here, I64(HEADER_BYTES[self.kind] + 4 * first)))
        dot = _dot(self.target, self.kind)
        sums = []
        for record, before in zip(records, totals, strict=True):
            high, low = (self._columns(builder, lanes, record, at) for at in (0, LOW))
            upper = dot(builder, lanes, codes, high, ir.Constant(lanes.ints, None))
            lower = dot(builder, lanes, codes, low, self._start(builder, lanes, record))
            shift = splat(builder, I32(HALF_BITS), lanes.count)
            integer = builder.sitofp(builder.add(builder.shl(upper, shift), lower), lanes.floats)
            factor = builder.fmul(scale, self._number(builder, lanes, record, SCALE))
            total = self._fma(builder, lanes, integer, factor, before)
            if offset is not None:
                total = self._fma(builder, lanes, offset, self._number(builder, lanes, record, WEIGHTED), total)
            sums.append(total)
        return sums

    def _columns(self, builder: ir.IRBuilder, lanes: _Lanes, record: ir.Value, at: int) -> list[ir.Value]:
        """One half of the 32 activations, four at a time."""
        return [self._four(builder, lanes, builder.add(record, I64(at + 4 * i))) for i in range(8)]

    def _start(self, builder: ir.IRBuilder, lanes: _Lanes, record: ir.Value) -> ir.Value:
        """Zero, or what takes the code of weight zero off: minus it times the activations' integer sum."""
        if not self.zero_code:
            return ir.Constant(lanes.ints, None)
        total = load(builder, builder.add(record, I64(SUM)), I32, 4)
        return splat(builder, builder.mul(total, I32(-self.zero_code)), lanes.count)

    def _number(self, builder: ir.IRBuilder, lanes: _Lanes, record: ir.Value, at: int) -> ir.Value:
        return splat(builder, load(builder, builder.add(record, I64(at)), F32, 4), lanes.count)

    def _header(self, builder: ir.IRBuilder, lanes: _Lanes, here: ir.Value, at: int) -> ir.Value:
        return builder.fpext(load(builder, builder.add(here, I64(at)), lanes.halves), lanes.floats)

    def _codes(self, builder: ir.IRBuilder, lanes: _Lanes, codes: ir.Value) -> list[ir.Value]:
        """Eight vectors of bytes, four columns each, in column order."""
        chunks = [
            load(builder, builder.add(codes, I64(CHUNK * i)), lanes.bytes)
            for i in range(8 if self.kind is Kind.Q8 else 4)
        ]
        if self.kind is Kind.Q8:
            flip = splat(builder, I8(-128), 4 * lanes.count)
            return [builder.xor(chunk, flip) for chunk in chunks] if self.flipped else chunks
        mask = splat(builder, I8(15), 4 * lanes.count)
        four = splat(builder, I8(4), 4 * lanes.count)
        return [builder.and_(c, mask) for c in chunks] + [builder.lshr(c, four) for c in chunks]

    def _four(self, builder: ir.IRBuilder, lanes: _Lanes, address: ir.Value) -> ir.Value:
        """Four activations, the same for every row."""
        return builder.bitcast(splat(builder, load(builder, address, I32, 4), lanes.count), lanes.bytes)

    def _fma(self, builder: ir.IRBuilder, lanes: _Lanes, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        return call(builder, f"llvm.fma.v{lanes.count}f32", lanes.floats, a, b, c)


def tile_product(kind: Kind, tokens: int) -> Callable[..., Any]:
    """An operation for Numba functions: 16 rows of weights times `tokens` rows of activations.

    Its arguments, all int64: address of the tile, number of blocks, address of the first token's first record (see
    activations.py; the tokens must stand in one group, or be whole groups), address of the first token's 16 results
    (float32), bytes from one to the next.
    """

    @operation(types.void, *(types.int64,) * 5)
    def product(builder: ir.IRBuilder, *args: ir.Value) -> ir.Value:
        """One tile times a few tokens."""
        Tile(TARGET, kind, tokens).emit(builder, *args)
        return ir.Constant(I8.as_pointer(), None)

    return product
