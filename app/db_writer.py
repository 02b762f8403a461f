"""One thread that writes to the database, in order.

Measured in WAL mode with synchronous=NORMAL: a save takes 0.03 ms, but the checkpoint that SQLite runs inside some
commits waits for the disk, 16 ms on an idle one and over 50 ms on a busy one. The window must not wait for that, so
writes are queued. Each job is one transaction; a job that finds no room stays at the head and is tried again.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.i18n import translate
from app.migrations import REINDEX, StoreError
from app.segment import segment
from app.soundness import suspect
from engine.errors import DiskFull, EngineError

log = logging.getLogger(__name__)

RETRY_S: Final = 3.0
BUSY_TIMEOUT_S: Final = 5.0
_PASSING: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
    }
)
# Of the full-text index: constraints of our own tables have codes of their own.
_INDEX_DAMAGE: Final = frozenset(
    {sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_CONSTRAINT_VTAB}
)

Statement = tuple[str, tuple[Any, ...]]
Report = Callable[[EngineError | None], None]


@dataclass(frozen=True, slots=True)
class Job:
    """Statements of one transaction.

    Attributes:
        key: A later job with the same key takes the place of one that still waits; empty for a job that must run.
        done: Makes the job one that is tried once and reported to nobody else: called on the writer's thread with None
            when it is on the disk, or with what went wrong.
    """

    statements: tuple[Statement, ...]
    key: str = ""
    done: Callable[[Exception | None], None] | None = None


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the settings that every part of the program uses; transactions are explicit."""
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_S)
    db.create_function("segment", 1, segment, deterministic=True)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")
    return db


def reading_connection(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, for any one thread."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(address, timeout=BUSY_TIMEOUT_S, isolation_level=None, uri=True, check_same_thread=False)


class DbWriter:
    """Owns the writing connection and its thread.

    Args:
        report: Called on the writer's thread: once with an error when writing fails, with None when all is well again.
        retry_s: Seconds between two tries while the disk is full.
    """

    def __init__(self, path: Path, report: Report, retry_s: float = RETRY_S) -> None:
        self._path = path
        self._report = report
        self._retry_s = retry_s
        self._jobs: deque[Job] = deque()
        self._running: Job | None = None
        self._changed = threading.Condition()
        self._closing_at: float | None = None
        self._troubled = False
        self._thread = threading.Thread(target=self._run, name="loquat-store", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Queue a job; returns at once."""
        with self._changed:
            if job.key:
                self._jobs = deque(old for old in self._jobs if old.key != job.key or old is self._running)
            self._jobs.append(job)
            self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until all that was queued is on the disk; False if it is not after `timeout_s` seconds."""
        with self._changed:
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not self._jobs, timeout_s)

    @property
    def alive(self) -> bool:
        """Whether jobs are still done."""
        return self._thread.is_alive()

    def close(self, timeout_s: float) -> bool:
        """Write what is queued and end the thread; False if something could not be written in `timeout_s` seconds."""
        with self._changed:
            self._closing_at = time.monotonic() + timeout_s
            self._changed.notify_all()
        self._thread.join(timeout_s + 1.0)
        return not self._jobs and not self._thread.is_alive()

    def _run(self) -> None:
        db = connect(self._path)
        try:
            while (job := self._next()) is not None:
                self._settle(job, self._write(db, job))
        finally:
            db.close()

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closing_at is not None)
            overdue = self._troubled and self._closing_at is not None and time.monotonic() >= self._closing_at
            self._running = None if overdue or not self._jobs else self._jobs[0]
            return self._running

    def _write(self, db: sqlite3.Connection, job: Job) -> Exception | None:
        error = _transact(db, job.statements)
        if getattr(error, "sqlite_errorcode", 0) in _INDEX_DAMAGE:
            log.warning("the search index is damaged and made anew: %s", error)
            error = _transact(db, ((sql, ()) for sql in REINDEX)) or _transact(db, job.statements)
        return error

    def _settle(self, job: Job, error: Exception | None) -> None:
        passing = error is not None and job.done is None and _code(error) in _PASSING
        with self._changed:
            if not passing:
                self._jobs.remove(job)
                self._changed.notify_all()
            self._running = None
        if job.done is not None:
            job.done(error)
        elif error is not None:
            self._trouble(error, passing)
        elif self._troubled:
            self._troubled = False
            self._report(None)

    def _trouble(self, error: Exception, passing: bool) -> None:
        log.warning("a save failed (%s): %s", getattr(error, "sqlite_errorname", "?"), error)
        suspect(self._path, error)
        if not passing or not self._troubled:
            self._report(_explain(error, passing))
        if not passing:
            return
        self._troubled = True
        with self._changed:
            left = self._retry_s if self._closing_at is None else min(0.1, self._retry_s)
            self._changed.wait(left)


def _transact(db: sqlite3.Connection, statements: Iterable[Statement]) -> Exception | None:
    """Run statements as one transaction; what went wrong, and then nothing was changed."""
    try:
        db.execute("BEGIN IMMEDIATE")
        for sql, values in statements:
            _execute(db, sql, values)
        db.execute("COMMIT")
    except (sqlite3.Error, OverflowError) as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        return error
    return None


def _execute(db: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> None:
    try:
        db.execute(sql, values)
    except UnicodeEncodeError:  # half a surrogate pair, from a paste or from another program, is no character
        db.execute(sql, [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in values])


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _explain(error: Exception, passing: bool) -> EngineError:
    detail = f"{getattr(error, 'sqlite_errorname', type(error).__name__)}: {error}"
    if _code(error) == sqlite3.SQLITE_FULL:
        sentence = translate(
            "db_writer",
            "The disk is full: new messages are kept in memory and saved as soon as there is room. "
            "Please free some space before you quit.",
        )
        return DiskFull(sentence, detail)
    if passing:
        sentence = translate(
            "db_writer",
            "New messages cannot be saved at the moment; they are kept in memory and tried again.",
        )
    else:
        sentence = translate(
            "db_writer",
            "A message could not be saved. Please copy what matters to you and restart Loquat.",
        )
    return StoreError(sentence, detail)
