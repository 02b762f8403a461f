"""Where the answer will stand, before its first word: what goes on, in words and as a thin bar."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.live import LiveTurn, ModelState
from app.theme import Theme
from app.views import words

_BAR: Final = QSize(120, 4)
_CARET: Final = QSizeF(8, 17)


class WaitingLine(QWidget):
    """The block caret, one short phrase, and while the prompt is read how much of it is."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self._share: float | None = None

    @property
    def words(self) -> str:
        """What it says."""
        return self._words

    def show_turn(self, live: LiveTurn, model: ModelState) -> None:
        """Say what goes on in a turn."""
        self._words = words.phase(live, model)
        reading = live.phase == "prefill" and live.prefill_total > 0
        self._share = live.prefill_done / live.prefill_total if reading else None
        self.setAccessibleName(self._words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 26)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = self.height() / 2
        painter.fillRect(QRectF(QPointF(0, middle - _CARET.height() / 2), _CARET), self._theme.color("accent"))
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        metrics = painter.fontMetrics()
        painter.drawText(QPointF(20, middle + (metrics.ascent() - metrics.descent()) / 2), self._words)
        if self._share is not None:
            self._paint_bar(painter, 20 + metrics.horizontalAdvance(self._words) + 16, middle)

    def _paint_bar(self, painter: QPainter, left: float, middle: float) -> None:
        box = QRectF(left, middle - _BAR.height() / 2, _BAR.width(), _BAR.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(box, 2, 2)
        box.setWidth(_BAR.width() * min(1.0, self._share or 0.0))
        painter.setBrush(self._theme.color("computed"))
        painter.drawRoundedRect(box, 2, 2)
