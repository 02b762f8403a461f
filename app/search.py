"""Full-text search over titles and messages, on a thread and a read-only connection of its own."""

from __future__ import annotations

import logging
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from PySide6.QtCore import QObject, Qt, Signal

from app.db_writer import reading_connection
from app.i18n import translate
from app.search_query import READ_LENGTH, Query, parse, snippet, spans
from app.search_result import Hit, SearchResult
from engine.chat import Role

log = logging.getLogger(__name__)

MOST: Final = 200  # hits that are looked for; nobody reads on from there, another word is typed instead
MOST_TITLES: Final = 50
CLOSE_TIMEOUT_S: Final = 2.0
_TITLES: Final = """
SELECT c.id, '', c.title, '', c.title, c.updated_at FROM title_text JOIN conversation c ON c.key = title_text.rowid
WHERE title_text MATCH ? AND c.deleted_at IS NULL ORDER BY c.updated_at DESC LIMIT ?
"""
_FOUND: Final = f"""
SELECT c.id, m.id, c.title, m.role, substr(m.content, 1, {READ_LENGTH}), m.created_at
FROM message_text JOIN message m ON m.key = message_text.rowid JOIN conversation c ON c.id = m.conversation_id
WHERE message_text MATCH ? AND m.deleted_at IS NULL AND c.deleted_at IS NULL
"""  # noqa: S608 - a number only
_NEWEST: Final = " ORDER BY message_text.rowid DESC LIMIT ?"
_MESSAGES: Final = _FOUND + _NEWEST
# The keys of a conversation lie close together, so that the index is read for a small part only.
_MESSAGES_WITHIN: Final = f"""{_FOUND} AND m.conversation_id = ?
AND message_text.rowid >= (SELECT min(key) FROM message WHERE conversation_id = ?)
AND message_text.rowid <= (SELECT max(key) FROM message WHERE conversation_id = ?) {_NEWEST}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Ask:
    number: int
    text: str
    within: str | None


class Search(QObject):
    """Answers the latest query; one that is overtaken by another is broken off and never answered.

    Args:
        path: The database of a `Store`, which must have been opened before the first query.
    """

    found = Signal(object)  # SearchResult
    failed = Signal(str)  # sentence
    _answered = Signal(int, object)  # number of the query, SearchResult or a sentence; from the thread

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._changed = threading.Condition()
        self._asked: _Ask | None = None
        self._number = 0
        self._closing = False
        self._db: sqlite3.Connection | None = None
        self._thread: threading.Thread | None = None
        self._answered.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def ask(self, text: str, within: str | None = None) -> None:
        """Search for a text, in one conversation (its id) or in all that are not deleted; returns at once."""
        with self._changed:
            self._number += 1
            self._asked = _Ask(self._number, text, within)
            if self._db is not None:
                self._db.interrupt()
            self._changed.notify_all()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="loquat-search", daemon=True)
            self._thread.start()

    def close(self) -> bool:
        """End the thread; whether it ended in time."""
        with self._changed:
            self._closing = True
            self._asked = None
            if self._db is not None:
                self._db.interrupt()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_TIMEOUT_S)
        return self._thread is None or not self._thread.is_alive()

    def _tell(self, number: int, answer: SearchResult | str) -> None:
        if number != self._number or self._closing:
            return
        if isinstance(answer, SearchResult):
            self.found.emit(answer)
        else:
            self.failed.emit(answer)

    def _run(self) -> None:
        try:
            while (asked := self._next()) is not None:
                self._answered.emit(asked.number, self._answer(asked))
        finally:
            with self._changed:
                if self._db is not None:
                    self._db.close()
                self._db = None

    def _next(self) -> _Ask | None:
        with self._changed:
            self._changed.wait_for(lambda: self._asked is not None or self._closing)
            asked, self._asked = self._asked, None
            return asked

    def _answer(self, asked: _Ask) -> SearchResult | str:
        try:
            return search(self._connection(), asked.text, asked.within)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_INTERRUPT:
                log.warning("a search failed: %s", error)
            return translate("search", "The chats cannot be searched at the moment.")

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            db = reading_connection(self._path)
            with self._changed:
                self._db = db
        return self._db


def search(db: sqlite3.Connection, text: str, within: str | None = None) -> SearchResult:
    """Titles and messages in which every word of a text occurs.

    Args:
        db: A connection to the database; reading is enough.
        text: As it was typed; see `app.search_query.parse`.
        within: The conversation to search, without its title; None for all that are not deleted.

    Raises:
        sqlite3.Error: The database cannot be read, or the query was interrupted.
    """
    query = parse(text)
    if query is None:
        return SearchResult(text)
    if within is not None:
        rows = db.execute(_MESSAGES_WITHIN, (query.match, within, within, within, MOST + 1)).fetchall()
        return SearchResult(text, tuple(_hit(query, row) for row in rows[:MOST]), len(rows) > MOST)
    titles = db.execute(_TITLES, (query.match, MOST_TITLES + 1)).fetchall()
    rows = db.execute(_MESSAGES, (query.match, MOST + 1)).fetchall()
    hits = tuple(_hit(query, row) for row in (*titles[:MOST_TITLES], *rows[:MOST]))
    return SearchResult(text, hits, len(titles) > MOST_TITLES or len(rows) > MOST)


def _hit(query: Query, row: tuple[str, str, str, Role | Literal[""], str, float]) -> Hit:
    conversation_id, message_id, title, role, content, created_at = row
    shown = snippet(content, query) if message_id else (title, spans(title, query))
    return Hit(conversation_id, message_id, title, role, *shown, created_at)
