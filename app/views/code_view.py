"""A code block: its language, Copy, colours, and a scroll bar of its own where lines are long."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPen, QTextCursor
from PySide6.QtWidgets import QWidget

from app.blocks import Block, Code
from app.highlight import highlight, prepare
from app.i18n import translate
from app.theme import Theme
from app.views.code_colours import CodeColours
from app.views.controls import CopyButton
from app.views.document_view import indent
from app.views.rich_text import fill_code, insert_code, new_document
from app.views.sideways_view import SidewaysView

_HEADER: Final = 34
_PADDING: Final = 16
_BOTTOM: Final = 14
_RADIUS: Final = 10
_AT_ONCE: Final = 3_000  # characters that are coloured before they are shown


class CodeView(SidewaysView):
    """Draws a `Code` block. An open fence is plain text that grows at its end; colours come when it is closed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        document = new_document(theme.font("code"), wrap=False)
        super().__init__(theme, translate("code_view", "Scroll the code sideways"), parent, document)
        self._colours = CodeColours(self._document, theme, self)
        self._colours.changed.connect(self.update)
        label, name = translate("code_view", "Copy"), translate("code_view", "Copy this code")
        self._copy = CopyButton(theme, label, name, self)
        self._copy.clicked.connect(self._copy_all)

    @property
    def copy_button(self) -> CopyButton:
        """The button that copies the code."""
        return self._copy

    def _write(self, before: Block | None, block: Block) -> None:
        """Write a code block; an open one that has grown is appended to."""
        if not isinstance(block, Code):
            return
        more = _growth(before, block)
        same_text = more == "" and len(block.text) > _AT_ONCE
        if same_text and block.closed:
            self._colours.start(block.text, block.language)
        elif more is not None and not block.closed:
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            insert_code(cursor, more, self._theme)
        else:
            self._fill(block)

    def _fill(self, block: Code) -> None:
        """Write the code; colours of a long one follow in idle moments, when it is closed."""
        self._document.clear()
        self._colours.stop()
        if not block.closed:
            threading.Thread(target=prepare, args=(block.language,), name="lexer", daemon=True).start()
        at_once = block.closed and len(block.text) <= _AT_ONCE
        pieces = highlight(block.text, block.language) if at_once else ()
        fill_code(self._document, block.text, pieces, self._theme)
        if block.closed and not at_once:
            self._colours.start(block.text, block.language)

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)
        size = self._copy.sizeHint()
        self._copy.setGeometry(self.width() - size.width() - 6, self._gap + 5, size.width(), size.height())

    def _room_for_bar(self) -> int:
        return 8

    def _bar_left(self) -> int:
        return super()._bar_left() + 8

    def _bar_right(self) -> int:
        return 8

    def _origin(self) -> QPointF:
        return QPointF(self._left() - self._bar.value(), self._gap + _HEADER)

    def _left(self) -> int:
        return indent(self._frames()) + _PADDING

    def _right(self) -> int:
        return _PADDING

    def _lay_out(self, width: int) -> None:
        if self._document.textWidth() != -1:
            self._document.setTextWidth(-1)  # lines are as long as they are

    def _clip(self) -> QRectF:
        left = indent(self._frames()) + 1
        return QRectF(left, 0, self.width() - left - 1, self.height()).translated(-self._origin())

    def _body_height(self) -> int:
        return _HEADER + int(self._document.size().height() + 0.5) + _BOTTOM

    def _paint_below(self, painter: QPainter) -> None:
        left = indent(self._frames())
        box = QRectF(left + 0.5, self._gap + 0.5, self.width() - left - 1, self.height() - self._gap - 1)
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.setBrush(self._theme.color("code"))
        painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        label = QRectF(left + _PADDING, self._gap + 6, box.width() - 100, 24)
        language = self._block.language if isinstance(self._block, Code) else ""
        painter.drawText(
            label,
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            language or translate("code_view", "code"),
        )

    def _copy_all(self) -> None:
        if isinstance(self._block, Code):
            QGuiApplication.clipboard().setText(self._block.text)


def _growth(old: Block | None, new: Code) -> str | None:
    """The text that `new` adds to the open fence `old`, or None if it differs in more than that and its end."""
    if not isinstance(old, Code) or old.closed or replace(new, text=old.text, closed=False) != old:
        return None
    return new.text[len(old.text) :] if new.text.startswith(old.text) else None
