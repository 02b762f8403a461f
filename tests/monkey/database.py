"""What is wrong with a database that a window has left: its pages, its references, its indexes of words."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from app.db_writer import connect

INDEXES = ("message_text", "title_text")


def broken(path: Path) -> list[str]:
    """What is wrong with a database, in words; nothing if it is sound."""
    with contextlib.closing(connect(path)) as db:
        pages = [f"the database: {row[0]}" for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        references = [f"a reference to nothing: {row}" for row in db.execute("PRAGMA foreign_key_check")]
        return [*pages, *references, *(trouble for name in INDEXES for trouble in _index(db, name))]


def _index(db: sqlite3.Connection, name: str) -> list[str]:
    try:
        db.execute(f"INSERT INTO {name} ({name}) VALUES ('integrity-check')")  # noqa: S608
    except sqlite3.DatabaseError as error:
        return [f"the index {name}: {error}"]
    return []
