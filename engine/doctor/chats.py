"""Which version of the schema the database of chats is in: read from the file alone, without opening it for writing."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Final

from engine.doctor.report import Finding, Part

KNOWN: Final = 4
"""The newest schema that this program knows; a test sees that the ladder of `app.migrations` has as many steps."""
_MAGIC: Final = b"SQLite format 3\0"
_VERSION_AT: Final = 60  # the database header's user version, big-endian (sqlite.org/fileformat2.html, 1.3)


def schema_version(database: Path) -> int | None:
    """The version of the database's schema; None where there is none, or no SQLite file that can be read.

    No file is made or changed.
    """
    try:
        with database.open("rb") as file:
            head = file.read(_VERSION_AT + 4)
    except OSError:
        return None
    if len(head) < _VERSION_AT + 4 or not head.startswith(_MAGIC):
        return None
    in_log = _version_with_log(database)
    return int(struct.unpack_from(">I", head, _VERSION_AT)[0]) if in_log is None else in_log


def chats_part(version: int | None) -> Part:
    """What the version of the database comes to."""
    if version is None:
        return Part("chats", ("none yet, or not readable; the window says more",), {"schema": None, "known": KNOWN})
    values = {"schema": version, "known": KNOWN}
    if version <= KNOWN:
        return Part("chats", (f"schema {version}",), values)
    sentence = "Your chats were saved by a newer version of Loquat, so the window does not open; update Loquat."
    return Part("chats", (f"schema {version}, and this version knows {KNOWN}",), values, (Finding(sentence),))


def _version_with_log(database: Path) -> int | None:
    """The version where changes are still in the write-ahead log; None where none are, or they cannot be read."""
    log, index = (database.with_name(database.name + end) for end in ("-wal", "-shm"))
    if not log.exists() or not index.exists():  # which SQLite would make
        return None
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return None
