"""A page that scrolls, and whose contents do not move when its scroll bar comes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.views.row_list import GUTTER


class SteadyArea(QScrollArea):
    """Keeps the room of its scroll bar free while there is none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().rangeChanged.connect(self._keep_gutter)
        self._keep_gutter(0, 0)

    def _keep_gutter(self, low: int, high: int) -> None:
        self.setViewportMargins(0, 0, 0 if high > low else GUTTER, 0)
