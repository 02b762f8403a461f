"""What is typed into each conversation and not sent yet: kept in memory at once, on the disk a moment later."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer

from app.draft import Draft
from app.store import Store

SAVE_MS: Final = 800
NEW_CHAT: Final = ""  # the id under which the chat is known that nothing was asked in yet


class Drafts(QObject):
    """One draft a conversation.

    Args:
        store: Keeps them over a restart.
    """

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._drafts: dict[str, Draft] = {}
        self._queued: dict[str, Draft] = {}
        self._unsaved: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_MS)
        self._timer.timeout.connect(self.save)

    def get(self, conversation_id: str) -> Draft:
        """The draft of a conversation.

        Raises:
            StoreError: The database cannot be read.
        """
        if conversation_id not in self._drafts:
            self._drafts[conversation_id] = Draft(*self._store.draft(conversation_id))
        return self._drafts[conversation_id]

    def set(self, conversation_id: str, draft: Draft) -> None:
        """Take a draft as it is now."""
        if draft != self._drafts.get(conversation_id):
            self._drafts[conversation_id] = draft
            self._save_soon(conversation_id)

    def set_queued(self, conversation_id: str, queued: Draft | None) -> None:
        """Take a message that waits to be sent: if the program is killed before it is, it is in the draft."""
        self._queued[conversation_id] = queued or Draft()
        self._save_soon(conversation_id)

    def move_new(self, conversation_id: str) -> None:
        """The new chat is this conversation now."""
        draft = self._drafts.get(NEW_CHAT, Draft())
        self.set(NEW_CHAT, Draft())
        self.set(conversation_id, draft)

    def save(self) -> None:
        """Save what is not saved yet."""
        self._timer.stop()
        for conversation_id in self._unsaved:
            draft = self._queued.get(conversation_id, Draft()).before(self.get(conversation_id))
            self._store.save_draft(conversation_id, draft.text, draft.attachments)
        self._unsaved.clear()

    def _save_soon(self, conversation_id: str) -> None:
        self._unsaved.add(conversation_id)
        if not self._timer.isActive():
            self._timer.start()
