"""What was deleted and can be brought back for a minute: conversations, and messages of conversations."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.branch import Deleted
from app.records import Conversation
from app.store import Store

UNDO_MS: Final = 60_000

Thing = Conversation | Deleted


class Trash(QObject):
    """Is emptied when nothing was put into it for a minute; what is in it at the end goes with the next start.

    Args:
        store: Where it is hidden already.
    """

    emptied = Signal(object)  # tuple of the ids of conversations that are gone for good

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._things: list[Thing] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(UNDO_MS)
        self._timer.timeout.connect(self.empty)

    def put(self, thing: Thing) -> None:
        """Keep it for a minute more."""
        self._things.append(thing)
        self._timer.start()

    def holds(self, thing: Thing) -> bool:
        """Whether it can be brought back."""
        return thing in self._things

    def take(self, thing: Thing) -> None:
        """It was brought back."""
        self._things.remove(thing)

    def empty(self) -> None:
        """Remove everything for good."""
        self._timer.stop()
        gone = tuple(thing.id for thing in self._things if isinstance(thing, Conversation))
        self._things.clear()
        self._store.purge_deleted()
        self.emptied.emit(gone)

    def close(self) -> None:
        """Let it be; the next start empties it."""
        self._timer.stop()
