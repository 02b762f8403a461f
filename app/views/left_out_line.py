"""The line between the messages that did not fit the context and those that were read for the last answer."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views import words

_GAP: Final = 16
_SHORTEST_RULE: Final = 24
_FLAGS: Final = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap


class LeftOutLine(QWidget):
    """Says how many messages above it were not read, with a rule at both sides where there is room."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words

    def show_count(self, count: int) -> None:
        """Say how many messages were left out."""
        self._words = words.left_out(count)
        self.setAccessibleName(self._words)
        self.update()

    def height_for(self, width: int) -> int:
        """The height that the words take."""
        return self._text_rect(width).height() + 8

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._theme.font("small"))
        text = self._text_rect(self.width())
        text.moveCenter(self.rect().center())
        rule = text.left() - _GAP
        if rule >= _SHORTEST_RULE:
            middle = self.height() // 2
            painter.fillRect(0, middle, rule, 1, self._theme.color("line"))
            painter.fillRect(self.width() - rule, middle, rule, 1, self._theme.color("line"))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(text.adjusted(-2, 0, 2, 0), _FLAGS, self._words)

    def _text_rect(self, width: int) -> QRect:
        self.setFont(self._theme.font("small"))
        return self.fontMetrics().boundingRect(QRect(0, 0, width, 1000), int(_FLAGS), self._words)
