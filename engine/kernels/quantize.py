"""Weights into kernel layout: from GGUF blocks without quantising again, or from floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadModelFile
from engine.kernels.formats import BLOCK, Kind, QuantizedMatrix, pack, padded

Q4K_GROUPS: Final = 8
FIT_ROUNDS: Final = 2


def from_q4_0(blocks: NDArray[np.uint8], rows: int, columns: int) -> QuantizedMatrix:
    """Repack GGUF Q4_0, exactly.

    Args:
        blocks: uint8, any shape with `rows * columns / 32 * 18` bytes: per block one float16 scale, 16 bytes of codes.
        rows: Output features.
        columns: Input features, a multiple of 32.
    """
    raw = blocks.reshape(rows, columns // BLOCK, 18)
    return pack(Kind.Q4S, rows, columns, _words(raw[..., 2:]), _halves(raw[..., :2])[..., 0])


def from_q4_1(blocks: NDArray[np.uint8], rows: int, columns: int) -> QuantizedMatrix:
    """Repack GGUF Q4_1, exactly; `blocks` as for Q4_0 but 20 bytes each: scale, offset, codes."""
    raw = blocks.reshape(rows, columns // BLOCK, 20)
    halves = _halves(raw[..., :4])
    return pack(Kind.Q4A, rows, columns, _words(raw[..., 4:]), halves[..., 0], halves[..., 1])


def from_q8_0(blocks: NDArray[np.uint8], rows: int, columns: int) -> QuantizedMatrix:
    """Repack GGUF Q8_0, exactly; `blocks` as for Q4_0 but 34 bytes each: scale, 32 int8."""
    raw = blocks.reshape(rows, columns // BLOCK, 34)
    return pack(Kind.Q8, rows, columns, _words(raw[..., 2:]), _halves(raw[..., :2])[..., 0])


def from_q4_k(blocks: NDArray[np.uint8], rows: int, columns: int) -> QuantizedMatrix:
    """Repack GGUF Q4_K; codes stay as they are, the products of its two levels of scales are rounded to float16.

    Args:
        blocks: uint8, `rows * columns / 256 * 144` bytes: per super-block of 256 the float16 scales of the scales and
            of the minima, 12 bytes with eight 6-bit scales and minima, 128 bytes of codes.
        rows: Output features.
        columns: Input features, a multiple of 256.
    """
    raw = blocks.reshape(rows, columns // 256, 144)
    supers = _halves(raw[..., :4]).astype(np.float32)
    scale, minimum = _q4_k_levels(raw[..., 4:16])
    scales = (supers[..., :1] * scale).astype(np.float16).reshape(rows, -1)
    offsets = (-supers[..., 1:] * minimum).astype(np.float16).reshape(rows, -1)
    # 32 bytes hold two groups: the first in the low halves, the second in the high halves.
    pairs = raw[..., 16:].reshape(rows, -1, 4, 1, 32)
    codes = np.concatenate((pairs & 15, pairs >> 4), axis=3).reshape(rows, -1, BLOCK)
    return pack(Kind.Q4A, rows, columns, _words(_nibbles(codes)), scales, offsets)


def from_codes(
    kind: Kind, codes: NDArray[np.uint8] | NDArray[np.int8], scales: NDArray[np.float16], offsets: NDArray[np.float16]
) -> QuantizedMatrix:
    """Pack codes that were made elsewhere, as they are.

    Args:
        kind: The format.
        codes: uint8 (4 bits) or int8 (8 bits), shape [rows, columns], columns a multiple of 32.
        scales: float16, shape [rows, columns / 32].
        offsets: As scales; read for Q4A only.
    """
    rows, columns = codes.shape
    blocks = codes.view(np.uint8).reshape(rows, -1, BLOCK)
    words = _words(blocks if kind is Kind.Q8 else _nibbles(blocks))
    return pack(kind, rows, columns, words, scales, offsets if kind is Kind.Q4A else None)


def quantize_4(weights: NDArray[np.float32]) -> QuantizedMatrix:
    """Quantise floats to Q4A: per block the scale and offset that fit best in the least-squares sense.

    Args:
        weights: float32, shape [rows, columns].

    Raises:
        BadModelFile: A weight is NaN or infinite, or too large for float16 scales.
    """
    groups = _groups(weights)
    low = groups.min(axis=2)
    scale, offset = _half(groups.max(axis=2) / 15 - low / 15), _half(low)
    codes = _code(groups, scale, offset)
    for _ in range(FIT_ROUNDS):
        better = _fit(groups, codes, scale, offset)
        again = _code(groups, *better)
        gain = _error(groups, again, *better) < _error(groups, codes, scale, offset)
        scale, offset = np.where(gain, better[0], scale), np.where(gain, better[1], offset)
        codes = np.where(gain[..., None], again, codes)
    rows, columns = weights.shape
    return pack(Kind.Q4A, rows, columns, _words(_nibbles(codes)), scale, offset)


def quantize_8(weights: NDArray[np.float32]) -> QuantizedMatrix:
    """Quantise floats to Q8: per block the scale that maps the largest absolute value to 127; errors as above."""
    groups = _groups(weights)
    scale = _half(np.abs(groups).max(axis=2) / 127)
    inverse = np.divide(1, scale, out=np.zeros(scale.shape, np.float32), where=scale > 0, dtype=np.float32)
    codes = np.clip(np.rint(groups * inverse[..., None]), -127, 127).astype(np.int8)
    rows, columns = weights.shape
    return pack(Kind.Q8, rows, columns, _words(codes.view(np.uint8)), scale)


def quantize(kind: Kind, weights: NDArray[np.float32]) -> QuantizedMatrix:
    """Quantise floats [rows, columns] to a format; see `quantize_4`."""
    return quantize_8(weights) if kind is Kind.Q8 else quantize_4(weights)


def unify(parts: Sequence[QuantizedMatrix]) -> list[QuantizedMatrix]:
    """Matrices in one common format, so that they can be stacked: 4 bits if all are, else 8 bits."""
    kinds = {part.kind for part in parts}
    if len(kinds) == 1:
        return list(parts)
    if Kind.Q8 not in kinds:
        return [_with_offsets(part) if part.kind is Kind.Q4S else part for part in parts]
    return [part if part.kind is Kind.Q8 else quantize_8(part.dequantize()) for part in parts]


def _with_offsets(matrix: QuantizedMatrix) -> QuantizedMatrix:
    """Q4S as Q4A: the same weights, the offset being -8 times the scale (exact in float16)."""
    tiles, blocks, nbytes = matrix.data.shape
    data = np.empty((tiles, blocks, nbytes + 32), np.uint8)
    data[..., :32] = matrix.data[..., :32]
    data[..., 32:64].view(np.float16)[...] = -8 * np.ascontiguousarray(matrix.data[..., :32]).view(np.float16)
    data[..., 64:] = matrix.data[..., 32:]
    return QuantizedMatrix(Kind.Q4A, matrix.rows, matrix.columns, data)


def _groups(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """[rows, columns] -> [rows, blocks, 32], padded with zeros."""
    if not np.isfinite(weights).all():
        raise BadModelFile("This model has weights that are not numbers; download it again.", "NaN or infinite weight")
    rows, columns = weights.shape
    full = np.zeros((rows, padded(columns, BLOCK)), np.float32)
    full[:, :columns] = weights
    return full.reshape(rows, -1, BLOCK)


def _half(values: NDArray[np.float32]) -> NDArray[np.float16]:
    if np.abs(values).max(initial=0) > np.finfo(np.float16).max:
        raise BadModelFile("This model has weights too large to be compressed.", "a block scale exceeds float16")
    return values.astype(np.float16)


def _code(groups: NDArray[np.float32], scale: NDArray[np.float16], offset: NDArray[np.float16]) -> NDArray[np.uint8]:
    """Nearest 4-bit codes."""
    step = scale.astype(np.float32)
    inverse = np.divide(1, step, out=np.zeros_like(step), where=step != 0)
    return np.clip(np.rint((groups - offset[..., None]) * inverse[..., None]), 0, 15).astype(np.uint8)


def _fit(
    groups: NDArray[np.float32], codes: NDArray[np.uint8], scale: NDArray[np.float16], offset: NDArray[np.float16]
) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """Line of least squares through (code, weight) of every block; the old one where all codes are the same."""
    x = codes.astype(np.float32)
    dx = x - x.mean(axis=2, keepdims=True)
    spread = (dx * dx).sum(axis=2)
    slope = np.divide((dx * groups).sum(axis=2), spread, out=scale.astype(np.float32), where=spread > 0)
    base = np.where(spread > 0, groups.mean(axis=2) - slope * x.mean(axis=2), offset)
    return _half(slope), _half(base)


def _error(
    groups: NDArray[np.float32], codes: NDArray[np.uint8], scale: NDArray[np.float16], offset: NDArray[np.float16]
) -> NDArray[np.float32]:
    """Squared error of every block."""
    made = codes * scale.astype(np.float32)[..., None] + offset.astype(np.float32)[..., None]
    error: NDArray[np.float32] = np.square(groups - made).sum(axis=2)
    return error


def _nibbles(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[..., 32] codes -> [..., 16] bytes, column i low, column 16 + i high."""
    return codes[..., :16] | np.left_shift(codes[..., 16:], 4, dtype=np.uint8)


def _words(raw: NDArray[np.uint8]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(raw).view("<u4")


def _halves(raw: NDArray[np.uint8]) -> NDArray[np.float16]:
    return np.ascontiguousarray(raw).view("<f2")


def _q4_k_levels(raw: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """12 bytes -> eight 6-bit scales and minima: the first four in the low 6 bits of bytes 0-7, the rest split."""
    low, mid, high = raw[..., 0:4], raw[..., 4:8], raw[..., 8:12]
    scale = np.concatenate((low & 63, (high & 15) | ((low >> 6) << 4)), axis=-1)
    minimum = np.concatenate((mid & 63, (high >> 4) | ((mid >> 6) << 4)), axis=-1)
    return scale, minimum
