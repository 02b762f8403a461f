"""Paragraph, heading, table or rule, drawn from one text document."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QTextCursor

from app.markdown import Block, Heading, Paragraph, Rule, Span, Table, plain_text
from app.views.document_view import DocumentView
from app.views.rich_text import fill_prose, fill_table, insert_spans


class ProseView(DocumentView):
    """Draws any block but code. While a paragraph grows, what is new is written behind what is there."""

    def show_block(self, block: Block) -> None:
        """Draw a block; one that only continues the block on view is appended to it."""
        if block == self._block:
            return
        more = continuation(self._block, block)
        self._block = block
        if more is not None:
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            insert_spans(cursor, more, self._theme)
        else:
            self._fill(block)
        self._text_changed()

    def select(self, start: int, end: int) -> None:
        """Select from position to position; of a table not the empty paragraphs that Qt keeps around it."""
        if isinstance(self._block, Table) and start < end:
            start, end = max(1, start), min(self.length - 1, end)
        super().select(start, end)

    def text(self, start: int, end: int) -> str:
        """The text between two positions; a whole table as lines of cells with tabs between them."""
        if isinstance(self._block, Table) and start <= 1 and end >= self.length - 1:
            return plain_text(self._block)
        return super().text(start, end)

    def show_plain(self, text: str) -> None:
        """Draw text as it was written."""
        self.show_block(Paragraph((Span(text),)))

    def _fill(self, block: Block) -> None:
        self._document.clear()
        match block:
            case Paragraph() | Heading():
                fill_prose(self._document, block, self._theme)
            case Table():
                fill_table(self._document, block, self._theme)

    def _body_height(self) -> int:
        return 1 if isinstance(self._block, Rule) else super()._body_height()

    def _paint_below(self, painter: QPainter) -> None:
        if isinstance(self._block, Rule):
            left = self._origin().x()
            painter.fillRect(QRectF(left, self._gap, self.width() - left, 1), self._theme.color("line"))


def continuation(old: Block | None, new: Block) -> tuple[Span, ...] | None:
    """The spans that `new` adds behind those of `old`, or None if it differs in more than that."""
    if not isinstance(old, Paragraph | Heading) or not isinstance(new, Paragraph | Heading) or not old.spans:
        return None
    if type(old) is not type(new) or replace(new, spans=()) != replace(old, spans=()):
        return None
    *same, last = old.spans
    if tuple(same) != new.spans[: len(same)] or len(new.spans) < len(old.spans):
        return None
    now, later = new.spans[len(same)], new.spans[len(same) + 1 :]
    if last.code or (later and later[0].code):  # the room beside code belongs to the character before it
        return None
    if replace(now, text=last.text) != last or not now.text.startswith(last.text):
        return None
    rest = now.text[len(last.text) :]
    grown = (replace(now, text=rest),) if rest else ()
    return grown + later
