"""Packed matrix times quantised rows, shared out among the threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.kernels.activations import record_of
from engine.kernels.formats import Kind
from engine.kernels.jit import kernel
from engine.kernels.sync import fetch_add
from engine.kernels.tile import tile_product

Q4A, Q4S = int(Kind.Q4A), int(Kind.Q4S)
SHARES: Final = 8  # parts of a matrix for each thread: few enough to cost nothing, enough to even out
NEAR: Final = 24 * 1024  # bytes of weights that stay in the first-level cache while tokens pass by


def _any_kind(tokens: int) -> Callable[..., Any]:
    """A tile product for any format: `tile_product` with the format in front of its arguments."""
    q4a, q4s, q8 = (tile_product(kind, tokens) for kind in (Kind.Q4A, Kind.Q4S, Kind.Q8))

    @kernel
    def product(kind: int, tile: int, blocks: int, x: int, out: int, out_stride: int) -> None:
        if kind == Q4A:
            q4a(tile, blocks, x, out, out_stride)
        elif kind == Q4S:
            q4s(tile, blocks, x, out, out_stride)
        else:
            q8(tile, blocks, x, out, out_stride)

    return product


_tile_1, _tile_2, _tile_4, _tile_8 = (_any_kind(tokens) for tokens in (1, 2, 4, 8))


@kernel
def batch_size(token: int, left: int) -> int:
    """How many tokens to take together: 8, 4, 2 or 1, as records stand and as many as are left."""
    if token % 4 == 0 and left >= 8:
        return 8
    if token % 4 == 0 and left >= 4:
        return 4
    return 2 if token % 2 == 0 and left >= 2 else 1


@kernel
def batch_product(
    matrix: Any, tile: int, tiles: int, token: int, batch: int, x: int, out: int, out_stride: int
) -> None:
    """Adjacent tiles times tokens token .. token + batch - 1 of `x`, which stay in the nearest cache meanwhile.

    `out` is the address of the first tile's 16 results of the first of these tokens; the next tile's follow.
    """
    kind, blocks = matrix.kind, matrix.blocks
    record = record_of(x, blocks, token, 0)
    for i in range(tiles):
        weights = matrix.weights + (tile + i) * matrix.tile_bytes
        if batch == 8:
            _tile_8(kind, weights, blocks, record, out + 64 * i, out_stride)
        elif batch == 4:
            _tile_4(kind, weights, blocks, record, out + 64 * i, out_stride)
        elif batch == 2:
            _tile_2(kind, weights, blocks, record, out + 64 * i, out_stride)
        else:
            _tile_1(kind, weights, blocks, record, out + 64 * i, out_stride)


@kernel
def _tiles_product(matrix: Any, tile: int, tiles: int, first: int, tokens: int, x: int, out: int) -> None:
    """Adjacent tiles times all tokens."""
    out_stride = matrix.tiles * 64
    done = 0
    while done < tokens:
        batch = batch_size(first + done, tokens - done)
        batch_product(matrix, tile, tiles, first + done, batch, x, out + 64 * tile + done * out_stride, out_stride)
        done += batch


@kernel
def matmul(matrix: Any, first: int, tokens: int, x: int, out: int, counter: int, threads: int) -> None:
    """This thread's share of `out` [tokens, padded rows] = tokens `first` and on of `x` times the matrix."""
    share = max(1, matrix.tiles // (threads * SHARES))
    together = max(1, NEAR // matrix.tile_bytes)
    begin = fetch_add(counter, share)
    while begin < matrix.tiles:
        end = min(begin + share, matrix.tiles)
        for tile in range(begin, end, together):
            _tiles_product(matrix, tile, min(together, end - tile), first, tokens, x, out)
        begin = fetch_add(counter, share)
