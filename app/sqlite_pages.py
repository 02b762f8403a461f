"""Reads the rows of a damaged SQLite file page by page, without SQLite, which refuses such a file. Pure.

Every leaf page of a table is read by itself, so that a damaged header, a lost inner page or a cut-off end costs only
the rows that lie in it. The format is described in https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

Value = None | int | float | str | bytes
Buffer = bytes | memoryview

MAGIC: Final = b"SQLite format 3\0"
PAGE_SIZE: Final = 4096  # SQLite's default, where the header cannot be read
HEADER: Final = 100
FREE_LIST: Final = 32
TABLE_LEAF: Final = 0x0D
MOST_COLUMNS: Final = 40
WAL_HEADER: Final = 32
FRAME_HEADER: Final = 24
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial type -> bytes
_UNREADABLE: Final = (IndexError, struct.error, ValueError)


class Pages:
    """The pages of a database.

    Args:
        data: The file.
        wal: The write-ahead log beside it, whose committed pages are newer; empty for none.
    """

    def __init__(self, data: Buffer, wal: Buffer = b"") -> None:
        self._data = memoryview(data)
        self._size = _page_size(data)
        most = (len(data) + len(wal)) // self._size  # a damaged log may name any page
        self._newer = {number: page for number, page in _wal_pages(memoryview(wal), self._size) if number <= most}
        self.count = max([len(data) // self._size, *self._newer])

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """The rowid and the columns of every row of every table that can be read, in no order."""
        free = self._free()
        for number in range(2, self.count + 1):
            page = self._page(number)
            if number not in free and page and page[0] == TABLE_LEAF:
                yield from self._leaf(page)

    def _page(self, number: int) -> memoryview:
        """A page by its number from 1; empty where the file ends before it."""
        newer = self._newer.get(number)
        if newer is not None:
            return newer
        page = self._data[(number - 1) * self._size : number * self._size]
        return page if len(page) == self._size else page[:0]

    def _free(self) -> set[int]:
        """Pages that are in use no more: what they hold was deleted."""
        found: set[int] = set()
        first = self._page(1)
        trunk = _u32(first, FREE_LIST) if bytes(first[:16]) == MAGIC else 0
        while 1 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self._page(trunk)
            count = _u32(page, 4) if page else 0
            if count > self._size // 4 - 2:
                return set()  # the list itself is damaged: better something deleted than something lost
            found.update(struct.unpack_from(f">{count}I", page, 8) if page else ())
            trunk = _u32(page, 0) if page else 0
        return found

    def _leaf(self, page: memoryview) -> Iterator[tuple[int, list[Value]]]:
        for at in range(min(_u16(page, 3), (self._size - 8) // 2)):
            try:
                rowid, payload = self._cell(page, _u16(page, 8 + 2 * at))
                yield rowid, _record(payload)
            except _UNREADABLE:
                continue  # this row is lost; the next one may be whole

    def _cell(self, page: memoryview, at: int) -> tuple[int, bytes]:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        if length <= self._size - 35:
            return rowid, _exactly(page[at : at + length], length)
        least = (self._size - 12) * 32 // 255 - 23
        local = least + (length - least) % (self._size - 4)
        local = local if local <= self._size - 35 else least
        return rowid, self._overflowing(page[at : at + local], _u32(page, at + local), length)

    def _overflowing(self, local: memoryview, number: int, length: int) -> bytes:
        if length > self.count * self._size:
            raise ValueError("longer than the file")
        parts, missing, seen = [bytes(local)], length - len(local), set()
        while missing > 0:
            if number in seen:
                raise ValueError("a chain that leads back")
            seen.add(number)
            page = self._page(number)
            number = _u32(page, 0)
            parts.append(bytes(page[4 : 4 + missing]))
            missing -= len(parts[-1])
        return b"".join(parts)


def _page_size(data: Buffer) -> int:
    if bytes(data[:16]) != MAGIC:
        return PAGE_SIZE
    size = _u16(data, 16) if len(data) > HEADER else 0
    return size if size >= 512 and size & (size - 1) == 0 else PAGE_SIZE


def _wal_pages(wal: memoryview, size: int) -> Iterator[tuple[int, memoryview]]:
    """The pages that were committed to a log, older ones first."""
    salt = wal[16:24]
    waiting = []
    for start in range(WAL_HEADER, len(wal) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        if wal[start + 8 : start + 16] != salt:
            return
        body = start + FRAME_HEADER
        waiting.append((_u32(wal, start), wal[body : body + size]))
        if _u32(wal, start + 4):  # the size of the database after a commit
            yield from waiting
            waiting = []


def _record(payload: bytes) -> list[Value]:
    header, at = _varint(payload, 0)
    kinds = []
    while at < header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
        if len(kinds) > MOST_COLUMNS:
            raise ValueError("no row of ours")
    values = []
    for kind in kinds:
        length = _length(kind)
        values.append(_value(kind, _exactly(payload[at : at + length], length)))
        at += length
    return values


def _length(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return 8 if kind == 7 else _INTEGERS.get(kind, 0)


def _value(kind: int, data: bytes) -> Value:
    if kind in _INTEGERS:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    if kind in (8, 9):
        return kind - 8
    if kind in (0, 10, 11):
        return None
    return data.decode("utf-8", "replace") if kind % 2 else data


def _varint(data: Buffer, at: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        byte = data[at + count]
        if count == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    raise ValueError("unreachable: the ninth byte ends a varint")


def _exactly(data: Buffer, length: int) -> bytes:
    if len(data) != length:
        raise ValueError("cut off")
    return bytes(data)


def _u16(data: Buffer, at: int) -> int:
    return int(struct.unpack_from(">H", data, at)[0])


def _u32(data: Buffer, at: int) -> int:
    return int(struct.unpack_from(">I", data, at)[0])
