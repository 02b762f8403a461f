"""How a weight matrix lies in memory for the kernels.

Rows are taken 16 at a time (a tile), columns 32 at a time (a block). One block of a tile is one run of bytes:

    scales   16 float16, one a row
    offsets  16 float16, one a row (only in Q4A)
    codes    4 bits: 4 chunks of 64 bytes; byte (chunk c, row r, j) holds column 4c+j in its low half
                     and column 16+4c+j in its high half
             8 bits: 8 chunks of 64 bytes; byte (chunk c, row r, j) holds column 4c+j

so one vector load brings four columns of 16 rows, the matching four activations are one broadcast, and every lane
sums its own row: nothing is ever added across lanes. A matrix is read front to back, once.

    Q4A  weight = scale * code + offset          codes 0..15    5 bits a weight (GGUF Q4_1, Q4_K)
    Q4S  weight = scale * (code - 8)             codes 0..15    4.5 bits a weight (GGUF Q4_0)
    Q8   weight = scale * code                   codes -128..127, 8.5 bits a weight (GGUF Q8_0)

Rows and columns are padded with zero weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

TILE: Final = 16
BLOCK: Final = 32


class Kind(IntEnum):
    """The formats; the numbers are what the compiled kernels switch on."""

    Q4A = 0
    Q4S = 1
    Q8 = 2


BLOCK_BYTES: Final = {Kind.Q4A: 320, Kind.Q4S: 288, Kind.Q8: 544}
HEADER_BYTES: Final = {Kind.Q4A: 64, Kind.Q4S: 32, Kind.Q8: 32}


def padded(n: int, unit: int) -> int:
    """`n` rounded up to a whole number of units."""
    return -(-n // unit) * unit


@dataclass(frozen=True, slots=True)
class QuantizedMatrix:
    """A weight matrix in kernel layout; `data` may be memory-mapped and is never written.

    Attributes:
        kind: The format.
        rows: Output features, without padding.
        columns: Input features, without padding.
        data: uint8, shape [tiles, blocks, bytes of a block].

    Raises:
        ValueError: `data` does not have the shape that the other fields ask for.
    """

    kind: Kind
    rows: int
    columns: int
    data: NDArray[np.uint8]

    def __post_init__(self) -> None:
        if self.data.shape != packed_shape(self.kind, self.rows, self.columns) or self.data.dtype != np.uint8:
            raise ValueError(f"A {self.rows} x {self.columns} {self.kind.name} matrix cannot be {self.data.shape}.")
        if not self.data.flags.c_contiguous:
            raise ValueError("A packed matrix must be contiguous.")

    @property
    def nbytes(self) -> int:
        """Bytes read in one matrix-vector product."""
        return self.data.nbytes

    @property
    def padded_rows(self) -> int:
        """Rows with padding."""
        return self.data.shape[0] * TILE

    @property
    def padded_columns(self) -> int:
        """Columns with padding."""
        return self.data.shape[1] * BLOCK

    def dequantize(self) -> NDArray[np.float32]:
        """The weights as float32, shape [rows, columns]: what the kernels compute with, exactly."""
        scales, offsets = _scales(self)
        codes = _codes(self).astype(np.float32)
        if self.kind is Kind.Q4S:
            codes -= 8
        weights = codes * scales[..., None] + offsets[..., None]
        return weights.reshape(self.padded_rows, self.padded_columns)[: self.rows, : self.columns]


def packed_shape(kind: Kind, rows: int, columns: int) -> tuple[int, int, int]:
    """Shape of the bytes of a `rows` x `columns` matrix."""
    return padded(rows, TILE) // TILE, padded(columns, BLOCK) // BLOCK, BLOCK_BYTES[kind]


def pack(
    kind: Kind,
    rows: int,
    columns: int,
    words: NDArray[np.uint32],
    scales: NDArray[np.float16],
    offsets: NDArray[np.float16] | None = None,
) -> QuantizedMatrix:
    """Interleave row-wise blocks into tiles.

    Args:
        kind: The format.
        rows: Output features.
        columns: Input features.
        words: Codes, uint32, shape [rows, blocks, 4 or 8]: the bytes of a row's block, four to a word, little endian.
            4-bit codes have column i in the low half of byte i, column 16 + i in its high half.
        scales: float16, shape [rows, blocks].
        offsets: float16, shape [rows, blocks]; only for Q4A.
    """
    shape = packed_shape(kind, rows, columns)
    data = np.zeros(shape, np.uint8)
    header = HEADER_BYTES[kind]
    # Padding rows hold the codes of zero so that a scale of zero is not the only thing that keeps them silent.
    data[..., :32].view(np.float16)[...] = _tiles(scales, shape[0])
    if offsets is not None:
        data[..., 32:64].view(np.float16)[...] = _tiles(offsets, shape[0])
    per_block = words.shape[2]
    target = data[..., header:].view(np.uint32).reshape(shape[0], shape[1], per_block, TILE)
    whole = rows // TILE
    tiled = words[: whole * TILE].reshape(whole, TILE, shape[1], per_block)
    target[:whole] = tiled.transpose(0, 2, 3, 1)
    if rest := rows - whole * TILE:
        target[whole, :, :, :rest] = words[whole * TILE :].transpose(1, 2, 0)
    data.flags.writeable = False
    return QuantizedMatrix(kind, rows, columns, data)


def stack(parts: Sequence[QuantizedMatrix]) -> QuantizedMatrix:
    """Matrices of equal columns, one below the other; all but the last need whole tiles of rows.

    Raises:
        ValueError: They differ in format or columns, or a tile would hold rows of two.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    whole = all(part.rows % TILE == 0 for part in parts[:-1])
    if not whole or {(part.kind, part.columns) for part in parts} != {(first.kind, first.columns)}:
        raise ValueError("These matrices cannot be stacked.")
    data = np.concatenate([part.data for part in parts])
    data.flags.writeable = False
    return QuantizedMatrix(first.kind, sum(part.rows for part in parts), first.columns, data)


def gather(kind: Kind, rows: int, columns: int, parts: Iterable[QuantizedMatrix]) -> QuantizedMatrix:
    """The parts of a `rows` x `columns` matrix, of whole tiles but for the last, put together as they come.

    Only one part is in memory besides the result, unlike with `stack`.

    Raises:
        ValueError: They are not as many rows, or not of this format.
    """
    data = np.empty(packed_shape(kind, rows, columns), np.uint8)
    tiles = 0
    for part in parts:
        if part.kind is not kind or part.columns != columns:
            raise ValueError("These matrices cannot be put together.")
        data[tiles : tiles + len(part.data)] = part.data
        tiles += len(part.data)
    if tiles != len(data):
        raise ValueError(f"{tiles} tiles of rows were given where {len(data)} are needed.")
    data.flags.writeable = False
    return QuantizedMatrix(kind, rows, columns, data)


def _tiles(values: NDArray[np.float16], tiles: int) -> NDArray[np.float16]:
    """[rows, blocks] -> [tiles, blocks, 16], zeros in the padding."""
    full = np.zeros((tiles * TILE, values.shape[1]), np.float16)
    full[: len(values)] = values
    return full.reshape(tiles, TILE, -1).transpose(0, 2, 1)


def _scales(matrix: QuantizedMatrix) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scales and offsets as float32, shape [padded rows, blocks]."""

    def rows(part: NDArray[np.uint8]) -> NDArray[np.float32]:
        halves = np.ascontiguousarray(part).view(np.float16)
        return halves.transpose(0, 2, 1).reshape(matrix.padded_rows, -1).astype(np.float32)

    scales = rows(matrix.data[..., :32])
    return scales, rows(matrix.data[..., 32:64]) if matrix.kind is Kind.Q4A else np.zeros_like(scales)


def _codes(matrix: QuantizedMatrix) -> NDArray[np.uint8] | NDArray[np.int8]:
    """Codes, shape [padded rows, blocks, 32]."""
    tiles, blocks, _ = matrix.data.shape
    raw = np.ascontiguousarray(matrix.data[..., HEADER_BYTES[matrix.kind] :])
    rows = raw.reshape(tiles, blocks, -1, TILE, 4).transpose(0, 3, 1, 2, 4).reshape(tiles * TILE, blocks, -1)
    if matrix.kind is Kind.Q8:
        return np.ascontiguousarray(rows).view(np.int8)
    return np.concatenate((rows & 15, rows >> 4), axis=2)
