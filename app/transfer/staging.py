"""Conversations on their way into the store: out of sight until all are in, and gone again if that is given up."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from app.db_writer import Statement
from app.migrations import StoreError
from app.records import Conversation, Folder, StoredMessage, new_id
from app.rows import ADD_FOLDER, MESSAGES, STAGED, message_from, tree_statements, unstage
from app.store import Store
from app.transfer.trees import Tree

log = logging.getLogger(__name__)

BATCH_CHARACTERS: Final = 1_000_000  # of one transaction, so that the person's own messages do not wait for long
# The person may delete the folder before this is done.
_PLACE: Final = "UPDATE conversation SET folder_id = (SELECT id FROM folder WHERE id = ?) WHERE id = ?"
_STAGE: Final = "UPDATE conversation SET deleted_at = ? WHERE id = ?"


class Staging:
    """One import. Everything is called on the import's thread.

    Args:
        reader: A connection of that thread.
    """

    def __init__(self, store: Store, reader: sqlite3.Connection) -> None:
        self._store = store
        self._reader = reader
        self._stamp = STAGED + time.time()
        self._batch: list[Statement] = []
        self._batch_ids: set[str] = set()
        self._size = 0
        self._folder_of: dict[str, str] = {}
        self.added: list[str] = []
        self.folders: list[Folder] = []  # made for them

    def add(self, tree: Tree) -> bool:
        """Stage a conversation; False if one of the same id has all its messages already.

        Ids that are taken by something else are replaced by new ones.

        Raises:
            sqlite3.Error: It cannot be written, or the database cannot be read.
        """
        talk = tree.conversation
        if talk.id in self._batch_ids:
            self._flush()
        if self._is_here(talk.id, tree.messages):
            return False
        tree = self._with_free_ids(tree)
        talk = replace(tree.conversation, folder_id=None)
        if tree.conversation.folder_id:
            self._folder_of[talk.id] = tree.conversation.folder_id
        self._batch += tree_statements(talk, tree.messages, tree.traces)
        self._batch.append((_STAGE, (self._stamp, talk.id)))
        self._batch_ids |= {talk.id, *(message.id for message in tree.messages)}
        self._size += sum(len(message.content) for message in tree.messages)
        self.added.append(talk.id)
        if self._size > BATCH_CHARACTERS:
            self._flush()
        return True

    def commit(self, folders: Iterable[Folder]) -> None:
        """Show all at once, in their folders.

        Args:
            folders: Those that the conversations name; one with the id or the name of one that is here is that one.

        Raises:
            sqlite3.Error: It cannot be written; nothing of it is shown.
        """
        self._flush()
        placed = self._placed({folder.id: folder for folder in folders})
        shown = ("UPDATE conversation SET deleted_at = NULL WHERE deleted_at = ?", (self._stamp,))
        self._store.write_now([*placed, shown])

    def discard(self) -> None:
        """Remove what was staged; what cannot be removed now stays out of sight and goes at the next start."""
        try:
            self._store.write_now(unstage(self._stamp))
        except (sqlite3.Error, StoreError) as error:
            log.info("an import that was given up is removed at the next start: %s", error)

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            self._store.write_now(batch)
        self._batch_ids.clear()
        self._size = 0

    def _is_here(self, talk_id: str, messages: Sequence[StoredMessage]) -> bool:
        known = self._reader.execute(
            "SELECT 1 FROM conversation WHERE id = ? AND (deleted_at IS NULL OR deleted_at = ?)", (talk_id, self._stamp)
        ).fetchone()
        if known is None:
            return False
        here = Counter(_said(message_from(row)) for row in self._reader.execute(MESSAGES, (talk_id,)))
        return not Counter(map(_said, messages)) - here

    def _with_free_ids(self, tree: Tree) -> Tree:
        ids = [message.id for message in tree.messages]
        if self._taken("conversation", [tree.conversation.id]):
            return _renamed(tree, new_id(), {each: new_id() for each in ids})
        if len(set(ids)) < len(ids) or not self._batch_ids.isdisjoint(ids) or self._taken("message", ids):
            return _renamed(tree, tree.conversation.id, {each: new_id() for each in ids})
        return tree

    def _taken(self, table: str, ids: list[str]) -> bool:
        query = f"SELECT 1 FROM {table} WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1"  # noqa: S608 - two names
        return self._reader.execute(query, (json.dumps(ids),)).fetchone() is not None

    def _placed(self, folders: dict[str, Folder]) -> list[Statement]:
        here = dict(self._reader.execute("SELECT id, id FROM folder"))
        by_name: dict[str, str] = dict(self._reader.execute("SELECT name, id FROM folder"))
        statements: list[Statement] = []
        for talk_id, wanted in self._folder_of.items():
            folder = folders.get(wanted)
            if wanted not in here and folder is not None:
                here[wanted] = by_name.get(folder.name, wanted)
                if here[wanted] == wanted:
                    statements.append((ADD_FOLDER, (folder.id, folder.name, folder.created_at)))
                    by_name[folder.name] = wanted
                    self.folders.append(folder)
            if wanted in here:
                statements.append((_PLACE, (here[wanted], talk_id)))
        return statements


def _said(message: StoredMessage) -> tuple[Any, ...]:
    return message.role, message.content, message.attachments


def _renamed(tree: Tree, talk_id: str, ids: dict[str, str]) -> Tree:
    talk: Conversation = replace(tree.conversation, id=talk_id, leaf_id=ids.get(tree.conversation.leaf_id or ""))
    messages = tuple(
        replace(message, id=ids[message.id], conversation_id=talk_id, parent_id=ids.get(message.parent_id or ""))
        for message in tree.messages
    )
    return Tree(talk, messages, {ids[at]: text for at, text in tree.traces.items() if at in ids})
