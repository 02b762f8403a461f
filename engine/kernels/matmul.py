"""Packed matrix times quantised rows, shared out among the threads."""

from __future__ import annotations

from typing import Any

from engine.kernels.formats import Kind
from engine.kernels.jit import kernel
from engine.kernels.sync import fetch_add
from engine.kernels.tile import tile_product

_q4a_1, _q4a_2, _q4a_4 = (tile_product(Kind.Q4A, tokens) for tokens in (1, 2, 4))
_q4s_1, _q4s_2, _q4s_4 = (tile_product(Kind.Q4S, tokens) for tokens in (1, 2, 4))
_q8_1, _q8_2, _q8_4 = (tile_product(Kind.Q8, tokens) for tokens in (1, 2, 4))
Q4A, Q4S = int(Kind.Q4A), int(Kind.Q4S)


@kernel
def _tile_1(kind: int, tile: int, blocks: int, x: int, x_stride: int, out: int, out_stride: int) -> None:
    if kind == Q4A:
        _q4a_1(tile, blocks, x, x_stride, out, out_stride)
    elif kind == Q4S:
        _q4s_1(tile, blocks, x, x_stride, out, out_stride)
    else:
        _q8_1(tile, blocks, x, x_stride, out, out_stride)


@kernel
def _tile_2(kind: int, tile: int, blocks: int, x: int, x_stride: int, out: int, out_stride: int) -> None:
    if kind == Q4A:
        _q4a_2(tile, blocks, x, x_stride, out, out_stride)
    elif kind == Q4S:
        _q4s_2(tile, blocks, x, x_stride, out, out_stride)
    else:
        _q8_2(tile, blocks, x, x_stride, out, out_stride)


@kernel
def _tile_4(kind: int, tile: int, blocks: int, x: int, x_stride: int, out: int, out_stride: int) -> None:
    if kind == Q4A:
        _q4a_4(tile, blocks, x, x_stride, out, out_stride)
    elif kind == Q4S:
        _q4s_4(tile, blocks, x, x_stride, out, out_stride)
    else:
        _q8_4(tile, blocks, x, x_stride, out, out_stride)


@kernel
def tile_rows(matrix: Any, tile: int, tokens: int, x: int, x_stride: int, out: int, out_stride: int) -> None:
    """16 rows of the matrix times all tokens; `out` is the address of the tile's 16 results of the first token."""
    weights = matrix.weights + tile * matrix.tile_bytes
    kind, blocks = matrix.kind, matrix.blocks
    done = 0
    while tokens - done >= 4:
        _tile_4(kind, weights, blocks, x + done * x_stride, x_stride, out + done * out_stride, out_stride)
        done += 4
    if tokens - done >= 2:
        _tile_2(kind, weights, blocks, x + done * x_stride, x_stride, out + done * out_stride, out_stride)
        done += 2
    if tokens > done:
        _tile_1(kind, weights, blocks, x + done * x_stride, x_stride, out + done * out_stride, out_stride)


@kernel
def matmul(matrix: Any, tokens: int, x: int, x_stride: int, out: int, counter: int, threads: int) -> None:
    """This thread's share of `out` [tokens, padded rows] = rows `x` times the matrix."""
    out_stride = matrix.tiles * 64
    share = max(1, matrix.tiles // (threads * 8))
    first = fetch_add(counter, share)
    while first < matrix.tiles:
        for tile in range(first, min(first + share, matrix.tiles)):
            tile_rows(matrix, tile, tokens, x, x_stride, out + 64 * tile, out_stride)
        first = fetch_add(counter, share)
