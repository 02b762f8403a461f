"""A table: aligned columns, a line under each row, and a scroll bar of its own where it is wider than the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableCell,
    QTextTableCellFormat,
    QTextTableFormat,
)
from PySide6.QtWidgets import QWidget

from app.blocks import Align, Block, Span, Table, plain_text
from app.i18n import translate
from app.plain_text import PICTURE
from app.theme import Theme
from app.views.formulas import Formulas, FormulaWatch
from app.views.rich_text import block_format, insert_spans
from app.views.sideways_view import SidewaysView

_GAP: Final = 12
_PAD: Final = 7
_NARROWEST: Final = 170  # pixels of text below which a column is not squeezed: the table scrolls instead
_ALIGNMENTS: Final = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
Cell = tuple[Span, ...]


class TableView(SidewaysView):
    """Draws a `Table`. While it grows, rows are added below those that are there."""

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        super().__init__(theme, translate("table_view", "Scroll the table sideways"), parent)
        self._formulas = formulas
        self._watch = FormulaWatch(formulas, self)
        self._watch.arrived.connect(self.redraw)
        self._table: QTextTable | None = None
        self._natural: list[float] = []
        self._widths: list[float] = []  # as they are laid out
        formulas.serve(self._document)

    def _write(self, before: Block | None, block: Block) -> None:
        """Write a table; one that has only grown by rows keeps those that are drawn."""
        if not isinstance(block, Table):
            return
        if isinstance(before, Table) and self._table is not None and _has_grown(before, block):
            self._add_rows(block, len(before.rows))
        else:
            self._fill(block)

    def select(self, start: int, end: int) -> None:
        """Select from position to position, without the empty paragraphs that Qt keeps around a table."""
        if start < end:
            start, end = max(1, start), min(self.length - 1, end)
        super().select(start, end)

    def text(self, start: int, end: int) -> str:
        """The text between two positions; of the whole table lines of cells with tabs between them."""
        if isinstance(self._block, Table) and start <= 1 and end >= self.length - 1:
            return plain_text(self._block)
        return super().text(start, end)

    def _fill(self, block: Table) -> None:
        self._document.clear()
        self._document.setDefaultFont(self._theme.font("list"))
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        _shrink(cursor)
        self._table = cursor.insertTable(1, len(block.header), _table_format())
        self._natural, self._widths = [0.0] * len(block.header), []
        bold = tuple(tuple(replace(span, bold=True) for span in cell) for cell in block.header)
        self._fill_row(0, bold, block.aligns)
        self._append(block, 0)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        _shrink(cursor)
        cursor.endEditBlock()
        self._wait(block)

    def _add_rows(self, block: Table, first: int) -> None:
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        self._append(block, first)
        cursor.endEditBlock()
        self._wait(block)

    def _append(self, block: Table, first: int) -> None:
        if self._table is None or first >= len(block.rows):
            return
        self._table.appendRows(len(block.rows) - first)
        for row, cells in enumerate(block.rows[first:], first + 1):
            self._fill_row(row, cells, block.aligns)

    def _fill_row(self, row: int, cells: Sequence[Cell], aligns: Sequence[Align]) -> None:
        if self._table is None:
            return
        metrics = QFontMetricsF(self._document.defaultFont())
        for column, spans in enumerate(cells):
            self._fill_cell(self._table.cellAt(row, column), spans, aligns[column])
            self._natural[column] = max(self._natural[column], self._natural_width(spans, metrics))

    def _natural_width(self, spans: Cell, metrics: QFontMetricsF) -> float:
        """About the pixels that a cell takes if no line has to break; bold letters and code are a little wider."""
        text = max("".join(span.text for span in spans if not span.tex).split("\n"), key=len)
        width = metrics.horizontalAdvance(text) * 1.06 + 2
        for span in spans:
            drawn = self._formulas.find(self._formulas.key(span, self._document.defaultFont())) if span.tex else None
            width += drawn.width if drawn is not None else metrics.horizontalAdvance(span.text) if span.tex else 0
        return width

    def _fill_cell(self, cell: QTextTableCell, spans: Sequence[Span], align: Align) -> None:
        cell.setFormat(self._cell_format(cell.column(), cell.row() == 0))
        cursor = cell.firstCursorPosition()
        layout = block_format(self._theme.font("list"), 1.4)
        if any(span.tex for span in spans):
            layout.setLineHeight(layout.lineHeight(), QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        layout.setAlignment(_ALIGNMENTS[align])
        cursor.setBlockFormat(layout)
        insert_spans(cursor, spans, self._theme, self._formulas)

    def _cell_format(self, column: int, header: bool) -> QTextTableCellFormat:
        look = QTextTableCellFormat()
        look.setTopPadding(_PAD)
        look.setBottomPadding(_PAD)
        look.setLeftPadding(0 if column == 0 else _GAP)
        look.setRightPadding(_GAP)
        if header:
            look.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBottom)
        look.setBottomBorder(1)
        look.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        look.setBottomBorderBrush(self._theme.color("line"))
        return look

    def _lay_out(self, width: int) -> None:
        """Columns are as wide as their text where all have room; else the wide ones share what the others leave."""
        if self._table is not None:
            widths = column_widths(self._natural, width)
            if widths != self._widths:
                self._widths = widths
                look = self._table.format()
                look.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, each) for each in widths])
                self._table.setFormat(look)
            width = max(width, int(sum(widths) + 0.999))
        super()._lay_out(width)

    def _content_width(self) -> int:
        return int(sum(column_widths(self._natural, self._width)))

    def _places(self) -> Sequence[tuple[int, int]]:
        if self._table is None or not isinstance(self._block, Table):
            return super()._places()
        places, offset = [], 0
        for row, cells in enumerate((self._block.header, *self._block.rows)):
            for column, spans in enumerate(cells):
                places.append((offset, self._table.cellAt(row, column).firstPosition()))
                offset += sum(len(PICTURE if span.tex else span.text) for span in spans) + 1
        return places

    def _wait(self, block: Table) -> None:
        cells = (span for row in (block.header, *block.rows) for cell in row for span in cell)
        self._watch.look_at(cells, self._document.defaultFont())


def column_widths(natural: Sequence[float], room: int) -> list[float]:
    """The widths of columns, padding and all, in pixels: those of their text, squeezed where there is too little room.

    No column is squeezed below what its text takes or `_NARROWEST`, whichever is less; so the sum can be more than
    the room.
    """
    padded = [width + (_GAP if column == 0 else 2 * _GAP) for column, width in enumerate(natural)]
    least = [min(width, _NARROWEST) for width in padded]
    spare = room - sum(least)
    wanted = sum(padded) - sum(least)
    if spare <= 0 or wanted <= 0:
        return least
    share = min(1.0, spare / wanted)
    return [low + share * (width - low) for low, width in zip(least, padded, strict=True)]


def _has_grown(old: Table, new: Table) -> bool:
    same = (old.header, old.aligns, old.frames) == (new.header, new.aligns, new.frames)
    return same and new.rows[: len(old.rows)] == old.rows


def _shrink(cursor: QTextCursor) -> None:
    """Qt keeps an empty paragraph before and behind a table: give it no height."""
    flat = QTextBlockFormat()
    flat.setLineHeight(0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    cursor.setBlockFormat(flat)


def _table_format() -> QTextTableFormat:
    result = QTextTableFormat()
    result.setBorder(0)
    result.setCellSpacing(0)
    result.setCellPadding(0)
    result.setBorderCollapse(True)
    return result
