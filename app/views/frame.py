"""What holds the window's parts: the column below the conversation, and the scrim under a sidebar that lies over it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.views.chat_column import COLUMN, MARGIN


class Dock(QWidget):
    """Notices, progress and composer in a column as wide as the one that is read."""

    def __init__(self, parts: tuple[QWidget, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(8)
        for part in parts:
            self._column.addWidget(part)

    def resizeEvent(self, event: QResizeEvent) -> None:
        side = max(MARGIN, (event.size().width() - COLUMN) // 2)
        self._column.setContentsMargins(side, 0, side, 12)
        super().resizeEvent(event)


class Scrim(QWidget):
    """Dims the conversation while the sidebar lies over it; a click on it asks for that to end."""

    clicked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()
