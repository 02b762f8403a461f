"""The conversations as a Qt model for the list: texts, flags, renaming, dragging. Wishes go out, lists come in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.i18n import translate
from app.views import words
from app.views.controls import plain_tip
from app.views.conversation_rows import Row

ROW_ROLE: Final = int(Qt.ItemDataRole.UserRole)
MIME: Final = "application/x-loquat-conversation"
Index = QModelIndex | QPersistentModelIndex
_READY = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FLAGS: Final = {
    "heading": Qt.ItemFlag.ItemIsDropEnabled,
    "pinned": Qt.ItemFlag.ItemIsDropEnabled,
    "folder": _READY | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDropEnabled,
    "conversation": _READY | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsDropEnabled,
    "archive": _READY | Qt.ItemFlag.ItemIsDropEnabled,
}


class ConversationModel(QAbstractListModel):
    """Rows for a QListView. Renaming and dropping go out as wishes; the list changes when the new one comes in."""

    rename_requested = Signal(str, str)
    folder_renamed = Signal(str, str)
    dropped = Signal(str, object)  # id of a conversation, the Row that it was dropped on or None

    def __init__(self, parent: QObject | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._clock = clock
        self._rows: tuple[Row, ...] = ()
        self._where: dict[str, int] = {}

    @property
    def now(self) -> float:
        """Seconds since the epoch, for relative times."""
        return self._clock()

    def show(self, rows: Sequence[Row]) -> bool:
        """Show other rows; where all stand in their old places only those that changed are drawn again.

        Returns:
            Whether rows came, went or moved.
        """
        new, old = tuple(rows), self._rows
        same_places = len(new) == len(old) and all(a.key == b.key for a, b in zip(new, old, strict=True))
        if same_places:
            self._rows = new
            for place, (a, b) in enumerate(zip(new, old, strict=True)):
                if a != b:
                    self.dataChanged.emit(self.index(place), self.index(place))
            return False
        self.beginResetModel()
        self._rows = new
        self._where = {row.key: place for place, row in enumerate(new)}
        self.endResetModel()
        return True

    def index_of(self, key: str) -> QModelIndex:
        """The row of a conversation or folder by its id; an invalid index if it is not listed."""
        row = self._where.get(key)
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
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row, self._clock())
        if role == Qt.ItemDataRole.ToolTipRole and row.conversation is not None:
            return plain_tip(row.text)
        return None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:  # noqa: ANN401
        row = self._rows[index.row()] if index.isValid() else None
        name = " ".join(str(value).split())
        if row is None or role != Qt.ItemDataRole.EditRole or not name:
            return False
        if row.conversation is not None and name != row.conversation.title:
            self.rename_requested.emit(row.key, name)
        elif row.kind == "folder" and name != row.text:
            self.folder_renamed.emit(row.key, name)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled  # the empty place below the rows
        return _FLAGS[self._rows[index.row()].kind]

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        ids = [row.key for row in map(self.row, indexes) if row.conversation is not None]
        if ids:
            data.setData(MIME, ids[0].encode())
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not data.hasFormat(MIME):
            return False
        target = self.row(parent) if parent.isValid() else None
        self.dropped.emit(bytes(data.data(MIME).data()).decode(), target)
        return False  # what was dragged is not to be removed: the new list says where it stands


def spoken(row: Row, now: float) -> str:
    """What a screen reader says of a row."""
    if row.kind == "archive":
        return translate("conversation_model", "Archived chats: {count}").format(count=row.holds)
    if row.kind == "folder":
        state = translate("conversation_model", "folded") if row.folded else translate("conversation_model", "open")
        text = translate("conversation_model", "Folder {name}, chats: {count}, {state}")
        return text.format(name=row.text, count=row.holds, state=state)
    if row.conversation is None:
        return row.text
    if row.busy:
        return translate("conversation_model", "{title}, an answer is being written").format(title=row.text)
    when = words.ago(row.conversation.updated_at, now)
    return translate("conversation_model", "{title}, {when}").format(title=row.text, when=when)
