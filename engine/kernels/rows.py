"""What is done to one token's row of numbers between the matrix products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32

from engine.kernels.activations import HALF_BITS, LARGEST_HIGH, LOW, SCALE, SUM, WEIGHTED, record_of
from engine.kernels.jit import kernel
from engine.kernels.mathematics import gelu_tanh, silu
from engine.kernels.plan import GELU_TANH
from engine.kernels.vector import (
    fill,
    fma,
    get_f32,
    int_total,
    largest,
    load_f32,
    put_f32,
    put_i32,
    store_f32,
    store_i8,
    to_int,
    total,
    vabs,
    vmax,
    vround,
)

SMALLEST = 1e-30
HALF = float(1 << HALF_BITS)


@kernel
def quantize_block(a: Any, b: Any, record: int) -> None:
    """32 activations to two-byte codes with their own scale, into a record (see activations.py)."""
    top = largest(vmax(vabs(a), vabs(b)))
    inverse = float32(0.0)
    if top > float32(SMALLEST):
        inverse = float32(LARGEST_HIGH) / top
    codes = _halves(a * fill(inverse), record) + _halves(b * fill(inverse), record + 16)
    scale = top / float32(LARGEST_HIGH * HALF)
    put_f32(record + SCALE, scale)
    put_f32(record + WEIGHTED, scale * float32(codes))
    put_i32(record + SUM, codes)


@kernel
def _halves(scaled: Any, high_at: int) -> int:
    """Both bytes of 16 numbers within -127..127; the sum of their codes."""
    high = vround(scaled)
    low = vround(fma(high, fill(-HALF), scaled * fill(HALF)))
    first, second = to_int(high), to_int(low)
    store_i8(high_at, first)
    store_i8(high_at + LOW, second)
    return int_total(first) * np.int32(HALF) + int_total(second)


@kernel
def quantize_row(source: int, columns: int, activations: int, token: int) -> None:
    """A float32 row to a token's records."""
    blocks = columns // 32
    for block in range(blocks):
        at = source + 128 * block
        quantize_block(load_f32(at), load_f32(at + 64), record_of(activations, blocks, token, block))


@kernel
def inverse_rms(source: int, count: int, eps: float) -> Any:
    """1 / sqrt(mean square + eps) of a float32 row whose length is a multiple of 16."""
    squares = fill(0.0)
    for i in range(count // 16):
        value = load_f32(source + 64 * i)
        squares = fma(value, value, squares)
    return float32(1.0 / math.sqrt(total(squares) / float32(count) + eps))


@kernel
def normalize(source: int, weight: int, target: int, count: int, eps: float) -> None:
    """RMS norm (Zhang and Sennrich 2019) of a float32 row; may work in place."""
    factor = fill(inverse_rms(source, count, eps))
    for i in range(count // 16):
        store_f32(target + 64 * i, load_f32(source + 64 * i) * factor * load_f32(weight + 64 * i))


@kernel
def add_bias(row: int, bias: int, count: int) -> None:
    """Add a float32 bias to a row, if there is one."""
    if bias != 0:
        for i in range(count // 16):
            store_f32(row + 64 * i, load_f32(row + 64 * i) + load_f32(bias + 64 * i))


@kernel
def add_scaled(row: int, added: int, count: int, scale: float) -> None:
    """Add `scale * added` to a row."""
    factor = fill(scale)
    for i in range(count // 16):
        store_f32(row + 64 * i, fma(load_f32(added + 64 * i), factor, load_f32(row + 64 * i)))


@kernel
def rotate(source: int, cosines: int, sines: int, target: int, head_dim: int, half: int) -> None:
    """Rotary embedding of one head, not in place: x * cos + swap_halves(x) * sin, the sign being in the sine."""
    if half % 16 == 0:
        for i in range(half // 16):
            low, high = load_f32(source + 64 * i), load_f32(source + 4 * half + 64 * i)
            at = 64 * i
            store_f32(target + at, fma(high, load_f32(sines + at), low * load_f32(cosines + at)))
            at += 4 * half
            store_f32(target + at, fma(low, load_f32(sines + at), high * load_f32(cosines + at)))
    else:
        for i in range(half):
            low, high = get_f32(source + 4 * i), get_f32(source + 4 * (half + i))
            at = 4 * i
            put_f32(target + at, low * get_f32(cosines + at) + high * get_f32(sines + at))
            at = 4 * (half + i)
            put_f32(target + at, high * get_f32(cosines + at) + low * get_f32(sines + at))
    for i in range(2 * half, head_dim):
        put_f32(target + 4 * i, get_f32(source + 4 * i))


@kernel
def gated_block(gate: int, up: int, record: int, activation: int) -> None:
    """activation(gate) * up of one block of 32, quantised into a record."""
    a, b = load_f32(gate), load_f32(gate + 64)
    if activation == GELU_TANH:
        a, b = gelu_tanh(a), gelu_tanh(b)
    else:
        a, b = silu(a), silu(b)
    quantize_block(a * load_f32(up), b * load_f32(up + 64), record)
