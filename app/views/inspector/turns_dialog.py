"""Every turn in a table that can be sorted by each of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHeaderView,
    QStyleOptionHeader,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.i18n import translate
from app.theme import Theme
from app.turn_log import LoggedTurn
from app.views import words
from app.views.dialogs import fit
from app.views.inspector import history_values

_SORT_ROLE: Final = int(Qt.ItemDataRole.UserRole)
_TEXT_COLUMNS: Final = 4
_MODEL_COLUMN: Final = 2
_LEFT: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT: Final = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
Index = QModelIndex | QPersistentModelIndex


class TurnsModel(QAbstractTableModel):
    """One row a turn."""

    def __init__(self, turns: Sequence[LoggedTurn], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns = tuple(turns)
        self._headings = history_values.headings()
        self._cells = [history_values.cells(turn, _when(turn.at)) for turn in turns]
        self._keys = [history_values.sort_keys(turn) for turn in turns]

    def turn(self, row: int) -> LoggedTurn:
        """The turn in a row."""
        return self._turns[row]

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._turns)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._headings)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:  # noqa: ANN401
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cells[index.row()][index.column()]
        if role == _SORT_ROLE:
            return self._keys[index.row()][index.column()]
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == _MODEL_COLUMN:
            return self._turns[index.row()].model
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() >= _TEXT_COLUMNS:
            return _RIGHT
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:  # noqa: ANN401
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section >= _TEXT_COLUMNS else _LEFT
        return None


class _Header(QHeaderView):
    """Its arrow points down where the largest comes first; styles draw it the other way round."""

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, index: int) -> None:
        super().initStyleOptionForIndex(option, index)
        arrow = QStyleOptionHeader.SortIndicator
        turned = {arrow.SortUp: arrow.SortDown, arrow.SortDown: arrow.SortUp}
        option.sortIndicator = turned.get(option.sortIndicator, option.sortIndicator)


class TurnsDialog(QDialog):
    """The table; a double click or Enter shows that turn."""

    turn_chosen = Signal(str, str)  # conversation id, message id

    def __init__(self, theme: Theme, turns: Sequence[LoggedTurn], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(translate("turns_dialog", "All turns"))
        fit(self, QSize(theme.wide(1040), theme.wide(560)))
        self._model = TurnsModel(turns, self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._model)
        self._sorted.setSortRole(_SORT_ROLE)
        self._table = QTableView(self)
        self._table.setObjectName("turns")
        self._table.setAccessibleName(self.windowTitle())
        self._table.setFont(theme.font("small"))
        self._table.setModel(self._sorted)
        self._set_up()
        self._table.activated.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(self._table)

    @property
    def table(self) -> QTableView:
        """The table itself."""
        return self._table

    def _set_up(self) -> None:
        table = self._table
        header = _Header(Qt.Orientation.Horizontal, table)
        header.setSectionsClickable(True)
        table.setHorizontalHeader(header)
        table.setSortingEnabled(True)
        table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(28)
        header.setMinimumSectionSize(56)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)

    def _choose(self, index: QModelIndex) -> None:
        turn = self._model.turn(self._sorted.mapToSource(index).row())
        self.turn_chosen.emit(turn.conversation_id, turn.message_id)


def _when(at: float) -> str:
    when = datetime.fromtimestamp(at)
    return f"{words.day(when.date(), datetime.now().date())} {when:%H:%M}"
