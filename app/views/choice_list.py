"""A list to choose from while the keyboard stays in a field above or below it: the palette's, and the slash menu's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.plain_text import utf16_spans
from app.theme import FontRole, Theme
from app.views.listed_rows import Index, ListedRows, announce_current

ROW_HEIGHT: Final = 34
HEADING_HEIGHT: Final = 28
_SIDE: Final = 12
_GAP: Final = 12
_RADIUS: Final = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """One row.

    Attributes:
        id: Told when it is chosen; empty for a heading.
        label: What it is.
        spans: Parts (start, end) of the label that stand out.
        detail: More about it, quietly, after the label.
        hint: At the right end, quietly.
    """

    id: str
    label: str
    spans: tuple[tuple[int, int], ...] = ()
    detail: str = ""
    hint: str = ""


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, model: ListedRows[Choice], parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, ROW_HEIGHT if self._model.rows[index.row()].id else HEADING_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = self._model.rows[index.row()]
        room: QRect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        painter.save()
        if not row.id:
            self._write(painter, room.adjusted(0, 4, 0, 0), row.label, "small")
        else:
            if option.state & QStyle.StateFlag.State_Selected:
                self._paint_ground(painter, option.rect)
            hint_width = self._write(painter, room, row.hint, "small", Qt.AlignmentFlag.AlignRight)
            self._paint_label(painter, room.adjusted(0, 0, -(hint_width + _GAP) if row.hint else 0, 0), row)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent_wash"))
        painter.drawRoundedRect(QRectF(rect), _RADIUS, _RADIUS)

    def _paint_label(self, painter: QPainter, room: QRect, row: Choice) -> None:
        font = self._theme.font("list")
        shown = QFontMetrics(font).elidedText(row.label, Qt.TextElideMode.ElideRight, room.width())
        layout = QTextLayout(shown, font)
        layout.setFormats([self._standing_out(start, end) for start, end in utf16_spans(row.label, row.spans)])
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        painter.setPen(self._theme.color("text"))
        layout.draw(painter, room.topLeft().toPointF() + _down((room.height() - line.height()) / 2))
        left = int(line.naturalTextWidth()) + _GAP
        self._write(painter, room.adjusted(left, 0, 0, 0), row.detail, "small")

    def _standing_out(self, start: int, end: int) -> QTextLayout.FormatRange:
        part = QTextLayout.FormatRange()
        part.start, part.length = start, end - start
        look = QTextCharFormat()
        look.setForeground(self._theme.color("link"))
        look.setFontWeight(self._theme.font("title").weight())
        part.format = look
        return part

    def _write(
        self,
        painter: QPainter,
        room: QRect,
        text: str,
        role: FontRole,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> int:
        """Draw one quiet line; its width."""
        painter.setFont(self._theme.font(role))
        painter.setPen(self._theme.color("muted"))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, room.width()))
        painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
        return painter.fontMetrics().horizontalAdvance(shown)


class ChoiceList(QListView):
    """The rows; one is always marked. Keys come from the field that has the keyboard, by `step` and `choose`."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._choices = ListedRows[Choice](self)
        self.setObjectName("choices")
        self.setAccessibleName(name)
        self.setModel(self._choices)
        self.setItemDelegate(_Delegate(theme, self._choices, self))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.clicked.connect(self._choose)
        self.entered.connect(self._mark)

    @property
    def rows(self) -> tuple[Choice, ...]:
        """All rows, headings among them."""
        return self._choices.rows

    @property
    def current(self) -> Choice | None:
        """The marked row."""
        index = self.currentIndex()
        return self.rows[index.row()] if index.isValid() else None

    def show_rows(self, rows: Sequence[Choice]) -> None:
        """Show other rows; the first that can be chosen is marked."""
        self._choices.show(rows)
        first = next((number for number, row in enumerate(rows) if row.id), None)
        if first is not None:
            self.setCurrentIndex(self._choices.index(first))
        self.scrollToTop()

    def step(self, steps: int) -> None:
        """Mark the row so many on, past headings; from the last on to the first."""
        places = [number for number, row in enumerate(self.rows) if row.id]
        if places and (current := self.currentIndex()).isValid():
            at = (places.index(current.row()) + steps) % len(places)
            self._mark(self._choices.index(places[at]))
            if at == 0:
                self.scrollToTop()
            self.announce()

    def choose(self) -> None:
        """Choose the marked row."""
        self._choose(self.currentIndex())

    def announce(self) -> None:
        """Say the marked row to a screen reader, whose focus is in the field."""
        announce_current(self)

    def height_of_rows(self) -> int:
        """Pixels that all rows take."""
        return sum(ROW_HEIGHT if row.id else HEADING_HEIGHT for row in self.rows)

    def _mark(self, index: QModelIndex) -> None:
        if self.rows[index.row()].id:
            self.setCurrentIndex(index)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid() and self.rows[index.row()].id:
            self.chosen.emit(self.rows[index.row()].id)


def _down(pixels: float) -> QPointF:
    return QPointF(0, pixels)
