"""A code block: its language, Copy, colours, and a scroll bar of its own where lines are long."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPen, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from app.markdown import Block, Code
from app.theme import Theme
from app.views.controls import CopyButton
from app.views.document_view import DocumentView, indent
from app.views.rich_text import fill_code, insert_code, new_document

_HEADER: Final = 34
_PADDING: Final = 16
_BOTTOM: Final = 14
_RADIUS: Final = 10


class CodeView(DocumentView):
    """Draws a `Code` block. An open fence is plain text that grows at its end; colours come when it is closed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._document = new_document(theme.font("code"), wrap=False)
        self._bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self._bar.setAccessibleName("Scroll the code sideways")
        self._bar.valueChanged.connect(self.update)
        self._bar.hide()
        self._copy = CopyButton(theme, "Copy", "Copy this code", self)
        self._copy.clicked.connect(self._copy_all)

    @property
    def copy_button(self) -> CopyButton:
        """The button that copies the code."""
        return self._copy

    @property
    def scroll_bar(self) -> QScrollBar:
        """Moves long lines; its maximum is 0 where none is too long."""
        return self._bar

    def show_block(self, block: Block) -> None:
        """Draw a code block; an open one that has grown is appended to."""
        if block == self._block or not isinstance(block, Code):
            return
        more = _growth(self._block, block)
        self._block = block
        if more is not None:
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            insert_code(cursor, more, self._theme)
        else:
            self._document.clear()
            fill_code(self._document, block, self._theme)
        self._text_changed()

    def height_for(self, width: int) -> int:
        """Lay out for a width; lines are never wrapped."""
        height = super().height_for(width)
        inner = width - self._left() - self._right()
        hidden = max(0, int(self._document.idealWidth()) - inner)
        self._bar.setRange(0, hidden)
        self._bar.setPageStep(max(1, inner))
        self._bar.setSingleStep(24)
        self._bar.setVisible(hidden > 0)
        return height + (8 if hidden > 0 else 0)

    def resizeEvent(self, event: QEvent) -> None:
        left = indent(self._frames())
        size = self._copy.sizeHint()
        self._copy.setGeometry(self.width() - size.width() - 6, self._gap + 5, size.width(), size.height())
        self._bar.setGeometry(left + 8, self.height() - 13, self.width() - left - 16, 10)

    def wheelEvent(self, event: QWheelEvent) -> None:
        sideways = event.angleDelta().x() or (
            event.angleDelta().y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways and self._bar.isVisible():
            self._bar.setValue(self._bar.value() - sideways // 2)
            event.accept()
        else:
            event.ignore()

    def _origin(self) -> QPointF:
        return QPointF(self._left() - self._bar.value(), self._gap + _HEADER)

    def _left(self) -> int:
        return indent(self._frames()) + _PADDING

    def _right(self) -> int:
        return _PADDING

    def _lay_out(self, width: int) -> None:
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
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, language or "code")

    def _copy_all(self) -> None:
        if isinstance(self._block, Code):
            QGuiApplication.clipboard().setText(self._block.text)


def _growth(old: Block | None, new: Code) -> str | None:
    """The text that `new` adds to the open fence `old`, or None if it differs in more than that."""
    if not isinstance(old, Code) or old.closed or new.closed or replace(new, text=old.text) != old:
        return None
    return new.text[len(old.text) :] if new.text.startswith(old.text) else None
