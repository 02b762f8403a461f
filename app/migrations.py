"""The database's schema as a ladder: each step leads from one version to the next, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from app.i18n import translate
from engine.errors import EngineError


class StoreError(EngineError):
    """The conversations cannot be read or written."""


class StoreUnknown(StoreError):
    """The database is there, and in no form that this Loquat knows."""


class StoreTooNew(StoreUnknown):
    """A newer Loquat wrote the database."""


# A message's parent has no ON DELETE CASCADE: SQLite follows at most 1,000 nested cascades, and a long conversation
# is a chain. Its own foreign keys are checked at the end of the transaction, so that whole trees can go at once.
# `key` is an integer of its own, so that a full-text index can refer to it for good.
_FIRST: Final = """
CREATE TABLE conversation (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    started_on TEXT NOT NULL,
    system_prompt TEXT NOT NULL,
    deleted_at REAL,
    leaf_id TEXT REFERENCES message(id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TABLE message (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
    parent_id TEXT REFERENCES message(id) DEFERRABLE INITIALLY DEFERRED,
    role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    content TEXT NOT NULL,
    token_ids BLOB,
    status TEXT NOT NULL CHECK (status IN ('complete', 'partial', 'cancelled', 'length')),
    model TEXT NOT NULL,
    stats TEXT,
    created_at REAL NOT NULL
);
CREATE INDEX message_by_conversation ON message(conversation_id);
CREATE INDEX message_by_parent ON message(parent_id);
CREATE INDEX conversation_by_leaf ON conversation(leaf_id);
CREATE INDEX conversation_by_time ON conversation(updated_at) WHERE deleted_at IS NULL;
"""
_LEFT_OUT: Final = "ALTER TABLE message ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;"
# What was there before has a title that the person may have given it, so that no model may name it again.
# A draft has no foreign key: the one of the chat that is not stored yet has no conversation. Deleted messages stay,
# with their place among their siblings, until nobody can undo that any more.
_ORGANISED: Final = """
CREATE TABLE folder (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at REAL NOT NULL
);
ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN folder_id TEXT REFERENCES folder(id) ON DELETE SET NULL;
ALTER TABLE conversation ADD COLUMN archived_at REAL;
ALTER TABLE conversation ADD COLUMN titled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN options TEXT;
UPDATE conversation SET titled = 1;
CREATE INDEX conversation_by_folder ON conversation(folder_id);
ALTER TABLE message ADD COLUMN attachments TEXT;
ALTER TABLE message ADD COLUMN thinking_s REAL;
ALTER TABLE message ADD COLUMN deleted_at REAL;
CREATE INDEX message_deleted ON message(deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE draft (
    conversation_id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    attachments TEXT
);
CREATE TABLE turn_trace (
    message_id TEXT PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
    json TEXT NOT NULL
);
"""
# The index holds no text of its own (content=''), so that each change hands it the old text as it was. A reply that
# grows is saved every second and indexed when it has ended, or at the next start (`indexed` says whether it is).
# `segment` is `app.segment.segment`; every connection has it.
_SEARCHED: Final = """
ALTER TABLE message ADD COLUMN indexed INTEGER NOT NULL DEFAULT 1;
CREATE INDEX message_not_indexed ON message(indexed) WHERE NOT indexed;
ALTER TABLE conversation ADD COLUMN key INTEGER;
CREATE UNIQUE INDEX conversation_by_key ON conversation(key);
CREATE VIRTUAL TABLE message_text USING fts5(text, content='', prefix='1 2', tokenize='unicode61');
CREATE VIRTUAL TABLE title_text USING fts5(text, content='', tokenize='unicode61');
INSERT INTO message_text (rowid, text) SELECT key, segment(content) FROM message;

CREATE TRIGGER message_added AFTER INSERT ON message WHEN new.indexed BEGIN
    INSERT INTO message_text (rowid, text) VALUES (new.key, segment(new.content));
END;
CREATE TRIGGER message_changed AFTER UPDATE OF content, indexed ON message
WHEN old.content IS NOT new.content OR old.indexed IS NOT new.indexed BEGIN
    INSERT INTO message_text (message_text, rowid, text) SELECT 'delete', old.key, segment(old.content)
    WHERE old.indexed;
    INSERT INTO message_text (rowid, text) SELECT new.key, segment(new.content) WHERE new.indexed;
END;
CREATE TRIGGER message_removed AFTER DELETE ON message WHEN old.indexed BEGIN
    INSERT INTO message_text (message_text, rowid, text) VALUES ('delete', old.key, segment(old.content));
END;
CREATE TRIGGER conversation_added AFTER INSERT ON conversation BEGIN
    UPDATE conversation SET key = (SELECT ifnull(max(key), 0) + 1 FROM conversation) WHERE id = new.id;
END;
CREATE TRIGGER title_changed AFTER UPDATE OF title, key ON conversation
WHEN old.title IS NOT new.title OR old.key IS NOT new.key BEGIN
    INSERT INTO title_text (title_text, rowid, text) SELECT 'delete', old.key, segment(old.title)
    WHERE old.key IS NOT NULL;
    INSERT INTO title_text (rowid, text) VALUES (new.key, segment(new.title));
END;
CREATE TRIGGER title_removed AFTER DELETE ON conversation BEGIN
    INSERT INTO title_text (title_text, rowid, text) VALUES ('delete', old.key, segment(old.title));
END;
UPDATE conversation SET key = rowid;
"""

# What makes the index anew.
REINDEX: Final = (
    "INSERT INTO message_text (message_text) VALUES ('delete-all')",
    "INSERT INTO message_text (rowid, text) SELECT key, segment(content) FROM message WHERE indexed",
    "INSERT INTO title_text (title_text) VALUES ('delete-all')",
    "INSERT INTO title_text (rowid, text) SELECT key, segment(title) FROM conversation",
)

STEPS: Final[tuple[str, ...]] = (_FIRST, _LEFT_OUT, _ORGANISED, _SEARCHED)


def version(db: sqlite3.Connection) -> int:
    """The schema version of a database; 0 for an empty one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, steps: Sequence[str] = STEPS) -> None:
    """Bring a database to the newest version, one step a transaction.

    Raises:
        StoreTooNew: The database is newer than the last step; nothing was changed.
    """
    for number, step in enumerate(steps[refuse_newer(db, steps) :], start=version(db) + 1):
        _climb(db, step, number)


def refuse_newer(db: sqlite3.Connection, steps: Sequence[str] = STEPS) -> int:
    """The version of a database, which this program knows.

    Raises:
        StoreTooNew: It does not.
    """
    current = version(db)
    if current > len(steps):
        sentence = translate(
            "migrations",
            "Your chats were saved by a newer version of Loquat. Please update Loquat to open them.",
        )
        raise StoreTooNew(sentence, f"schema version {current}, this program knows {len(steps)}")
    return current


def _climb(db: sqlite3.Connection, step: str, number: int) -> None:
    try:
        db.executescript(f"BEGIN IMMEDIATE;\n{step}\nPRAGMA user_version = {number};\nCOMMIT;")
    except sqlite3.Error:
        if db.in_transaction:
            db.rollback()
        raise
