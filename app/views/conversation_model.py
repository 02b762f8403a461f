"""The conversations as rows of a list: a heading for each span of time, then its conversations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.records import Conversation
from app.views import words

UNTITLED: Final = "New chat"
ROW_ROLE: Final = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A heading (no conversation) or a conversation.

    Attributes:
        busy: An answer is being written in it.
    """

    text: str
    conversation: Conversation | None = None
    busy: bool = False


def rows_of(conversations: Sequence[Conversation], busy: frozenset[str], now: float) -> tuple[Row, ...]:
    """Headings and conversations, latest first."""
    rows: list[Row] = []
    for heading, members in groupby(conversations, key=lambda each: words.group(each.updated_at, now)):
        rows.append(Row(heading))
        rows.extend(Row(each.title or UNTITLED, each, each.id in busy) for each in members)
    return tuple(rows)


class ConversationModel(QAbstractListModel):
    """Rows for a QListView. Renaming goes out as a wish; the list changes when the new list comes in."""

    rename_requested = Signal(str, str)

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._clock = clock
        self._rows: tuple[Row, ...] = ()
        self._where: dict[str, int] = {}

    @property
    def now(self) -> float:
        """Seconds since the epoch, for relative times."""
        return self._clock()

    def show(self, conversations: Sequence[Conversation], busy: frozenset[str]) -> None:
        """Show another list; rows that only changed their text keep their place, selection and editor."""
        rows = rows_of(conversations, busy, self._clock())
        same_places = [_key(row) for row in rows] == [_key(row) for row in self._rows]
        if not same_places:
            self.beginResetModel()
        self._rows = rows
        self._where = {row.conversation.id: i for i, row in enumerate(rows) if row.conversation is not None}
        if not same_places:
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def index_of(self, conversation_id: str) -> QModelIndex:
        """The row of a conversation; an invalid index if it is not listed."""
        row = self._where.get(conversation_id)
        return QModelIndex() if row is None else self.index(row)

    def row(self, index: Index) -> Row:
        """The row at a valid index."""
        return self._rows[index.row()]

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:  # noqa: ANN401
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.text
        if role == Qt.ItemDataRole.ToolTipRole and row.conversation is not None:
            return row.text
        return row if role == ROW_ROLE else None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:  # noqa: ANN401
        conversation = self._rows[index.row()].conversation if index.isValid() else None
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or conversation is None or not title:
            return False
        if title != conversation.title:
            self.rename_requested.emit(conversation.id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self._rows[index.row()].conversation is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable


def _key(row: Row) -> str:
    return row.conversation.id if row.conversation is not None else f"heading {row.text}"
