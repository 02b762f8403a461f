"""Whether a database may be opened: not a newer version's, and not damaged."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Final

from app.migrations import refuse_newer

log = logging.getLogger(__name__)

CHECKED_BYTES: Final = 32 * 2**20  # a check of every page of a larger database would delay the start
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is damaged, and not that it is busy, locked or out of room."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def suspect(path: Path, error: Exception) -> None:
    """Have a database checked at the next start, however large it is, if an error says that it is damaged."""
    if not is_damage(error):
        return
    try:
        _mark(path).touch()
    except OSError as trouble:
        log.warning("the check at the next start cannot be asked for: %s", trouble)


def examine(path: Path) -> None:
    """Look at a database before it is opened for writing; nothing of it or of its log is changed.

    Raises:
        StoreTooNew: A newer Loquat wrote it.
        sqlite3.DatabaseError: It is damaged.
    """
    if not path.exists() or not path.stat().st_size:
        return
    beside = [path.with_name(path.name + end) for end in ("-wal", "-shm")]
    made = [file for file in beside if not file.exists()]  # by SQLite, even for reading
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        refuse_newer(db)
        if path.stat().st_size <= CHECKED_BYTES or _mark(path).exists():
            _check(db)
    finally:
        db.close()
        for file in made:
            file.unlink(missing_ok=True)
    _mark(path).unlink(missing_ok=True)


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}-check")


def _check(db: sqlite3.Connection) -> None:
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error
