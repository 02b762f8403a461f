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
from app.views.controls import plain_tip
from app.views.dialogs import fit
from app.views.inspector import history_values

_TEXT_COLUMNS: Final = 4
_MODEL_COLUMN: Final = 2
_ROW: Final = 28
_PADDING: Final = 16  # as in window.qss
_ARROW: Final = 14
_WIDEST: Final = 260  # of a column; longer titles end with an ellipsis
_MEASURED: Final = 100  # rows, beside those on view, that say how wide a column is
_LEFT: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT: Final = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
Index = QModelIndex | QPersistentModelIndex


class TurnsModel(QAbstractTableModel):
    """One row a turn. It sorts by itself, and makes the words of a row when it is shown: there may be thousands."""

    def __init__(self, turns: Sequence[LoggedTurn], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns = list(turns)
        self._headings = history_values.headings()
        self._keys = {turn.message_id: history_values.sort_keys(turn) for turn in turns}
        self._cells: dict[str, tuple[str, ...]] = {}  # by the id of the answer

    def turn(self, row: int) -> LoggedTurn:
        """The turn in a row."""
        return self._turns[row]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; what is not known comes last either way."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        marked = [self._turns[index.row()].message_id for index in kept]
        known = [turn for turn in self._turns if self._key(turn, column) != history_values.NOT_KNOWN]
        unknown = [turn for turn in self._turns if self._key(turn, column) == history_values.NOT_KNOWN]
        known.sort(key=lambda turn: self._key(turn, column), reverse=order == Qt.SortOrder.DescendingOrder)
        self._turns = known + unknown
        rows = {turn.message_id: row for row, turn in enumerate(self._turns)}
        moved = [self.index(rows[name], index.column()) for name, index in zip(marked, kept, strict=True)]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _key(self, turn: LoggedTurn, column: int) -> Any:  # noqa: ANN401 - texts in some columns, numbers in others
        return self._keys[turn.message_id][column]

    def _words(self, row: int) -> tuple[str, ...]:
        turn = self._turns[row]
        if turn.message_id not in self._cells:
            self._cells[turn.message_id] = history_values.cells(turn, _when(turn.at))
        return self._cells[turn.message_id]

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._turns)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._headings)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:  # noqa: ANN401
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(index.row())[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == _MODEL_COLUMN:
            return plain_tip(self._turns[index.row()].model)
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
    """Its arrow points down where the largest comes first, and takes little room; styles have it otherwise."""

    def sectionSizeFromContents(self, section: int) -> QSize:
        words = self.model().headerData(section, self.orientation(), Qt.ItemDataRole.DisplayRole)
        width = self.fontMetrics().horizontalAdvance(str(words)) + _PADDING + _ARROW
        return QSize(width, super().sectionSizeFromContents(section).height())

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
        fit(self, QSize(theme.wide(1140), theme.wide(560)))
        self._model = TurnsModel(turns, self)
        self._table = QTableView(self)
        self._table.setObjectName("turns")
        self._table.setAccessibleName(self.windowTitle())
        self._table.setFont(theme.font("small"))
        self._table.setModel(self._model)
        self._set_up(theme)
        self._table.activated.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(self._table)

    @property
    def table(self) -> QTableView:
        """The table itself."""
        return self._table

    def _set_up(self, theme: Theme) -> None:
        table = self._table
        header = _Header(Qt.Orientation.Horizontal, table)
        header.setFont(theme.font("small"))
        header.setSectionsClickable(True)
        table.setHorizontalHeader(header)
        header.setSortIndicator(0, Qt.SortOrder.DescendingOrder)  # before it is switched on, which sorts
        table.setSortingEnabled(True)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.line(_ROW))
        header.setMinimumSectionSize(56)
        header.setResizeContentsPrecision(_MEASURED)  # of thousands each cell would be looked at for a second or two
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setMaximumSectionSize(theme.wide(_WIDEST))
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        table.selectRow(0)  # where the keys begin; the row says so, not a frame around one of its cells

    def _choose(self, index: QModelIndex) -> None:
        turn = self._model.turn(index.row())
        self.turn_chosen.emit(turn.conversation_id, turn.message_id)


def _when(at: float) -> str:
    when = datetime.fromtimestamp(at)
    return f"{words.day(when.date(), datetime.now().date())} {when:%H:%M}"
