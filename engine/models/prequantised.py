"""Weights that came quantised: what all schemes share, from reading their tensors to numbers out of codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from engine.errors import BadModelFile
from engine.kernels.formats import BLOCK, TILE, Kind, QuantizedMatrix, gather
from engine.kernels.quantize import from_codes
from engine.models.names import shown
from engine.models.safetensors_file import TensorEntry

Floats = NDArray[np.float32]
Codes = NDArray[np.uint8] | NDArray[np.int8]

FLOATS: Final[Mapping[str, str]] = {"F64": "float32", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_AT_ONCE: Final = 1 << 20  # numbers unpacked together: few enough for the caches, and for the memory of an import
_ROUNDING: Final = 2.0**-11  # of a scale in float16, as far as a float16 is a normal number
_SYMMETRIC: Final = 8  # the zero point in the middle of 4 bits


class StoredTensors:
    """The tensors of a folder's weight files, each read when it is asked for.

    Args:
        label: The model's name in sentences.
        files: Which file holds which tensor.
        entries: All tensors.
    """

    def __init__(self, label: str, files: Mapping[str, Path], entries: list[TensorEntry]) -> None:
        self.label = label
        self.entries = {entry.name: entry for entry in entries}
        self._files = files

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def named(self, ending: str) -> list[str]:
        """What the tensors are called whose names end so, without that end; in the order of the files."""
        return [name.removesuffix(ending) for name in self.entries if name.endswith(ending)]

    def entry(self, name: str, dtypes: tuple[str, ...], sizes: tuple[int | None, ...]) -> TensorEntry:
        """A tensor's entry, checked.

        Args:
            name: Which tensor.
            dtypes: What it may be stored in.
            sizes: Its shape; None where any size will do.

        Raises:
            BadModelFile: It is missing, or of another dtype or shape.
        """
        entry = self.entries.get(name)
        if entry is None:
            part = shown(name)
            raise BadModelFile(f"The model {self.label} lacks a part of its quantised weights ({part}); get it again.")
        fits = len(entry.shape) == len(sizes)
        fits = fits and all(size in (None, held) for size, held in zip(sizes, entry.shape, strict=True))
        if not fits or entry.dtype not in dtypes:
            raise self.misfit(name, f"{entry} != {dtypes} {sizes}")
        return entry

    def misfit(self, name: str, detail: str) -> BadModelFile:
        """What to say of a tensor that cannot be what its name and its neighbours ask for."""
        return BadModelFile(
            f"The quantised weights in {self.label} do not fit each other ({shown(name)}); get the model again.", detail
        )

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor as it is stored, memory-mapped.

        Raises:
            BadModelFile: It cannot be read.
        """
        try:
            with safe_open(self._files[name], framework="pt") as file:
                tensor: torch.Tensor = file.get_tensor(name)
        except (OSError, SafetensorError, RuntimeError, KeyError) as error:
            raise BadModelFile(
                f"The weights in {self.label} cannot be read; get the model again.", repr(error)
            ) from error
        return tensor

    def floats(self, name: str) -> Floats:
        """A tensor of any floating dtype, as float32."""
        values: Floats = self.tensor(name).to(torch.float32).numpy()
        return values

    def words(self, name: str) -> NDArray[np.uint32]:
        """A tensor of 32-bit integers, by its bits."""
        words: NDArray[np.uint32] = self.tensor(name).contiguous().numpy().view(np.uint32)
        return words


class Matrix(Protocol):
    """A quantised matrix [rows, columns] that was read."""

    def rows(self, start: int, stop: int) -> Floats:
        """The numbers of some rows, float32 [stop - start, columns]."""
        ...

    def exact(self, kind: Kind) -> QuantizedMatrix | None:
        """The same codes in kernel layout; None where it cannot hold them, or only in more bits than `kind` has."""
        ...


@dataclass(frozen=True, slots=True)
class Prequantised:
    """One weight of a checkpoint that came quantised.

    Attributes:
        name: transformers' name of the weight.
        shape: transformers' shape, [rows, columns].
        bits: Of a code, 4 or 8.
        parts: The stored tensors that it is made of.
        load: Reads them.
    """

    name: str
    shape: tuple[int, int]
    bits: int
    parts: frozenset[str]
    load: Callable[[], Matrix]

    def chunks(self) -> Iterator[Floats]:
        """The weight as float32, a few rows at a time.

        Raises:
            BadModelFile: It is damaged, or holds what is no number.
        """
        matrix = self.load()
        for start, stop in spans(self.shape):
            with np.errstate(all="ignore"):
                yield numbers(self.name, matrix.rows(start, stop))


@dataclass(frozen=True, slots=True)
class Plain:
    """A weight of such a checkpoint that was left in floating point."""

    tensors: StoredTensors
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """As stored."""
        return self.tensors.entries[self.name].shape

    @property
    def dtype(self) -> str:
        """In which it is stored again."""
        return FLOATS[self.tensors.entries[self.name].dtype]

    def chunks(self) -> Iterator[Floats]:
        """The weight as float32, a few rows at a time."""
        stored = self.tensors.tensor(self.name)
        for start, stop in spans(self.shape or (1,)):
            yield stored.reshape(self.shape or (1,))[start:stop].to(torch.float32).numpy()


class _TooWide(Exception):
    """A code of 8 bits and a zero point are further apart than an int8 holds."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A matrix whose number [o, i] is scales[o, groups[i]] * (codes[o, i] - zeros[o, groups[i]]).

    Attributes:
        bits: Of a code, 4 or 8.
        shape: [rows, columns].
        codes: Those of rows start to stop, [stop - start, columns].
        scales, zeros: float32 and int16, [rows, number of groups].
        groups: Which group a column is in, [columns].
    """

    bits: int
    shape: tuple[int, int]
    codes: Callable[[int, int], Codes]
    scales: Floats
    zeros: NDArray[np.int16]
    groups: NDArray[np.intp]

    def rows(self, start: int, stop: int) -> Floats:
        """The numbers of some rows; see Matrix."""
        values = self.codes(start, stop).astype(np.float32)
        zeros, scales = self.zeros[start:stop].astype(np.float32), self.scales[start:stop]
        if self._in_order():
            parts = values.reshape(*scales.shape, -1)  # a view: one group after the other
            parts -= zeros[..., None]
            parts *= scales[..., None]
        else:
            values -= zeros[:, self.groups]
            values *= scales[:, self.groups]
        return values

    def _in_order(self) -> bool:
        """Whether the groups are equally wide, and their columns one after the other."""
        count = self.scales.shape[1]
        return not len(self.groups) % count and np.array_equal(
            self.groups, even_groups(len(self.groups), len(self.groups) // count)
        )

    def exact(self, kind: Kind) -> QuantizedMatrix | None:
        """The same codes in kernel layout; scales, and their products with zero points, are rounded to float16."""
        blocks = self._groups_of_blocks()
        if blocks is None or (self.bits > 4 and kind is not Kind.Q8):
            return None
        with np.errstate(over="ignore"):
            scales = self.scales[:, blocks].astype(np.float16)
            offsets = (-self.scales * self.zeros)[:, blocks].astype(np.float16)
        error = np.abs(scales.astype(np.float32) - self.scales[:, blocks])
        if not (error <= _ROUNDING * np.abs(self.scales[:, blocks])).all() or not np.isfinite(offsets).all():
            return None
        if self.bits > 4:
            return self._in_8_bits(scales)
        packing = Kind.Q4S if (self.zeros == _SYMMETRIC).all() else Kind.Q4A
        parts = (
            from_codes(packing, self.codes(start, stop).view(np.uint8), scales[start:stop], offsets[start:stop])
            for start, stop in spans(self.shape)
        )
        return gather(packing, *self.shape, parts)

    def _in_8_bits(self, scales: NDArray[np.float16]) -> QuantizedMatrix | None:
        try:
            return gather(Kind.Q8, *self.shape, self._parts_in_8_bits(scales))
        except _TooWide:
            return None

    def _parts_in_8_bits(self, scales: NDArray[np.float16]) -> Iterator[QuantizedMatrix]:
        for start, stop in spans(self.shape):
            zeros = self.zeros[start:stop]
            codes = self.codes(start, stop).astype(np.int16) - (zeros if zeros.shape[1] == 1 else zeros[:, self.groups])
            if codes.min() < -128 or codes.max() > 127:
                raise _TooWide
            yield from_codes(Kind.Q8, codes.astype(np.int8), scales[start:stop], scales[start:stop])

    def _groups_of_blocks(self) -> NDArray[np.intp] | None:
        """The group of each block of 32 columns; None if a block has columns of several."""
        if self.shape[1] % BLOCK:
            return None
        blocks = self.groups.reshape(-1, BLOCK)
        return blocks[:, 0] if (blocks == blocks[:, :1]).all() else None


def spans(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Ranges of rows to take at once: whole tiles, few enough to bound the memory."""
    columns = max(1, int(np.prod(shape[1:])))
    step = max(1, _AT_ONCE // columns // TILE) * TILE
    return ((start, min(start + step, shape[0])) for start in range(0, shape[0], step))


def numbers(name: str, values: Floats) -> Floats:
    """The values, once they are seen to be numbers.

    Raises:
        BadModelFile: One is not.
    """
    if not np.isfinite(values).all():
        raise BadModelFile(f"The model's weights are damaged ({shown(name)}); get it again.", "infinite, or no number")
    return values


def unpacked(words: NDArray[np.uint32], bits: int, axis: int) -> NDArray[np.uint8]:
    """Codes out of 32-bit words that each hold several along one axis, the first in the lowest bits.

    Args:
        words: [rows, columns].
        bits: Of a code: 4 or 8.
        axis: 0: each word holds codes of one column; 1: of one row.

    Returns:
        uint8 [rows, columns], longer along `axis`.
    """
    # The bytes of a little-endian word come in the order of its bits, whatever machine this is.
    raw = np.ascontiguousarray(words if axis else words.T).astype("<u4", copy=False).view(np.uint8)
    if bits == 4:
        raw = np.stack((raw & 15, raw >> 4), axis=-1).reshape(len(raw), -1)
    return raw if axis else raw.T


def even_groups(columns: int, size: int) -> NDArray[np.intp]:
    """Groups of so many columns each, one after the other; a size of -1 is all of them."""
    return np.arange(columns, dtype=np.intp) // (size if size > 0 else columns)
