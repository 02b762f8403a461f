"""A text document drawn by a widget of its own size: no scrolling inside, no editing, selection set from outside."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QWidget

from app.blocks import TASK_DONE, TASK_OPEN, Block, Frames, Heading, Paragraph, plain_text
from app.plain_text import Query, searchable, utf16_length
from app.theme import Theme
from app.views.formulas import OBJECT
from app.views.rich_text import (
    CHIP_PADDING,
    chip_rects,
    cursor_x,
    formula_sources,
    is_right_to_left,
    new_document,
    range_rects,
)
from app.views.ticks import paint_tick

ITEM_INDENT: Final = 36  # room for a number of two digits
QUOTE_INDENT: Final = 18
_MARKER_GAP: Final = 9
_BAR: Final = 3
_BOX: Final = 13  # the side of a task's box
_CARET: Final = QSizeF(8, 17)
_DIMMED: Final = 0.66  # the least at which text of either theme keeps a contrast of 4.5


def indent(frames: Frames) -> int:
    """How far lists and quotes move a block to the right, in pixels."""
    return sum(ITEM_INDENT if frame.kind == "item" else QUOTE_INDENT for frame in frames)


class DocumentView(QWidget):
    """Base of the widgets that draw one Markdown block each.

    The parent sets the size: `height_for(width)` first, then the geometry. Above the text lies a gap, which belongs
    to the widget so that the bar of a quote runs on from block to block.

    Args:
        document: To write blocks into, where it is another than that of running text.
    """

    changed = Signal()  # it needs another height than it told, though it draws the same block

    def __init__(self, theme: Theme, parent: QWidget, document: QTextDocument | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._document = document if document is not None else new_document(theme.font("body"))
        self._block: Block | None = None
        self._gap = 0
        self._quotes_joined = 0
        self._selection = (0, 0)
        self._caret = False
        self._dimmed = False
        self._chips: list[QRectF] = []
        self._matches: tuple[tuple[int, int], ...] = ()
        self._match = -1
        self._match_rects: list[list[QRectF]] | None = None  # of each match, in the document; None until it is drawn
        self._mirrored = False
        self._width = -1
        self._painted_s = 0.0
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.IBeamCursor)

    @property
    def block(self) -> Block | None:
        """What is drawn."""
        return self._block

    @property
    def document(self) -> QTextDocument:
        """The document drawn; for tests and for reading text out."""
        return self._document

    @property
    def length(self) -> int:
        """Positions in the text, for selecting."""
        return self._document.characterCount() - 1

    @property
    def painted_s(self) -> float:
        """Seconds that painting has taken so far."""
        return self._painted_s

    def show_block(self, block: Block) -> None:
        """Draw another block of the same kind."""
        if block != self._block:
            before, self._block = self._block, block
            self._write(before, block)
            self._text_changed()

    def restyle(self) -> None:
        """Draw the same block in the theme now in force."""
        if self._block is not None:
            self._write(None, self._block)
            self._text_changed()

    def redraw(self) -> None:
        """Draw the same block with what is there of it now, such as the formulas that have been drawn."""
        self.restyle()
        self.changed.emit()

    def set_gap(self, gap: int, quotes_joined: int) -> None:
        """Pixels above the text, and how many of the quotes around it go on from the block above."""
        self._gap, self._quotes_joined = gap, quotes_joined

    def height_for(self, width: int) -> int:
        """Lay the text out for a width and tell the height that takes."""
        inner = max(40, width - self._left() - self._right())
        if inner != self._width:
            self._width = inner
            self._match_rects = None
            self._lay_out(inner)
        return self._gap + self._body_height()

    def natural_width(self) -> int:
        """The width that the text would take if no line had to break."""
        self._document.setTextWidth(-1)
        self._width = -1
        return int(self._document.idealWidth()) + 1

    def set_caret(self, shown: bool) -> None:
        """Show a block caret behind the last character."""
        if shown != self._caret:
            self._caret = shown
            self.update()

    def set_dimmed(self, dimmed: bool) -> None:
        """Draw everything faded, or as usual."""
        if dimmed != self._dimmed:
            self._dimmed = dimmed
            self.update()

    def select(self, start: int, end: int) -> None:
        """Select from position to position; equal ones select nothing."""
        if (start, end) != self._selection:
            self._selection = (start, end)
            self.update()

    def selected_text(self) -> str:
        """The text that is selected."""
        return self.text(*self._selection)

    def text(self, start: int, end: int) -> str:
        """The text between two positions, with its line breaks."""
        text = self._range(start, end).selection().toPlainText()
        for source in formula_sources(self._document, start, end) if OBJECT in text else ():
            text = text.replace(OBJECT, source, 1)
        return text

    def position_at(self, point: QPoint) -> int:
        """The position nearest to a point of this widget."""
        return self._document.documentLayout().hitTest(self._to_document(point), Qt.HitTestAccuracy.FuzzyHit)

    def word_at(self, point: QPoint) -> tuple[int, int]:
        """The positions around the word at a point."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(self.position_at(point))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return cursor.selectionStart(), cursor.selectionEnd()

    def position_rect(self, position: int) -> QRectF:
        """Where a position of the text stands in this widget: a line's height, no width."""
        block = self._document.findBlock(position)
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft() + self._origin()
        line = block.layout().lineForTextPosition(position - block.position())
        if not line.isValid():
            return QRectF(origin, QSizeF(0, 1))
        place = QPointF(cursor_x(line, position - block.position()), line.y())
        return QRectF(origin + place, QSizeF(0, line.height()))

    def show_position(self, position: int) -> None:
        """Make sure that a position is not hidden inside the block."""

    # -- looking for words ---------------------------------------------------------------------------------------

    def mark_matches(self, query: Query | None, current: int = -1) -> int:
        """Draw where words stand, the `current` one (from 0) more strongly; how often they do."""
        found = self._find(query) if query is not None and self._block is not None else ()
        if (found, current) != (self._matches, self._match):
            self._matches, self._match, self._match_rects = found, current, None
            self.update()
        return len(found)

    def match_position(self, index: int) -> int:
        """The position at which the match of this number begins."""
        return self._matches[index][0] if index < len(self._matches) else 0

    def _find(self, query: Query) -> tuple[tuple[int, int], ...]:
        text = searchable(self._block) if self._block is not None else ""
        places = self._places()
        return tuple((_position(text, places, start), _position(text, places, end)) for start, end in query.spans(text))

    def _places(self) -> Sequence[tuple[int, int]]:
        """At which positions of the document which characters of `searchable` stand, where they do not just follow."""
        return ((0, 0),)

    # -- drawing -------------------------------------------------------------------------------------------------

    def link_at(self, point: QPoint) -> str:
        """The address of the link at a point, or an empty text."""
        return self._document.documentLayout().anchorAt(self._to_document(point))

    def paintEvent(self, event: QPaintEvent) -> None:
        begun = time.perf_counter()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(_DIMMED if self._dimmed else 1.0)
        self._paint_frames(painter)
        self._paint_below(painter)
        painter.translate(self._origin())
        painter.setClipRect(QRectF(event.rect()).translated(-self._origin()).intersected(self._clip()))
        self._paint_chips(painter)
        self._paint_matches(painter, QRectF(event.rect()).translated(-self._origin()))
        self._document.documentLayout().draw(painter, self._context())
        if self._caret:
            painter.fillRect(self._caret_rect(), self._theme.color("accent"))
        painter.end()
        self._painted_s += time.perf_counter() - begun

    def _origin(self) -> QPointF:
        """Where the document's corner lies in this widget."""
        return QPointF(self._left(), self._gap)

    def _left(self) -> int:
        """Pixels to the left of the document."""
        return 0 if self._mirrored else indent(self._frames())

    def _clip(self) -> QRectF:
        return QRectF(self.rect()).translated(-self._origin())

    def _right(self) -> int:
        """Pixels to the right of the document."""
        return indent(self._frames()) if self._mirrored else 0

    def _lay_out(self, width: int) -> None:
        if self._document.textWidth() != width:  # else it is laid out already, and Qt would do it all again
            self._document.setTextWidth(width)
        self._chips = chip_rects(self._document)

    def _body_height(self) -> int:
        return int(self._document.size().height() + 0.5)

    def _frames(self) -> Frames:
        return self._block.frames if self._block is not None else ()

    def _paint_below(self, painter: QPainter) -> None:
        """What lies behind the text."""

    def _write(self, before: Block | None, block: Block) -> None:
        """Put a block's text into the document; of itself a block has none.

        Args:
            before: What stands there, for a kind of block that can add to it; None where all must be written.
            block: What is to stand there.
        """
        self._document.clear()

    def _text_changed(self) -> None:
        self._width = -1
        text = plain_text(self._block)[:200] if isinstance(self._block, Paragraph | Heading) else ""
        self._mirrored = not text.isascii() and is_right_to_left(text)
        self.update()

    def _to_document(self, point: QPoint) -> QPointF:
        return QPointF(point) - self._origin()

    def _range(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.setPosition(min(start, self.length))
        cursor.setPosition(min(end, self.length), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _context(self) -> QAbstractTextDocumentLayout.PaintContext:
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Text, self._theme.color("text"))
        context.palette = palette
        if self._selection[0] != self._selection[1]:
            selected = QAbstractTextDocumentLayout.Selection()
            selected.cursor = self._range(*self._selection)
            look = QTextCharFormat()
            look.setBackground(self._theme.color("selection"))
            selected.format = look
            context.selections = [selected]
        return context

    def _paint_matches(self, painter: QPainter, seen: QRectF) -> None:
        """The ground under words that are looked for; as selections of Qt's a thousand would take it a second."""
        if self._match_rects is None:
            self._match_rects = [[*range_rects(self._document, start, end)] for start, end in self._matches]
        for number, rects in enumerate(self._match_rects):
            color = self._theme.color("match_current" if number == self._match else "match")
            for rect in rects:
                if rect.intersects(seen):
                    painter.fillRect(rect, color)

    def _paint_chips(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("code_chip"))
        for rect in self._chips:
            painter.drawRoundedRect(rect.adjusted(-CHIP_PADDING, 1, CHIP_PADDING, 1), 4, 4)

    def _paint_frames(self, painter: QPainter) -> None:
        x = 0
        quotes = 0
        for frame in self._frames():
            if frame.kind == "quote":
                top = 0 if quotes < self._quotes_joined else self._gap
                left = self.width() - x - _BAR if self._mirrored else x
                painter.fillRect(QRectF(left, top, _BAR, self.height() - top), self._theme.color("line"))
                x, quotes = x + QUOTE_INDENT, quotes + 1
                continue
            x += ITEM_INDENT
            self._paint_marker(painter, frame.marker, x)

    def _paint_marker(self, painter: QPainter, marker: str, right: int) -> None:
        """A bullet, a number or the box of a task, in the room in front of an item that ends at `right`."""
        if not marker:
            return
        font = self._theme.font("body")
        painter.setFont(font)
        painter.setPen(self._marker_color(marker))
        side = self._theme.wide(_BOX)
        width = side if marker in (TASK_OPEN, TASK_DONE) else painter.fontMetrics().horizontalAdvance(marker)
        left = self.width() - right + _MARKER_GAP if self._mirrored else right - _MARKER_GAP - width
        if marker in (TASK_OPEN, TASK_DONE):
            self._paint_box(painter, QPointF(left, self._first_baseline() - side + 1), marker == TASK_DONE)
        else:
            painter.drawText(QPointF(left, self._first_baseline()), marker)

    def _paint_box(self, painter: QPainter, corner: QPointF, done: bool) -> None:
        side = self._theme.wide(_BOX)
        scale = side / _BOX
        box = QRectF(corner.x() + 0.5, round(corner.y()) + 0.5, side - 1, side - 1)
        painter.setPen(QPen(self._theme.color("accent_fill" if done else "faint"), 1.3))
        painter.setBrush(self._theme.color("accent_fill") if done else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3.5 * scale, 3.5 * scale)
        if done:
            paint_tick(painter, box, self._theme.color("on_accent"))

    def _marker_color(self, marker: str) -> QColor:
        return self._theme.color("muted")

    def _first_baseline(self) -> float:
        block = self._document.begin()
        layout = block.layout()
        if layout.lineCount() == 0:
            return self._origin().y() + self.fontMetrics().ascent()
        line = layout.lineAt(0)
        top = self._document.documentLayout().blockBoundingRect(block).top()
        return self._origin().y() + top + line.y() + line.ascent()

    def _caret_rect(self) -> QRectF:
        block = self._document.lastBlock()
        layout = block.layout()
        if layout.lineCount() == 0:
            return QRectF(QPointF(0, 0), _CARET)
        line = layout.lineAt(layout.lineCount() - 1)
        x = cursor_x(line, block.length() - 1)
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        baseline = origin.y() + line.y() + line.ascent()
        return QRectF(QPointF(origin.x() + x + 2, baseline - _CARET.height() + 3), _CARET)


def _position(text: str, places: Sequence[tuple[int, int]], at: int) -> int:
    """The position in the document of a character of the searchable text."""
    start, position = places[max(0, bisect_right(places, at, key=lambda place: place[0]) - 1)]
    return position + utf16_length(text[start:at])
