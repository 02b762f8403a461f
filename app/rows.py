"""Records to rows and back: the statements that everything that reads or writes conversations shares. No connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from app.db_writer import Statement
from app.records import (
    Conversation,
    StoredMessage,
    attachments_from_json,
    attachments_to_json,
    options_from_json,
    options_to_json,
    pack_ids,
    stats_from_json,
    stats_to_json,
    unpack_ids,
)

CONVERSATION: Final = (
    "id, title, created_at, updated_at, started_on, system_prompt, leaf_id, "
    "pinned, folder_id, archived_at, titled, options"
)
MESSAGE: Final = (
    "conversation_id, role, content, id, parent_id, token_ids, status, model, stats, created_at, left_out, "
    "attachments, thinking_s"
)
MESSAGES: Final = f"SELECT {MESSAGE} FROM message WHERE conversation_id = ? AND deleted_at IS NULL ORDER BY key"  # noqa: S608
ADD_CONVERSATION: Final = f"INSERT INTO conversation ({CONVERSATION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
# A reply that still grows (the seventh value says it) is indexed when it has ended.
ADD_MESSAGE: Final = f"""
INSERT INTO message ({MESSAGE}, indexed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?7 <> 'partial')
"""  # noqa: S608
_SAVE_MESSAGE: Final = f"""{ADD_MESSAGE}
ON CONFLICT (id) DO UPDATE SET content = excluded.content, token_ids = excluded.token_ids, status = excluded.status,
    model = excluded.model, stats = excluded.stats, left_out = excluded.left_out, thinking_s = excluded.thinking_s,
    indexed = excluded.indexed
"""
# Only a message that is new becomes the leaf: one that ends later must not pull the person back to its branch. The time
# is that of the last question, as the list has it in memory.
_MOVE_LEAF: Final = """
UPDATE conversation SET leaf_id = ?, updated_at = max(updated_at, ?)
WHERE id = ? AND NOT EXISTS (SELECT 1 FROM message WHERE id = ?)
"""
ADD_FOLDER: Final = "INSERT INTO folder (id, name, created_at) VALUES (?, ?, ?)"
SAVE_DRAFT: Final = "INSERT OR REPLACE INTO draft (conversation_id, text, attachments) VALUES (?, ?, ?)"
# As the time of deletion of conversations that are being imported: later than any, so that they are neither listed,
# searched nor purged, until the import is complete. From here on, for one import after another.
STAGED: Final = 1e12
# A message that has been purged since keeps nothing.
SAVE_TRACE: Final = "INSERT OR REPLACE INTO turn_trace SELECT id, ? FROM message WHERE id = ?"


def tree_statements(
    conversation: Conversation, messages: Iterable[StoredMessage], traces: Mapping[str, str]
) -> list[Statement]:
    """What adds a conversation with all its branches."""
    return [
        (ADD_CONVERSATION, conversation_values(conversation)),
        *((ADD_MESSAGE, message_values(message)) for message in messages),
        *((SAVE_TRACE, (text, message_id)) for message_id, text in traces.items()),
    ]


def unstage(stamp: float) -> tuple[Statement, ...]:
    """What removes imports that were not completed, from a stamp on."""
    return (
        ("UPDATE conversation SET leaf_id = NULL WHERE deleted_at >= ?", (stamp,)),
        ("DELETE FROM conversation WHERE deleted_at >= ?", (stamp,)),
    )


def conversation_values(c: Conversation) -> tuple[Any, ...]:
    """The row of a conversation, in the order of `CONVERSATION`."""
    kept = (c.id, c.title, c.created_at, c.updated_at, c.started_on, c.system_prompt, c.leaf_id)
    return (*kept, c.pinned, c.folder_id, c.archived_at, c.titled, options_to_json(c.options))


def conversation_from(row: tuple[Any, ...]) -> Conversation:
    """A row of `CONVERSATION` as a value."""
    values = list(row)
    values[7], values[10], values[11] = bool(row[7]), bool(row[10]), options_from_json(row[11])
    return Conversation(*values)


def saved(m: StoredMessage) -> tuple[Statement, Statement]:
    """What adds a message and makes it the leaf, or updates it."""
    asked_at = m.created_at if m.role == "user" else 0.0
    return (_MOVE_LEAF, (m.id, asked_at, m.conversation_id, m.id)), (_SAVE_MESSAGE, message_values(m))


def message_values(m: StoredMessage) -> tuple[Any, ...]:
    """The row of a message, in the order of `MESSAGE`."""
    return (
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
        attachments_to_json(m.attachments),
        m.thinking_s,
    )


def message_from(row: tuple[Any, ...]) -> StoredMessage:
    """A row of `MESSAGE` as a value."""
    values = list(row)
    values[5] = unpack_ids(values[5])
    values[8] = stats_from_json(values[8])
    values[11] = attachments_from_json(values[11])
    return StoredMessage(*values)
