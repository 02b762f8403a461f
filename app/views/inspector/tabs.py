"""One word in the row that chooses a page."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.controls import PaintedButton, paint_ground


class Tab(PaintedButton):
    """The chosen one stands out by weight and by a line in the accent."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(theme, text, parent)
        self.setText(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFont(theme.font("figure"))

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 16, metrics.height() + 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        paint_ground(self, painter, self._theme)
        painter.setFont(self._theme.font("figure" if self.isChecked() else "small"))
        painter.setPen(self._theme.color("text" if self.isChecked() else "muted"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.text())
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent"))
            painter.drawRoundedRect(QRectF(8, box.bottom() - 3, box.width() - 16, 2), 1, 1)
