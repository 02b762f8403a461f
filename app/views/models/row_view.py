"""The list of the model dialog: rows of two lines under headings, with a bar where something is on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import (
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.listed_rows import Index, ListedRows, announce_current
from app.views.models.model_rows import Row
from app.views.row_list import RowList

_ROW: Final = 52
_HEADING: Final = 34
_SIDE: Final = 10
_RADIUS: Final = 8
_DOT: Final = 7


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, model: ListedRows[Row], view: QWidget) -> None:
        super().__init__(view)
        self._theme = theme
        self._rows = model
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = self._rows.rows[index.row()]
        if row.id:
            return QSize(0, self._theme.line(_ROW))
        if not row.sentence:
            return QSize(0, self._theme.line(_HEADING))
        room = QRect(0, 0, max(40, self._view.width() - 4 * _SIDE), 1000)
        metrics = QFontMetrics(self._theme.font("small"))
        return QSize(0, metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, row.label).height() + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = self._rows.rows[index.row()]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room: QRect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if not row.id:
            self._quiet(painter, room, row)
        else:
            self._ground(painter, option)
            self._two_lines(painter, room, row)
        painter.restore()

    def _quiet(self, painter: QPainter, room: QRect, row: Row) -> None:
        painter.setFont(self._theme.font("small" if row.sentence else "figure"))
        painter.setPen(self._theme.color("muted"))
        if row.sentence:
            painter.drawText(room.adjusted(0, 2, 0, 0), int(Qt.TextFlag.TextWordWrap), row.label)
        else:
            low = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
            painter.drawText(room.adjusted(0, 0, 0, -6), int(low), row.label)

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        focused = chosen and bool(option.state & QStyle.StateFlag.State_HasFocus)
        if not (chosen or hovered):
            return
        painter.setPen(QPen(self._theme.color("accent"), 1) if focused else Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent_wash" if chosen else "hover"))
        painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5), _RADIUS, _RADIUS)

    def _two_lines(self, painter: QPainter, room: QRect, row: Row) -> None:
        half = room.height() // 2
        upper, lower = room.adjusted(0, 4, 0, -half), room.adjusted(0, half, 0, -5)
        taken = self._hint(painter, upper, row)
        self._line(painter, upper.adjusted(0, 0, -taken, 0), row.label, "list", "text")
        self._line(painter, lower, row.detail, "small", "muted")
        if row.share is not None:
            self._bar(painter, QRectF(room.left(), room.bottom() - 4, room.width(), 3), row.share)

    def _hint(self, painter: QPainter, room: QRect, row: Row) -> int:
        """Draw what stands at the right end; the pixels it takes."""
        if not row.hint:
            return 0
        painter.setFont(self._theme.font("small"))
        width = painter.fontMetrics().horizontalAdvance(row.hint)
        painter.setPen(self._theme.color("muted"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, int(right), row.hint)
        if row.dot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(row.dot))
            centre = QPointF(room.right() - width - _DOT - 1, room.center().y() + 1)
            painter.drawEllipse(centre, _DOT / 2, _DOT / 2)
        return width + 3 * _DOT

    def _line(self, painter: QPainter, room: QRect, text: str, role: str, tone: str) -> None:
        painter.setFont(self._theme.font(role))  # type: ignore[arg-type]
        painter.setPen(self._theme.color(tone))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, room.width()))
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), shown)

    def _bar(self, painter: QPainter, box: QRectF, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(box, 1.5, 1.5)
        painter.setBrush(self._theme.color("accent"))
        painter.drawRoundedRect(QRectF(box.left(), box.top(), box.width() * min(1.0, share), 3), 1.5, 1.5)


class ModelRows(RowList):
    """One row is chosen at a time; the arrow keys pass headings by. Enter and a double click say `activated_id`."""

    picked = Signal(str)  # the id of the row that is chosen now; empty for none
    activated_id = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(translate("row_view", "Models"), parent)
        self._rows = ListedRows[Row](self)
        self.setModel(self._rows)
        self.setItemDelegate(_Delegate(theme, self._rows, self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.selectionModel().currentChanged.connect(lambda *_: self.picked.emit(self.current_id))
        self.doubleClicked.connect(lambda _index: self.activated_id.emit(self.current_id))

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, headings among them."""
        return self._rows.rows

    @property
    def current_id(self) -> str:
        """Of the row that is chosen."""
        index = self.currentIndex()
        return self.rows[index.row()].id if index.isValid() and index.row() < len(self.rows) else ""

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; what was chosen stays chosen while it is there, else the first is."""
        before, kept = self.current_id, self.verticalScrollBar().value()
        self._rows.show(rows)
        if before and before == self.current_id:
            return
        if self.pick(before):
            self.verticalScrollBar().setValue(kept)
        else:
            self.pick(next((row.id for row in rows if row.id), ""))

    def pick(self, row_id: str) -> bool:
        """Choose a row; whether it is there."""
        places = [number for number, row in enumerate(self.rows) if row.id and row.id == row_id]
        if places:
            self.setCurrentIndex(self._rows.index(places[0]))
        return bool(places)

    def step(self, steps: int) -> None:
        """Choose the row so many on, past headings."""
        ids = [row.id for row in self.rows if row.id]
        if self.current_id in ids:
            self.pick(ids[max(0, min(len(ids) - 1, ids.index(self.current_id) + steps))])

    def announce(self) -> None:
        """Say the chosen row to a screen reader, whose focus is in the field."""
        announce_current(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_id:
            self.activated_id.emit(self.current_id)
        elif step and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.step(step)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()  # sentences are broken into other lines
