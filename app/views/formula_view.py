"""A formula on lines of its own: centred, and scrolled sideways where it is wider than the column."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from app.blocks import Block, Formula, Span
from app.i18n import translate
from app.theme import Theme
from app.views.formulas import OBJECT, Formulas, FormulaWatch
from app.views.rich_text import block_format, insert_code, new_document
from app.views.sideways_view import SidewaysView


class FormulaView(SidewaysView):
    """Draws a `Formula`; its source stands there while it is written, until it is drawn, and if it cannot be."""

    def __init__(self, theme: Theme, formulas: Formulas, parent: QWidget) -> None:
        document = new_document(theme.font("code"), wrap=False)
        super().__init__(theme, translate("formula_view", "Scroll the formula sideways"), parent, document)
        self._formulas = formulas
        self._watch = FormulaWatch(formulas, self)
        self._watch.arrived.connect(self.redraw)
        formulas.serve(self._document)

    def _write(self, before: Block | None, block: Block) -> None:
        if not isinstance(block, Formula):
            return
        self._document.clear()
        span, font = Span(block.text, tex=block.tex, display=True), self._theme.font("body")
        drawn = self._formulas.find(self._formulas.key(span, font)) if block.closed else None
        cursor = QTextCursor(self._document)
        if drawn is not None and drawn.picture is not None:
            centred = QTextBlockFormat()
            centred.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            cursor.setBlockFormat(centred)
            cursor.insertText(OBJECT, self._formulas.format(span, font, self._theme.color("text")))
        else:
            cursor.setBlockFormat(block_format(self._theme.font("code")))
            insert_code(cursor, block.text, self._theme)
        self._watch.look_at((span,) if block.closed else (), font)

    def _lay_out(self, width: int) -> None:
        self._document.setTextWidth(-1)
        self._document.setTextWidth(max(width, self._document.idealWidth()))
