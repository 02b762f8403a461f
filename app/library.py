"""Which conversations and folders there are, and where each conversation stands."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.i18n import translate
from app.records import Conversation, Folder
from app.store import Store


class Library(QObject):
    """The list, the archive and the folders, as the store will have them a moment later.

    Args:
        store: Is told of every change.
    """

    changed = Signal()
    conversation_changed = Signal(object)  # Conversation: its title or its place
    refused = Signal(str)  # sentence: nothing was changed

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._conversations: dict[str, Conversation] = {}
        self._folders: dict[str, Folder] = {}
        self._sorted: dict[str, tuple[Conversation, ...]] = {}  # until something changes: there may be ten thousand

    def read(self) -> None:
        """Read all from the store.

        Raises:
            StoreError: The database cannot be read.
        """
        found = [*self._store.conversations(), *self._store.archived()]
        self._conversations = {conversation.id: conversation for conversation in found}
        self._folders = {folder.id: folder for folder in self._store.folders()}
        self._sorted.clear()

    def add(self, ids: Collection[str], folders: Sequence[Folder]) -> None:
        """Take conversations that were imported; what else there is may have changes that are not on the disk yet.

        Args:
            ids: Of the conversations, which are in the store.
            folders: Those that were made for them.

        Raises:
            StoreError: The database cannot be read.
        """
        found = [c for c in (*self._store.conversations(), *self._store.archived()) if c.id in ids]
        self._folders |= {folder.id: folder for folder in folders}
        for c in found:
            self._conversations[c.id] = c if c.folder_id in self._folders else replace(c, folder_id=None)
        self._sorted.clear()
        self.changed.emit()

    def conversations(self) -> tuple[Conversation, ...]:
        """Those in the list, the latest first."""
        if "listed" not in self._sorted:
            listed = (c for c in self._conversations.values() if c.archived_at is None)
            self._sorted["listed"] = tuple(sorted(listed, key=_asked, reverse=True))
        return self._sorted["listed"]

    def archived(self) -> tuple[Conversation, ...]:
        """Those that were put out of the list, the last one first."""
        if "archived" not in self._sorted:
            archived = (c for c in self._conversations.values() if c.archived_at is not None)
            self._sorted["archived"] = tuple(sorted(archived, key=_archived, reverse=True))
        return self._sorted["archived"]

    def folders(self) -> tuple[Folder, ...]:
        """All folders, by name."""
        return tuple(sorted(self._folders.values(), key=lambda folder: folder.name.casefold()))

    def get(self, conversation_id: str) -> Conversation | None:
        """A conversation of the list or the archive."""
        return self._conversations.get(conversation_id)

    def put(self, conversation: Conversation) -> None:
        """Take a conversation that is stored already, as it is now."""
        self._conversations[conversation.id] = conversation
        self._sorted.clear()
        self.changed.emit()

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation a title."""
        title = " ".join(title.split())
        if not title:
            self.refused.emit(translate("library", "A chat needs a title of at least one character."))
        elif self._change(conversation_id, title=title, titled=True):
            self._store.rename(conversation_id, title)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """Put a conversation above all others, or back among them."""
        if self._change(conversation_id, pinned=pinned):
            self._store.set_pinned(conversation_id, pinned)

    def archive(self, conversation_id: str, archived: bool) -> None:
        """Put a conversation out of the list, or back into it."""
        if self._change(conversation_id, archived_at=time.time() if archived else None):
            self._store.set_archived(conversation_id, archived)

    def move(self, conversation_id: str, folder_id: str | None) -> None:
        """Put a conversation into a folder; None takes it out."""
        known = folder_id if folder_id in self._folders else None
        if self._change(conversation_id, folder_id=known):
            self._store.set_folder(conversation_id, known)

    def add_folder(self, name: str) -> Folder | None:
        """Add an empty folder; None if that is no name."""
        name = self._folder_name(name)
        if not name:
            return None
        folder = Folder(name)
        self._folders[folder.id] = folder
        self._store.add_folder(folder)
        self.changed.emit()
        return folder

    def rename_folder(self, folder_id: str, name: str) -> None:
        """Give a folder another name."""
        name = self._folder_name(name)
        if name and folder_id in self._folders:
            self._folders[folder_id] = replace(self._folders[folder_id], name=name)
            self._store.rename_folder(folder_id, name)
            self.changed.emit()

    def delete_folder(self, folder_id: str) -> None:
        """Remove a folder; its conversations go back to the list."""
        if self._folders.pop(folder_id, None) is None:
            return
        self._store.delete_folder(folder_id)
        for conversation in [c for c in self._conversations.values() if c.folder_id == folder_id]:
            self._change(conversation.id, folder_id=None)
        self.changed.emit()

    def delete(self, conversation_id: str) -> Conversation | None:
        """Take a conversation out; None if there is no such one."""
        conversation = self._conversations.pop(conversation_id, None)
        if conversation is not None:
            self._sorted.clear()
            self._store.delete(conversation_id)
            self.changed.emit()
        return conversation

    def undelete(self, conversation: Conversation) -> None:
        """Undo `delete`."""
        self._store.restore(conversation.id)
        if conversation.folder_id not in self._folders:
            conversation = replace(conversation, folder_id=None)
        self.put(conversation)

    def _folder_name(self, name: str) -> str:
        name = " ".join(name.split())
        if not name:
            self.refused.emit(translate("library", "A folder needs a name of at least one character."))
        return name

    def _change(self, conversation_id: str, **values: Any) -> bool:  # noqa: ANN401 - fields of a conversation
        """Change a conversation here; whether there is such a one."""
        known = self._conversations.get(conversation_id)
        if known is not None:
            changed = replace(known, **values)
            self.conversation_changed.emit(changed)
            self.put(changed)
        return known is not None


def _asked(conversation: Conversation) -> tuple[float, str]:
    """The order of the list; a copy that was imported has the time of its original, and needs a place of its own."""
    return conversation.updated_at, conversation.id


def _archived(conversation: Conversation) -> tuple[float, str]:
    return conversation.archived_at or 0.0, conversation.id
