"""A block that may be wider than the column: it scrolls sideways by itself, the conversation does not."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QTextDocument, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from app.theme import Theme
from app.views.document_view import DocumentView, indent

_BAR: Final = 10
_STEP: Final = 24


class SidewaysView(DocumentView):
    """Base of the block views with a horizontal scroll bar below them, shown where it is needed.

    Args:
        name: What the bar is called for those who cannot see it.
        document: As of a `DocumentView`.
    """

    def __init__(self, theme: Theme, name: str, parent: QWidget, document: QTextDocument | None = None) -> None:
        super().__init__(theme, parent, document)
        self._bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self._bar.setAccessibleName(name)
        self._bar.setCursor(Qt.CursorShape.ArrowCursor)
        self._bar.setSingleStep(_STEP)
        self._bar.valueChanged.connect(self.update)
        self._bar.hide()

    @property
    def scroll_bar(self) -> QScrollBar:
        """Moves what is too wide; its maximum is 0 where nothing is."""
        return self._bar

    def height_for(self, width: int) -> int:
        height = super().height_for(width)
        inner = width - self._left() - self._right()
        hidden = max(0, self._content_width() - inner)
        self._bar.setRange(0, hidden)
        self._bar.setPageStep(max(1, inner))
        self._bar.setVisible(hidden > 0)
        return height + (self._room_for_bar() if hidden > 0 else 0)

    def resizeEvent(self, event: QEvent) -> None:
        left = self._bar_left()
        self._bar.setGeometry(left, self.height() - _BAR - 3, self.width() - left - self._bar_right(), _BAR)

    def wheelEvent(self, event: QWheelEvent) -> None:
        sideways = event.angleDelta().x() or (
            event.angleDelta().y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways and self._bar.isVisible():
            self._bar.setValue(self._bar.value() - sideways // 2)
            event.accept()
        else:
            event.ignore()

    def show_position(self, position: int) -> None:
        """Scroll so that a position of the text can be seen."""
        x = self.position_rect(position).center().x()
        if not self._left() <= x <= self.width() - self._right():
            self._bar.setValue(self._bar.value() + int(x) - self.width() // 2)

    def _content_width(self) -> int:
        """Pixels that the content takes."""
        return int(self._document.idealWidth() + 0.5)

    def _room_for_bar(self) -> int:
        return _BAR + 4

    def _bar_left(self) -> int:
        return indent(self._frames())

    def _bar_right(self) -> int:
        return 0

    def _origin(self) -> QPointF:
        return super()._origin() - QPointF(self._bar.value(), 0)

    def _clip(self) -> QRectF:
        left = indent(self._frames())
        return QRectF(left, 0, self.width() - left, self.height()).translated(-self._origin())
