"""A layout that places widgets in rows, as words are placed: as many in each as there is room for."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem


class Flow(QLayout):
    """Hidden widgets take no room."""

    def __init__(self, gap: int) -> None:
        super().__init__()
        self._gap = gap
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        rows = self._place(QRect(0, 0, width - margins.left() - margins.right(), 0), move=False)
        return rows + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        widest = max((item.minimumSize().width() for item in self._items if not item.isEmpty()), default=0)
        return QSize(widest, self.heightForWidth(max(widest, self.geometry().width())))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), move=True)

    def _place(self, rect: QRect, move: bool) -> int:
        """Place all; the height they take."""
        left, top, high = rect.left(), rect.top(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if left > rect.left() and left + size.width() > rect.right() + 1:
                left, top, high = rect.left(), top + high + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(left, top), size.boundedTo(QSize(rect.width(), size.height()))))
            left, high = left + size.width() + self._gap, max(high, size.height())
        return top + high - rect.top()
