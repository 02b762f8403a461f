"""A list of drawn rows in the sidebar: scrolls by pixels, and its scroll bar stands beside the rows, not over them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

GUTTER: Final = 12  # room for the scroll bar, kept free while there is none, so that its coming moves nothing


class RowList(QListView):
    """What the lists of the sidebar have in common."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("conversations")
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.verticalScrollBar().rangeChanged.connect(self._keep_gutter)
        self._keep_gutter(0, 0)

    def _keep_gutter(self, low: int, high: int) -> None:
        self.setViewportMargins(0, 0, 0 if high > low else GUTTER, 0)
