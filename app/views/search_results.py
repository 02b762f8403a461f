"""The list of what a search found: titles, and under them the words around each match, with the matches marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.i18n import translate
from app.plain_text import utf16_spans
from app.search_result import SearchResult
from app.theme import FontRole, Theme
from app.views import words
from app.views.controls import claim_escape
from app.views.found_rows import FoundRow, found_rows
from app.views.row_list import RowList

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE: Final = int(Qt.ItemDataRole.UserRole)
_HEIGHTS: Final = {"title": 34, "hit": 66, "more": 52}
_LINES: Final = 2
_INSET: Final = 8
_INDENT: Final = 10  # of a hit under its title
_RADIUS: Final = 8
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class FoundModel(QAbstractListModel):
    """Rows for a QListView."""

    def __init__(self, clock: Callable[[], float], parent: QObject) -> None:
        super().__init__(parent)
        self._clock = clock
        self._rows: tuple[FoundRow, ...] = ()

    def show(self, rows: tuple[FoundRow, ...]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @property
    def rows(self) -> tuple[FoundRow, ...]:
        """What is shown."""
        return self._rows

    @property
    def now(self) -> float:
        """Seconds since the epoch, for relative times."""
        return self._clock()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:  # noqa: ANN401
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row, self._clock())
        return row if role == ROW_ROLE else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self._rows[index.row()].hit is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


def who(row: FoundRow) -> str:
    """Who said what was found, in a word."""
    if row.hit is None or not row.hit.message_id:
        return ""
    if row.hit.role == "user":
        return translate("search_results", "You")
    return translate("search_results", "Answer")


def spoken(row: FoundRow, now: float) -> str:
    """What a screen reader says of a row."""
    if row.hit is None:
        return row.text
    when = words.ago(row.hit.created_at, now)
    if row.kind == "title":
        return translate("search_results", "Chat {title}, {when}").format(title=row.text, when=when)
    said = translate("search_results", "{who}: {text}, {when}")
    return said.format(who=who(row), text=row.text, when=when)


class FoundDelegate(QStyledItemDelegate):
    """Draws titles and hits."""

    def __init__(self, theme: Theme, model: FoundModel, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: FoundRow = index.data(ROW_ROLE)
        # Three lines of text have to fit also where rows are low.
        height = self._theme.line if row.kind == "title" else self._theme.wide
        return QSize(0, height(_HEIGHTS[row.kind]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: FoundRow = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        self._paint_ground(painter, option, row)
        if row.kind == "title":
            self._paint_title(painter, rect, row)
        elif row.kind == "hit":
            self._paint_hit(painter, rect.adjusted(_INDENT, 6, 0, -6), row)
        else:
            painter.setFont(self._theme.font("small"))
            painter.setPen(self._theme.color("muted"))
            painter.drawText(rect, int(_LEFT | Qt.TextFlag.TextWordWrap), row.text)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, row: FoundRow) -> None:
        state = option.state
        chosen, hovered = state & QStyle.StateFlag.State_Selected, state & QStyle.StateFlag.State_MouseOver
        if row.hit is None or not (chosen or hovered):
            return
        painter.setBrush(self._theme.color("hover"))
        painter.setPen(QPen(self._theme.color("accent"), 1.25) if chosen else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)

    def _paint_title(self, painter: QPainter, rect: QRect, row: FoundRow) -> None:
        assert row.hit is not None  # noqa: S101 - titles have one
        used = self._paint_right(painter, rect, words.ago(row.hit.created_at, self._model.now))
        room = rect.adjusted(0, 0, -used, 0)
        self._paint_lines(painter, room, row, "button", 1)

    def _paint_hit(self, painter: QPainter, rect: QRect, row: FoundRow) -> None:
        assert row.hit is not None  # noqa: S101 - hits have one
        painter.setFont(self._theme.font("small"))
        line = QRect(rect.left(), rect.top(), rect.width(), painter.fontMetrics().height())
        self._paint_right(painter, line, words.ago(row.hit.created_at, self._model.now))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(line, int(_LEFT), who(row))
        text = rect.adjusted(0, line.height() + 1, 0, 0)
        self._paint_lines(painter, text, row, "small", _LINES)

    def _paint_right(self, painter: QPainter, rect: QRect, text: str) -> int:
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(rect, int(_RIGHT), text)
        return painter.fontMetrics().horizontalAdvance(text) + 10

    def _paint_lines(self, painter: QPainter, rect: QRect, row: FoundRow, role: FontRole, most: int) -> None:
        """Draw a row's text in so many lines at most, its matches on a wash, an ellipsis where it goes on."""
        text, font = row.text, self._theme.font(role)
        layout, last = self._laid_out(text, row, font, rect.width(), most)
        if last.isValid() and last.textStart() + last.textLength() < len(text):
            rest = QFontMetricsF(font).elidedText(text[last.textStart() :], Qt.TextElideMode.ElideRight, rect.width())
            layout, last = self._laid_out(text[: last.textStart()] + rest, row, font, rect.width(), most)
        height = last.y() + last.height() if last.isValid() else 0.0
        painter.setPen(self._theme.color("text"))
        layout.draw(painter, QPointF(rect.left(), rect.top() + ((rect.height() - height) / 2 if most == 1 else 0)))

    def _laid_out(self, text: str, row: FoundRow, font: QFont, width: int, most: int) -> tuple[QTextLayout, QTextLine]:
        """A text broken into lines, and the last of those that are shown."""
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([self._mark(start, end) for start, end in utf16_spans(text, row.spans)])
        layout.beginLayout()
        last, height = QTextLine(), 0.0
        for _ in range(most):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
            last = line
        layout.endLayout()
        return layout, last

    def _mark(self, start: int, end: int) -> QTextLayout.FormatRange:
        mark = QTextLayout.FormatRange()
        mark.start, mark.length = start, end - start
        form = QTextCharFormat()
        form.setBackground(QBrush(self._theme.color("selection")))
        form.setForeground(QBrush(self._theme.color("text")))
        mark.format = form
        return mark


class SearchResults(RowList):
    """What was found. The keyboard may stay in the search field, which hands its arrows on."""

    hit_opened = Signal(str, str, str)  # conversation, message or "", query
    left = Signal()  # Escape

    def __init__(self, theme: Theme, clock: Callable[[], float], parent: QWidget) -> None:
        super().__init__(translate("search_results", "What was found"), parent)
        self._query = ""
        self._model = FoundModel(clock, self)
        self.setModel(self._model)
        self.setItemDelegate(FoundDelegate(theme, self._model, self))
        self.clicked.connect(self._open)

    @property
    def found(self) -> FoundModel:
        """The model."""
        return self._model

    def show_result(self, result: SearchResult) -> None:
        """Show what was found; the first place is chosen, so that Enter opens it."""
        self._query = result.query
        self._model.show(found_rows(result))
        self.step(Qt.Key.Key_Home)

    def step(self, key: Qt.Key) -> None:
        """Go where an arrow key would."""
        actions = {
            Qt.Key.Key_Up: self.CursorAction.MoveUp,
            Qt.Key.Key_Down: self.CursorAction.MoveDown,
            Qt.Key.Key_PageUp: self.CursorAction.MovePageUp,
            Qt.Key.Key_PageDown: self.CursorAction.MovePageDown,
            Qt.Key.Key_Home: self.CursorAction.MoveHome,
        }
        index = self.moveCursor(actions[key], Qt.KeyboardModifier.NoModifier)
        if index.isValid():
            self.setCurrentIndex(index)

    def open_current(self) -> None:
        """Open the place that is chosen."""
        self._open(self.currentIndex())

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_current()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        row: FoundRow | None = index.data(ROW_ROLE) if index.isValid() else None
        if row is not None and row.hit is not None:
            # A title that was not found itself stands for the first place under it.
            self.hit_opened.emit(row.hit.conversation_id, row.hit.message_id, self._query)
