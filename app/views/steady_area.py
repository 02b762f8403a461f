"""A page that scrolls, and whose contents do not move when its scroll bar comes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QScrollBar, QWidget


class _Bar(QScrollBar):
    """Keeps its room, and is drawn only where there is something to scroll."""

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class SteadyArea(QScrollArea):
    """Keeps the room of its scroll bar free while there is none.

    A bar that is always there does that. Margins that come and go with it would not: Qt asks for the width of the page
    before it says that the bar is gone, and the page stays as wide as it was with it.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBar(_Bar(Qt.Orientation.Vertical, self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
