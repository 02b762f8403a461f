"""The time of every token as a thin column, so that a stall is seen where an average would hide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.inspector.values import Strip

HEIGHT: Final = 72
_PITCH: Final = 5.5  # pixels from column to column while there is room
_LEAST_PITCH: Final = 2.5
_FILLED: Final = 0.72  # of that
_LATE_WIDTH: Final = 3.0  # at least, so that a stall among many tokens is seen
_HEADROOM: Final = 6.0  # usual tokens take a sixth of the height at least, so that a stall stands out


@dataclass(frozen=True, slots=True)
class Column:
    """Some tokens in a row, drawn as one column: the slowest of them.

    Attributes:
        first, last: Indices into the gaps, both inclusive.
        worst_ms: The longest of them.
        late: Whether one of them is a stall.
    """

    first: int
    last: int
    worst_ms: float
    late: bool


def columns_of(strip: Strip, room: int) -> tuple[Column, ...]:
    """All tokens in at most `room` columns; a stall is never averaged away."""
    count = len(strip.gaps_ms)
    if count == 0 or room <= 0:
        return ()
    each = -(-count // room)
    spans = [(first, min(count, first + each)) for first in range(0, count, each)]
    return tuple(
        Column(first, end - 1, max(strip.gaps_ms[first:end]), any(index in strip.late for index in range(first, end)))
        for first, end in spans
    )


def top_of(columns: Sequence[Column], usual_ms: float | None) -> float:
    """The milliseconds at the upper edge."""
    worst = max((column.worst_ms for column in columns), default=0.0)
    return max(worst, _HEADROOM * (usual_ms or 0.0) / 3, 1e-9)


class TokenStrip(QWidget):
    """Draws a `Strip`; the pointer reads single tokens off."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._strip = Strip()
        self._columns: tuple[Column, ...] = ()
        self._under = -1
        self.setFixedHeight(HEIGHT)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_strip(self, strip: Strip) -> None:
        """Show other tokens."""
        self._strip = strip
        self._group()
        self.setAccessibleName(
            translate("strip", "Time per token: %Ln tokens", len(strip.gaps_ms))
            + ", "
            + translate("strip", "%Ln stalls", len(strip.late))
        )
        self.update()

    def column_text(self, index: int) -> str:
        """What the pointer says over a column."""
        column = self._columns[index]
        if column.first == column.last:
            said = translate("strip", "Token {number}: {ms} ms")
        else:
            said = translate("strip", "Tokens {number} to {last}: at most {ms} ms")
        # The gap with index 0 lies before the second token.
        return said.format(number=column.first + 2, last=column.last + 2, ms=f"{column.worst_ms:,.1f}")

    def sizeHint(self) -> QSize:
        return QSize(240, HEIGHT)

    def resizeEvent(self, event: QEvent) -> None:
        self._group()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = int(event.position().x() // self._pitch)
        self._under = index if 0 <= index < len(self._columns) else -1
        if self._under >= 0:
            QToolTip.showText(event.globalPosition().toPoint(), self.column_text(self._under), self)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._under = -1
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, floor = top_of(self._columns, self._strip.usual_ms), self.height() - 1.0
        painter.setPen(Qt.PenStyle.NoPen)
        for index, column in enumerate(self._columns):
            height = max(1.5, (floor - 1) * column.worst_ms / top)
            token = "warning" if column.late else "accent" if index == self._under else "computed"
            painter.setBrush(self._theme.color(token))
            x = index * self._pitch
            width = max(_LATE_WIDTH if column.late else 0.0, _FILLED * self._pitch)
            painter.drawRoundedRect(QRectF(x, floor - height, width, height), 1, 1)
        self._paint_usual(painter, top, floor)

    def _paint_usual(self, painter: QPainter, top: float, floor: float) -> None:
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.drawLine(QPointF(0, floor + 0.5), QPointF(self.width(), floor + 0.5))
        if self._strip.usual_ms and len(self._columns) > 1:
            pen = QPen(self._theme.color("muted"), 1, Qt.PenStyle.DotLine)
            painter.setPen(pen)
            y = floor - (floor - 1) * min(1.0, self._strip.usual_ms / top)
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))

    @property
    def _pitch(self) -> float:
        """Pixels from column to column: a long answer fills the width."""
        return min(_PITCH, self.width() / max(1, len(self._columns)))

    def _group(self) -> None:
        self._columns = columns_of(self._strip, int(self.width() // _LEAST_PITCH))
        self._under = -1
