"""Token vectors out of a packed matrix."""

from __future__ import annotations

from typing import Any

from engine.kernels.formats import TILE, Kind
from engine.kernels.jit import kernel
from engine.kernels.vector import get_f16, get_i8, get_u8, put_f32

Q4A, Q8 = int(Kind.Q4A), int(Kind.Q8)


@kernel
def _four_bits(block: int, header: int, lane: int, scale: float, offset: float, target: int) -> None:
    """32 weights of one row out of a block of 4-bit codes."""
    for chunk in range(4):
        for j in range(4):
            pair = get_u8(block + header + 64 * chunk + 4 * lane + j)
            put_f32(target + 4 * (4 * chunk + j), scale * (pair & 15) + offset)
            put_f32(target + 4 * (16 + 4 * chunk + j), scale * (pair >> 4) + offset)


@kernel
def embed(matrix: Any, token: int, factor: float, target: int) -> None:
    """Row `token` of the matrix times `factor`, as float32 at `target`."""
    tile, lane = matrix.weights + token // TILE * matrix.tile_bytes, token % TILE
    block_bytes = matrix.tile_bytes // matrix.blocks
    for index in range(matrix.blocks):
        block, out = tile + index * block_bytes, target + 128 * index
        scale = get_f16(block + 2 * lane) * factor
        if matrix.kind == Q8:
            for column in range(32):
                code = get_i8(block + 32 + 64 * (column // 4) + 4 * lane + column % 4)
                put_f32(out + 4 * column, scale * code)
        elif matrix.kind == Q4A:
            _four_bits(block, 64, lane, scale, get_f16(block + 32 + 2 * lane) * factor, out)
        else:
            _four_bits(block, 32, lane, scale, -8 * scale, out)
