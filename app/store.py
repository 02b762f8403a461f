"""The conversations in SQLite: read here, written by one writer thread in order (`app.db_writer` says why)."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from app.db_writer import DbWriter, Job, Statement, connect
from app.migrations import StoreError, migrate
from app.records import (
    Conversation,
    StoredMessage,
    pack_ids,
    stats_from_json,
    stats_to_json,
    unpack_ids,
)
from app.tree import MessageTree
from engine.errors import EngineError

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S: Final = 5.0
CHECKED_BYTES: Final = 32 * 2**20  # a check of every page of a larger database would delay the start
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CONVERSATION: Final = "id, title, created_at, updated_at, started_on, system_prompt, leaf_id"
_MESSAGE: Final = "conversation_id, role, content, id, parent_id, token_ids, status, model, stats, created_at, left_out"
_MESSAGES: Final = f"SELECT {_MESSAGE} FROM message WHERE conversation_id = ? ORDER BY key"  # noqa: S608
_LEAF: Final = "SELECT leaf_id FROM conversation WHERE id = ?"
_ADD_CONVERSATION: Final = """
INSERT INTO conversation (id, title, created_at, updated_at, started_on, system_prompt) VALUES (?, ?, ?, ?, ?, ?)
"""
_SAVE_MESSAGE: Final = f"""
INSERT INTO message ({_MESSAGE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET content = excluded.content, token_ids = excluded.token_ids, status = excluded.status,
    model = excluded.model, stats = excluded.stats, left_out = excluded.left_out
"""  # noqa: S608 - column names only
# Only a message that is new becomes the leaf: one that ends later must not pull the person back to its branch.
_MOVE_LEAF: Final = """
UPDATE conversation SET leaf_id = ?, updated_at = max(updated_at, ?)
WHERE id = ? AND NOT EXISTS (SELECT 1 FROM message WHERE id = ?)
"""


class Store:
    """One database, one reader (the thread that made the store) and one writer thread.

    Changes return at once and are on the disk a moment later, in order; reading does not see what is still queued
    (`flush` waits for it). Sessions keep their messages, so nobody needs to read back what was just written.

    Args:
        path: The database; made if it is missing.
        report: Called on the writer's thread with an error when saving fails, and with None when it works again.

    Raises:
        StoreTooNew: A newer Loquat wrote it.
        StoreError: It cannot be opened.
        sqlite3.DatabaseError: It is damaged; `open_store` handles this.
    """

    def __init__(self, path: Path, report: Callable[[EngineError | None], None] | None = None) -> None:
        self.path = path
        self.on_report = report
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = connect(path)
        try:
            migrate(self._db)
            _check(self._db, path)
        except BaseException:
            self._db.close()
            raise
        self._writer = DbWriter(path, self._report)

    def _report(self, error: EngineError | None) -> None:
        if self.on_report:
            self.on_report(error)

    def conversations(self) -> list[Conversation]:
        """All that are not deleted, the latest first."""
        query = f"SELECT {_CONVERSATION} FROM conversation WHERE deleted_at IS NULL ORDER BY updated_at DESC"  # noqa: S608
        return [Conversation(*row) for row in self._read(query)]

    def tree(self, conversation_id: str) -> MessageTree:
        """The messages of all branches.

        Raises:
            StoreError: The database cannot be read.
        """
        messages = [_message(row) for row in self._read(_MESSAGES, conversation_id)]
        leaf = self._read(_LEAF, conversation_id)
        return MessageTree(messages, leaf[0][0] if leaf else None)

    def _read(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError("These conversations cannot be read from the disk.", str(error)) from error

    def create(self, title: str = "") -> Conversation:
        """Add an empty conversation."""
        conversation = Conversation(title=title)
        self.add_conversation(conversation)
        return conversation

    def add_conversation(self, conversation: Conversation, first: StoredMessage | None = None) -> None:
        """Add a conversation, and its first message in the same transaction."""
        added = (_ADD_CONVERSATION, _conversation_values(conversation))
        self._write(added, *(_saved(first) if first else ()))

    def add_message(self, message: StoredMessage) -> None:
        """Add a message and make it the leaf of the branch that is shown."""
        self._write(*_saved(message))

    def save_partial(self, message: StoredMessage) -> None:
        """Add or update a reply that is still growing; one that waits to be written is replaced."""
        self._write(*_saved(message), key=message.id)

    def finish_message(self, message: StoredMessage) -> None:
        """Save a reply as it ended."""
        self._write(*_saved(message))

    def show_branch(self, conversation_id: str, leaf_id: str) -> None:
        """Make a message that is saved the leaf of the branch that is shown."""
        self._write(("UPDATE conversation SET leaf_id = ? WHERE id = ?", (leaf_id, conversation_id)))

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._write(("UPDATE conversation SET title = ? WHERE id = ?", (title, conversation_id)))

    def delete(self, conversation_id: str) -> None:
        """Hide a conversation; `restore` brings it back until it is purged."""
        self._write(("UPDATE conversation SET deleted_at = ? WHERE id = ?", (time.time(), conversation_id)))

    def restore(self, conversation_id: str) -> None:
        """Undo `delete`."""
        self._write(("UPDATE conversation SET deleted_at = NULL WHERE id = ?", (conversation_id,)))

    def deleted(self) -> list[str]:
        """The ids of conversations that are deleted and not purged yet."""
        return [row[0] for row in self._read("SELECT id FROM conversation WHERE deleted_at IS NOT NULL")]

    def purge_deleted(self, before: float | None = None) -> None:
        """Remove for good what was deleted at or before a time (seconds since the epoch; None: now)."""
        limit = time.time() if before is None else before
        self._write(
            ("UPDATE conversation SET leaf_id = NULL WHERE deleted_at <= ?", (limit,)),
            ("DELETE FROM conversation WHERE deleted_at <= ?", (limit,)),
        )

    def flush(self, timeout_s: float = CLOSE_TIMEOUT_S) -> bool:
        """Wait until everything is on the disk; False if it is not after `timeout_s` seconds."""
        return self._writer.flush(timeout_s)

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> bool:
        """Save what is queued and close; False if something could not be saved in `timeout_s` seconds."""
        self._db.close()
        return self._writer.close(timeout_s)

    def _write(self, *statements: Statement, key: str = "") -> None:
        self._writer.put(Job(statements, key))


def open_store(path: Path) -> tuple[Store, str]:
    """The store at `path`, and a sentence for the person if a damaged database had to be put aside, else "".

    Raises:
        StoreTooNew: A newer Loquat wrote it.
        StoreError: It can neither be opened nor begun afresh.
    """
    try:
        return Store(path), ""
    except StoreError:
        raise
    except (sqlite3.Error, OSError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
            raise _unusable(path, error) from error
        log.error("the database is damaged: %s", error)
    aside = _move_aside(path)
    sentence = f"The saved conversations were damaged. They were kept as {aside.name}, and a fresh start was made."
    return Store(path), sentence


def _unusable(path: Path, error: Exception) -> StoreError:
    sentence = f"Conversations cannot be kept in {path.parent}. Please check that the folder can be written to."
    return StoreError(sentence, f"{type(error).__name__}: {error}")


def _move_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    try:
        for end in ("", "-wal", "-shm"):
            part = path.with_name(path.name + end)
            if part.exists():
                part.rename(aside.with_name(aside.name + end))
    except OSError as error:
        raise _unusable(path, error) from error
    return aside


def _check(db: sqlite3.Connection, path: Path) -> None:
    if path.stat().st_size > CHECKED_BYTES:
        return
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        error = sqlite3.DatabaseError(found)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _conversation_values(c: Conversation) -> tuple[str | float, ...]:
    return (c.id, c.title, c.created_at, c.updated_at, c.started_on, c.system_prompt)


def _saved(m: StoredMessage) -> tuple[Statement, Statement]:
    values = (
        m.conversation_id,
        m.role,
        m.content,
        m.id,
        m.parent_id,
        pack_ids(m.token_ids),
        m.status,
        m.model,
        stats_to_json(m.stats),
        m.created_at,
        m.left_out,
    )
    return (_MOVE_LEAF, (m.id, m.created_at, m.conversation_id, m.id)), (_SAVE_MESSAGE, values)


def _message(row: tuple[Any, ...]) -> StoredMessage:
    values = list(row)
    values[5] = unpack_ids(values[5])
    values[8] = stats_from_json(values[8])
    return StoredMessage(*values)
