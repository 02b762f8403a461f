"""A file of any size to the conversations in it, one after another: JSON, or a zip archive that holds it."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import ijson

from app.i18n import translate
from engine.errors import EngineError

DEEPEST: Final = 100  # levels of a value; what lies deeper is left out
READ_BYTES: Final = 65_536
HEADER: Final = "header"  # the key of what an object says beside its lists
LISTS: Final = frozenset({"conversations", "folders", "chats", "data"})
_BOM: Final = b"\xef\xbb\xbf"
# What JSON that is a list or an object begins with; "[tool]" of other formats does not go on as a list does.
_JSON: Final = re.compile(rb"\s*(?:\[[\s\[]*(?:[\]{\"\d-]|true|false|null|\Z)|\{\s*(?:[}\"]|\Z))")
_ZIP: Final = b"PK\x03\x04"
_CONVERSATIONS: Final = re.compile(r"(.*/)?conversations(-\d+)?\.json")

Tick = Callable[[int, int], None]
Event = tuple[str, Any]


class BadFile(EngineError):
    """A file is not one of conversations, or is damaged."""


def read_entries(path: Path, tick: Tick) -> Iterator[tuple[str, Any]]:
    """What a file holds: pairs of the list that a value stands in ("" for the outermost) and the value.

    An object's own values come last, as one object, with the key `HEADER`.

    Args:
        path: The file.
        tick: Called with the bytes read so far and all of them; may raise to end the reading.

    Raises:
        BadFile: It is no JSON, is cut off or damaged, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) == _ZIP:
                yield from _zipped(path, tick)
            else:
                yield from _entries(_Counted(file, path.stat().st_size, tick), path.name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise BadFile(
            translate("transfer", "{file} is a damaged or locked archive.").format(file=path.name), str(error)
        ) from error
    except OSError as error:
        raise BadFile(translate("transfer", "{file} cannot be read.").format(file=path.name), str(error)) from error


def _zipped(path: Path, tick: Tick) -> Iterator[tuple[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        files = [info for info in archive.infolist() if info.filename.endswith(".json")]
        wanted = [info for info in files if _CONVERSATIONS.fullmatch(info.filename)] or (
            files if len(files) == 1 else []
        )
        if not wanted:
            raise BadFile(translate("transfer", "There is no conversations.json in {file}.").format(file=path.name))
        total, before = sum(info.file_size for info in wanted), 0
        for info in wanted:
            with archive.open(info) as file:
                yield from _entries(_Counted(file, total, tick, before), info.filename)
            before += info.file_size


class _Counted:
    """A file that says how far it was read, and leaves out a byte order mark."""

    def __init__(self, file: IO[bytes], size: int, tick: Tick, done: int = 0) -> None:
        self._file = file
        self._size = size
        self._tick = tick
        self._done = done
        self.start = b""
        if file.seekable():
            file.seek(0)
        first = file.read(READ_BYTES)
        self.start = first.removeprefix(_BOM)
        self._waiting = self.start

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""  # ijson asks for the kind of file in this way
        data, self._waiting = self._waiting or self._file.read(READ_BYTES if size < 0 else size), b""
        self._done += len(data)
        self._tick(min(self._done, self._size), self._size)
        return data


def _entries(file: _Counted, name: str) -> Iterator[tuple[str, Any]]:
    first = file.start.lstrip()[:1]
    if not first:
        raise BadFile(translate("transfer", "{file} is empty.").format(file=name))
    if not _JSON.match(file.start):
        raise BadFile(translate("transfer", "{file} is not a JSON file.").format(file=name))
    try:
        # Floats, because ijson 3.6 ends the process at an integer of more digits than Python converts.
        events = iter(ijson.basic_parse(file, buf_size=READ_BYTES, use_float=True))
        if next(events)[0] == "start_array":
            yield from (("", value) for value in _elements(events))
        else:
            yield from _members(events)
        for _ in events:  # anything behind the end is an error
            pass
    except (ijson.JSONError, ValueError) as error:
        raise BadFile(
            translate("transfer", "{file} is damaged or not complete.").format(file=name), str(error)
        ) from error


def _members(events: Iterator[Event]) -> Iterator[tuple[str, Any]]:
    header = {}
    for kind, key in events:
        if kind == "end_map":
            break
        begun, value = next(events)
        if begun == "start_array" and key in LISTS:
            yield from ((key, element) for element in _elements(events))
        else:
            header[key] = _value(events, begun, value)
    yield HEADER, header


def _elements(events: Iterator[Event]) -> Iterator[Any]:
    for kind, value in events:
        if kind == "end_array":
            return
        yield _value(events, kind, value)


def _value(events: Iterator[Event], kind: str, value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    """The value that begins with an event; what lies too deep in it is None."""
    if kind not in ("start_map", "start_array"):
        return value
    root: Any = {} if kind == "start_map" else []
    stack, keys, depth = [root], [""], 1
    while depth:
        kind, value = next(events)
        if kind == "map_key":
            if depth <= DEEPEST:
                keys[-1] = value
        elif kind in ("end_map", "end_array"):
            if depth <= DEEPEST:
                stack.pop()
                keys.pop()
            depth -= 1
        elif kind in ("start_map", "start_array"):
            depth += 1
            if depth <= DEEPEST:
                made: Any = {} if kind == "start_map" else []
                _put(stack[-1], keys[-1], made)
                stack.append(made)
                keys.append("")
        elif depth <= DEEPEST:
            _put(stack[-1], keys[-1], value)
    return root


def _put(into: dict[str, Any] | list[Any], key: str, value: Any) -> None:  # noqa: ANN401
    if isinstance(into, dict):
        into[key] = value
    else:
        into.append(value)
