"""The conversations in SQLite: read here, written by one writer thread in order (`app.db_writer` says why)."""

from __future__ import annotations

import errno
import json
import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from app.db_writer import DbWriter, Job, Statement, connect
from app.i18n import translate
from app.migrations import StoreError, StoreUnknown, migrate
from app.records import (
    Attachment,
    ChatOptions,
    Conversation,
    Folder,
    StoredMessage,
    attachments_from_json,
    attachments_to_json,
    options_to_json,
)
from app.recover import recover, sentence_about
from app.rows import (
    ADD_CONVERSATION,
    ADD_FOLDER,
    CONVERSATION,
    MESSAGES,
    SAVE_DRAFT,
    SAVE_TRACE,
    STAGED,
    conversation_from,
    conversation_values,
    message_from,
    saved,
    tree_statements,
    unstage,
)
from app.soundness import examine, is_damage, suspect
from app.tree import MessageTree
from engine.errors import EngineError

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S: Final = 5.0
POLL_S: Final = 0.5
_LEAST_ROOM: Final = 256 * 1024
_LISTED: Final = f"SELECT {CONVERSATION} FROM conversation WHERE deleted_at IS NULL AND archived_at IS"  # noqa: S608
_LEAF: Final = "SELECT leaf_id FROM conversation WHERE id = ?"
# Messages (a JSON list of ids) and all that follows them, whether anybody knew of it or not.
_BRANCHES: Final = """
WITH RECURSIVE branch(id) AS (
    SELECT value FROM json_each(?)
    UNION SELECT message.id FROM message JOIN branch ON message.parent_id = branch.id
)"""
_LEAVE_BRANCHES: Final = f"""{_BRANCHES}
UPDATE conversation SET leaf_id = (SELECT parent_id FROM message WHERE id = ?) WHERE leaf_id IN branch
"""  # noqa: S608 - constants only
_DELETE_BRANCHES: Final = f"""{_BRANCHES}
UPDATE message SET deleted_at = ? WHERE id IN branch AND deleted_at IS NULL
"""  # noqa: S608
_OVERDUE: Final = """
WITH RECURSIVE overdue(id) AS (
    SELECT id FROM message WHERE deleted_at <= ?
    UNION SELECT message.id FROM message JOIN overdue ON message.parent_id = overdue.id
)"""
_PURGE: Final = (
    "UPDATE conversation SET leaf_id = NULL WHERE deleted_at <= ?",
    "DELETE FROM conversation WHERE deleted_at <= ?",
    f"{_OVERDUE} UPDATE conversation SET leaf_id = NULL WHERE leaf_id IN overdue",  # noqa: S608
    f"{_OVERDUE} DELETE FROM message WHERE id IN overdue",  # noqa: S608
    "DELETE FROM draft WHERE ? AND conversation_id <> '' AND conversation_id NOT IN (SELECT id FROM conversation)",
)


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
        self._on_report = report
        self._unheard: EngineError | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        examine(path)
        self._db = connect(path)
        try:
            migrate(self._db)
        except BaseException:
            self._db.close()
            raise
        self._writer = DbWriter(path, self._report)
        self.importing = threading.Lock()  # of one import at a time, which looks for ids that are free and takes them
        # The program may have ended before a reply or an import did.
        self._write(("UPDATE message SET indexed = 1 WHERE NOT indexed", ()), *unstage(STAGED))

    @property
    def on_report(self) -> Callable[[EngineError | None], None] | None:
        """Who is told of trouble with saving, and at once of trouble that began before."""
        return self._on_report

    @on_report.setter
    def on_report(self, report: Callable[[EngineError | None], None] | None) -> None:
        self._on_report = report
        unheard, self._unheard = self._unheard, None
        if report and unheard:
            report(unheard)

    def _report(self, error: EngineError | None) -> None:
        if self._on_report:
            self._on_report(error)
        else:
            self._unheard = error

    def conversations(self) -> list[Conversation]:
        """Those in the list, neither archived nor deleted, the latest first."""
        return [conversation_from(row) for row in self._read(f"{_LISTED} NULL ORDER BY updated_at DESC")]

    def archived(self) -> list[Conversation]:
        """Those that were put out of the list, the last one first."""
        return [conversation_from(row) for row in self._read(f"{_LISTED} NOT NULL ORDER BY archived_at DESC")]

    def folders(self) -> list[Folder]:
        """All folders, by name."""
        query = "SELECT name, id, created_at FROM folder"
        return sorted((Folder(*row) for row in self._read(query)), key=lambda folder: folder.name.casefold())

    def tree(self, conversation_id: str) -> MessageTree:
        """The messages of all branches.

        Raises:
            StoreError: The database cannot be read.
        """
        messages = [message_from(row) for row in self._read(MESSAGES, conversation_id)]
        leaf = self._read(_LEAF, conversation_id)
        return MessageTree(connected(messages), leaf[0][0] if leaf else None)

    def draft(self, conversation_id: str) -> tuple[str, tuple[Attachment, ...]]:
        """What was typed into a conversation and not sent; the id is empty for the new chat."""
        found = self._read("SELECT text, attachments FROM draft WHERE conversation_id = ?", conversation_id)
        return (found[0][0], attachments_from_json(found[0][1])) if found else ("", ())

    def trace(self, message_id: str) -> str | None:
        """How a reply was made, as the JSON that was saved; None where nothing was."""
        found = self._read("SELECT json FROM turn_trace WHERE message_id = ?", message_id)
        return found[0][0] if found else None

    def _read(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            suspect(self.path, error)
            sentence = translate("store", "Chats cannot be read from the disk. Please restart Loquat.")
            raise StoreError(sentence, str(error)) from error

    def create(self, title: str = "") -> Conversation:
        """Add an empty conversation."""
        conversation = Conversation(title=title)
        self.add_conversation(conversation)
        return conversation

    def add_conversation(self, conversation: Conversation, first: StoredMessage | None = None) -> None:
        """Add a conversation, and its first message in the same transaction."""
        added = (ADD_CONVERSATION, conversation_values(replace(conversation, leaf_id=None)))
        self._write(added, *(saved(first) if first else ()))

    def add_tree(
        self, conversation: Conversation, messages: Iterable[StoredMessage], traces: Mapping[str, str] | None = None
    ) -> None:
        """Add a conversation with all its branches, in one transaction.

        Args:
            conversation: Whose leaf is one of the messages, or None.
            messages: Parents before their children, versions in their order.
            traces: The JSON of `trace` by message id.
        """
        self._write(*tree_statements(conversation, messages, traces or {}))

    def add_message(self, message: StoredMessage) -> None:
        """Add a message and make it the leaf of the branch that is shown."""
        self._write(*saved(message))

    def save_partial(self, message: StoredMessage) -> None:
        """Add or update a reply that is still growing; one that waits to be written is replaced."""
        self._write(*saved(message), key=message.id)

    def finish_message(self, message: StoredMessage) -> None:
        """Save a reply as it ended."""
        self._write(*saved(message))

    def delete_message(self, ids: Sequence[str]) -> None:
        """Hide messages and everything below them; `restore_message` brings them back until they are purged.

        If the leaf is among them, the parent of the first one becomes the leaf; `show_branch` chooses another.

        Args:
            ids: At least one, the topmost first.
        """
        branches = json.dumps(list(ids))
        self._write((_LEAVE_BRANCHES, (branches, ids[0])), (_DELETE_BRANCHES, (branches, time.time())))

    def restore_message(self, ids: Sequence[str]) -> None:
        """Undo `delete_message`: each of the messages is where it was; the leaf stays."""
        restored = "UPDATE message SET deleted_at = NULL WHERE id IN (SELECT value FROM json_each(?))"
        self._write((restored, (json.dumps(list(ids)),)))

    def save_trace(self, message_id: str, json_text: str) -> None:
        """Keep how a reply was made, for as long as the reply is kept."""
        self._write((SAVE_TRACE, (json_text, message_id)))

    def save_draft(self, conversation_id: str, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Keep what is typed and not sent yet; nothing typed keeps nothing."""
        kept: Statement = ("DELETE FROM draft WHERE conversation_id = ?", (conversation_id,))
        if text or attachments:
            kept = (SAVE_DRAFT, (conversation_id, text, attachments_to_json(attachments)))
        self._write(kept, key=f"draft {conversation_id}")

    def show_branch(self, conversation_id: str, leaf_id: str | None) -> None:
        """Make a message that is saved the leaf of the branch that is shown; None shows nothing."""
        self._write(("UPDATE conversation SET leaf_id = ? WHERE id = ?", (leaf_id, conversation_id)))

    def set_asked(self, conversation_id: str, at: float) -> None:
        """Note when something was asked once more, in seconds since the epoch; a new message notes its own."""
        moved = "UPDATE conversation SET updated_at = max(updated_at, ?) WHERE id = ?"
        self._write((moved, (at, conversation_id)))

    def rename(self, conversation_id: str, title: str, titled: bool = True) -> None:
        """Give a conversation another title; `titled` says whether the person or the model made it."""
        self._write(("UPDATE conversation SET title = ?, titled = ? WHERE id = ?", (title, titled, conversation_id)))

    def set_pinned(self, conversation_id: str, pinned: bool) -> None:
        """Put a conversation above all others, or back among them."""
        self._write(("UPDATE conversation SET pinned = ? WHERE id = ?", (pinned, conversation_id)))

    def set_folder(self, conversation_id: str, folder_id: str | None) -> None:
        """Put a conversation into a folder; None takes it out."""
        self._write(("UPDATE conversation SET folder_id = ? WHERE id = ?", (folder_id, conversation_id)))

    def set_archived(self, conversation_id: str, archived: bool) -> None:
        """Put a conversation out of the list, or back into it."""
        since = time.time() if archived else None
        self._write(("UPDATE conversation SET archived_at = ? WHERE id = ?", (since, conversation_id)))

    def set_options(self, conversation_id: str, options: ChatOptions, system_prompt: str) -> None:
        """Change what a conversation does otherwise than the settings say."""
        changed = "UPDATE conversation SET options = ?, system_prompt = ? WHERE id = ?"
        self._write((changed, (options_to_json(options), system_prompt, conversation_id)))

    def add_folder(self, folder: Folder) -> None:
        """Add an empty folder."""
        self._write((ADD_FOLDER, (folder.id, folder.name, folder.created_at)))

    def rename_folder(self, folder_id: str, name: str) -> None:
        """Give a folder another name."""
        self._write(("UPDATE folder SET name = ? WHERE id = ?", (name, folder_id)))

    def delete_folder(self, folder_id: str) -> None:
        """Remove a folder; its conversations go back to the list."""
        self._write(("DELETE FROM folder WHERE id = ?", (folder_id,)))

    def delete(self, conversation_id: str) -> None:
        """Hide a conversation; `restore` brings it back until it is purged."""
        self._write(("UPDATE conversation SET deleted_at = ? WHERE id = ?", (time.time(), conversation_id)))

    def restore(self, conversation_id: str) -> None:
        """Undo `delete`."""
        self._write(("UPDATE conversation SET deleted_at = NULL WHERE id = ?", (conversation_id,)))

    def deleted(self) -> list[str]:
        """The ids of conversations that are deleted and not purged yet."""
        query = f"SELECT id FROM conversation WHERE deleted_at < {STAGED}"  # noqa: S608 - a number only
        return [row[0] for row in self._read(query)]

    def purge_deleted(self) -> None:
        """Remove for good what was deleted until now."""
        now = time.time()
        self._write(*((purge, (now,)) for purge in _PURGE))

    def write_now(self, statements: Sequence[Statement]) -> None:
        """Run statements as one transaction after all that is queued, and wait; not for the window's thread.

        Raises:
            sqlite3.Error: They were not run.
            StoreError: The store was closed first.
        """
        over, errors = threading.Event(), []

        def done(error: Exception | None) -> None:
            errors.append(error)
            over.set()

        self._writer.put(Job(tuple(statements), done=done))
        while not over.wait(POLL_S):
            if not self._writer.alive:
                raise StoreError(translate("store", "The chats were closed before this was done."))
        if errors[0] is not None:
            raise errors[0]

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

    What can be read of a damaged one is in the new one.

    Raises:
        StoreUnknown: A newer Loquat wrote it, or its tables are not those of the version that it says it is.
        StoreError: It can neither be opened nor begun afresh.
    """
    try:
        return Store(path), ""
    except StoreError:
        raise
    except (sqlite3.Error, OSError) as error:
        if not is_damage(error):
            raise _unusable(path, error) from error
        log.error("the database is damaged: %s", error)
    try:
        sentence = _replace_damaged(path)
        return Store(path), sentence
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from error


def _replace_damaged(path: Path) -> str:
    """Put a recovered database in the place of a damaged one; the sentence for the person.

    The damaged one is moved only when the new one is whole, so that a full disk leaves all as it was.
    """
    fresh = path.with_name(f"{path.stem}.recovered{path.suffix}")
    fresh.unlink(missing_ok=True)
    try:
        rescue = recover(path, fresh)
        aside = _move_aside(path)
        fresh.rename(path)
    finally:
        fresh.unlink(missing_ok=True)
    return sentence_about(rescue, aside)


def _unusable(path: Path, error: Exception) -> StoreError:
    detail = f"{type(error).__name__}: {error}"
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR:  # a statement that does not fit the tables
        sentence = translate(
            "store",
            "The chats in {folder} were saved by another version of Loquat, or are damaged. Nothing was changed.",
        )
        return StoreUnknown(sentence.format(folder=path.parent), detail)
    sentence = translate("store", "Chats cannot be kept in {folder}. Please check that the folder can be written to.")
    if _is_full(path.parent, error):
        sentence = translate(
            "store", "The disk is full: chats cannot be kept in {folder}. Please make some room there."
        )
    return StoreError(sentence.format(folder=path.parent), detail)


def _is_full(folder: Path, error: Exception) -> bool:
    """Whether there is no room; SQLite reports that as a fault in reading or writing where it maps a file."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(error, "errno", 0) == errno.ENOSPC:
        return True
    return code == sqlite3.SQLITE_IOERR and shutil.disk_usage(folder).free < _LEAST_ROOM


def _move_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    for end in ("", "-wal", "-shm", "-check"):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
    return aside


def connected(messages: Iterable[StoredMessage]) -> list[StoredMessage]:
    """Those whose whole branch is there: a reply may have been saved after its question was deleted."""
    found: dict[str | None, StoredMessage] = {}
    for message in messages:
        if message.parent_id is None or message.parent_id in found:
            found[message.id] = message
    return list(found.values())
