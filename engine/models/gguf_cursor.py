"""Reads numbers and texts of a GGUF file, one after the other, and believes no length in it.

A number in a file takes a few bytes and the same in Python many: what any model has is far exceeded before the memory
that a file takes comes near 200 MB beyond its own size, and then it is refused.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from typing import Final, NoReturn

import numpy as np
import numpy.typing as npt

from engine.errors import BadModelFile
from engine.models.gguf_metadata import Value

# The largest vocabularies have 0.8 million tokens and merges, and a few megabytes of text.
MOST_TEXTS: Final = 1_500_000
MOST_TEXT_BYTES: Final = 20_000_000
TOO_MUCH: Final = "it describes more than any model has"
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")
_TYPE_STRING: Final = 8
_TYPE_ARRAY: Final = 9
_TYPE_BOOL: Final = 7
_SCALARS: Final[Mapping[int, np.dtype[np.generic]]] = {
    0: np.dtype("u1"),
    1: np.dtype("i1"),
    2: np.dtype("<u2"),
    3: np.dtype("<i2"),
    4: np.dtype("<u4"),
    5: np.dtype("<i4"),
    6: np.dtype("<f4"),
    _TYPE_BOOL: np.dtype("u1"),
    10: np.dtype("<u8"),
    11: np.dtype("<i8"),
    12: np.dtype("<f8"),
}


class Cursor:
    """Walks over a map; every read is checked against the end of the file before it is made.

    Args:
        data: The file.
        file_name: Named in error sentences.
    """

    def __init__(self, data: mmap.mmap, file_name: str) -> None:
        self.data = data
        self.end = len(data)
        self.at = 0
        self.file_name = file_name
        self._texts_left = MOST_TEXTS
        self._bytes_left = MOST_TEXT_BYTES

    def refuse(self, problem: str) -> NoReturn:
        """Raise the error of a file that contradicts itself."""
        raise BadModelFile(
            f"The file {self.file_name} is damaged or incomplete ({problem}); get it again.",
            f"at byte {self.at} of {self.end}",
        )

    def need(self, nbytes: int) -> None:
        """Refuse a file that ends before that many bytes."""
        if nbytes > self.end - self.at:
            self.refuse("it ends too early")

    def u32(self) -> int:
        """A number of 32 bits."""
        self.need(4)
        (value,) = _U32.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def u64(self) -> int:
        """A number of 64 bits."""
        self.need(8)
        (value,) = _U64.unpack_from(self.data, self.at)
        self.at += 8
        return int(value)

    def numbers(self, dtype: np.dtype[np.generic], count: int) -> npt.NDArray[np.generic]:
        """`count` numbers, shape [count]."""
        self.need(count * dtype.itemsize)
        values = np.frombuffer(self.data, dtype, count, self.at).copy()
        self.at += count * dtype.itemsize
        return values

    def strings(self, count: int) -> list[str]:
        """`count` strings, each a length in 64 bits and that many bytes of UTF-8."""
        self.need(8 * count)
        self._texts_left -= count
        if self._texts_left < 0:
            self.refuse(TOO_MUCH)
        data, at, end, unpack = self.data, self.at, self.end, _U64.unpack_from
        texts: list[str] = []
        for _ in range(count):
            start = at + 8
            if start > end or (at := start + unpack(data, at)[0]) > end:
                self.refuse("it ends in the middle of a text")
            self._bytes_left -= at - start
            if self._bytes_left < 0:
                self.refuse(TOO_MUCH)
            try:
                texts.append(data[start:at].decode())
            except UnicodeDecodeError:
                self.refuse("a text in it is no UTF-8")
        self.at = at
        return texts

    def string(self) -> str:
        """One text."""
        return self.strings(1)[0]

    def value(self) -> Value:
        """A value of any kind, its kind first."""
        kind = self.u32()
        if kind == _TYPE_STRING:
            return self.string()
        if kind == _TYPE_ARRAY:
            return self._array()
        value = self.numbers(self._scalar_type(kind), 1)[0].item()
        return bool(value) if kind == _TYPE_BOOL else value

    def _array(self) -> list[str] | npt.NDArray[np.generic]:
        kind, count = self.u32(), self.u64()
        if kind == _TYPE_STRING:
            return self.strings(count)
        return self.numbers(self._scalar_type(kind), count)

    def _scalar_type(self, kind: int) -> np.dtype[np.generic]:
        if kind not in _SCALARS:
            self.refuse(f"it holds a value of the unknown kind {kind}")
        return _SCALARS[kind]
