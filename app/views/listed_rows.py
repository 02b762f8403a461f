"""Rows of a list that is chosen from, as a Qt model: what can be chosen, with headings and sentences between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAbstractItemView

Index = QModelIndex | QPersistentModelIndex


class Listed(Protocol):
    """One row."""

    @property
    def id(self) -> str:
        """What is chosen by it; empty for what cannot be chosen."""
        ...

    @property
    def label(self) -> str:
        """What it says first."""
        ...

    @property
    def detail(self) -> str:
        """More about it, quietly; may be empty."""
        ...

    @property
    def hint(self) -> str:
        """At the right end, quietly; may be empty."""
        ...


Row = TypeVar("Row", bound=Listed)


class ListedRows(QAbstractListModel, Generic[Row]):
    """A screen reader is told all that a row says."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def show(self, rows: Sequence[Row]) -> None:
        """Take other rows; where they are the same things, what is chosen and scrolled stays."""
        fresh = tuple(rows)
        if [row.id or row.label for row in fresh] == [row.id or row.label for row in self.rows]:
            self.rows = fresh
            if fresh:
                self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
            return
        self.beginResetModel()
        self.rows = fresh
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (row.label, row.detail, row.hint) if part)
        return row.label if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.rows[index.row()].id:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags


def announce_current(view: QAbstractItemView) -> None:
    """Say the row that is marked to a screen reader, whose focus is in the field beside the list."""
    index = view.currentIndex()
    if index.isValid():
        said = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, said))
