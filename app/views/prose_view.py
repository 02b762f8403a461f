"""Paragraph, heading or rule, drawn from one text document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QTextCursor
from PySide6.QtWidgets import QWidget

from app.blocks import Block, Heading, Paragraph, Rule, Span
from app.plain_text import PICTURE, utf16_length
from app.theme import Theme
from app.views.document_view import DocumentView
from app.views.formulas import Formulas, FormulaWatch
from app.views.rich_text import drawable, fill_prose, insert_spans


class ProseView(DocumentView):
    """Draws running text. While a paragraph grows, what is new is written behind what is there."""

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._formulas = formulas
        self._watch = FormulaWatch(formulas, self)
        self._watch.arrived.connect(self.redraw)
        formulas.serve(self._document)

    def _write(self, before: Block | None, block: Block) -> None:
        """Write a block; one that only continues what stands there is appended to it."""
        more = continuation(before, block)
        if more is not None and not any(span.tex for span in more):
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            insert_spans(cursor, more, self._theme, self._formulas)
        else:
            self._fill(block)

    def _fill(self, block: Block) -> None:
        self._document.clear()
        if isinstance(block, Paragraph | Heading):
            fill_prose(self._document, block, self._theme, self._formulas)
            self._watch.look_at(block.spans, self._document.defaultFont())

    def _places(self) -> Sequence[tuple[int, int]]:
        if not isinstance(self._block, Paragraph | Heading):
            return super()._places()
        places, offset, position = [], 0, 0
        font = self._document.defaultFont()
        for span in self._block.spans:
            places.append((offset, position))
            offset += len(PICTURE if span.tex else span.text)
            drawn = drawable(span, font, self._formulas).tex
            position += 1 if drawn else utf16_length(span.text)
        return places or super()._places()

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
    rest = now.text[len(last.text) :]
    # The room beside code belongs to the character before it; a formula does not grow.
    closed = last.code or bool(later and later[0].code) or bool(last.tex and rest)
    if closed or replace(now, text=last.text) != last or not now.text.startswith(last.text):
        return None
    grown = (replace(now, text=rest),) if rest else ()
    return grown + later
