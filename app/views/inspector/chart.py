"""Lines over two axes, with round numbers at the axes and the values under the pointer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.i18n import labelled
from app.theme import Theme
from app.views import words
from app.views.controls import plain_tip
from app.views.inspector.values import Chart, Line

HEIGHT: Final = 168
_STEPS: Final = 4
_LABEL_GAP: Final = 6.0
_DOT: Final = 2.5
_DAY: Final = 86_400
_NEAR: Final = 0.02  # of the width: so far from a mark the pointer still reads what it says


def round_step(span: float, steps: int = _STEPS) -> float:
    """The distance between round numbers: 1, 2 or 5 times a power of 10, so that about so many divide a span."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    raw = span / steps
    power = 10.0 ** math.floor(math.log10(raw))
    return float(next((factor * power for factor in (1, 2, 5, 10) if factor * power >= raw), 10 * power))


def round_numbers(low: float, high: float, steps: int = _STEPS) -> list[float]:
    """Round numbers from `low` to `high`."""
    step = round_step(high - low, steps)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def number_text(value: float) -> str:
    """A number at an axis, as short as it can be."""
    if abs(value) >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def value_text(value: float) -> str:
    """A measured value: seconds are told apart by their hundredths, tokens a second by their tenths."""
    return f"{value:.2f}" if abs(value) < 9.995 else f"{value:,.1f}"


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the points of some lines reach: the lowest and highest x, and the highest y."""

    first: float
    last: float
    top: float

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Reach:
        """Look at all points once; there is at least one."""
        places = [x for line in lines for x, _ in line.points]
        return cls(min(places), max(places), max(y for line in lines for _, y in line.points))

    @property
    def axes(self) -> tuple[float, float, float]:
        """Where the x axis begins and ends, and where the y axis ends: at a round number."""
        aside = 0.5 if self.first == self.last else 0.0
        step = round_step(self.top)
        top = math.ceil(self.top / step + 1e-9) * step if self.top > 0 else 1.0
        return self.first - aside, self.last + aside, top


class LineChart(QWidget):
    """Draws a `Chart`. The y axis begins at zero, so that a line's height can be believed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chart = Chart((), "", "")
        self._lines: tuple[Line, ...] = ()  # those that have points
        self._reach = Reach(0.0, 0.0, 0.0)
        self._at: float | None = None  # x under the pointer
        self.setFixedHeight(theme.wide(HEIGHT))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_chart(self, chart: Chart) -> None:
        """Show other lines."""
        self._chart = chart
        self._lines = tuple(line for line in chart.lines if line.points)
        if self._lines:
            self._reach = Reach.of(self._lines)
        said = (labelled(line.label, str(len(line.points))) for line in chart.lines)
        self.setAccessibleName(f"{chart.y_name}, {chart.x_name}. " + (", ".join(said) or chart.empty))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, self.height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._lines:
            return
        plot, (low, high, _) = self._plot(), self._reach.axes
        share = (event.position().x() - plot.left()) / max(1.0, plot.width())
        self._at = low + share * (high - low) if 0 <= share <= 1 else None
        if self._at is not None:
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(self.text_at(self._at)), self)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self.update()

    def text_at(self, x: float) -> str:
        """The values of all lines at the measured place nearest to x, and what is pointed out there."""
        rows = []
        for line in self._lines:
            at, y = nearest(line, x)
            rows.append(labelled(line.label, f"{value_text(y)} ({self._x_text(at)})"))
        first, last, _ = self._reach.axes
        near = _NEAR * (last - first)
        return "\n".join((*rows, *(mark.label for mark in self._chart.marks if abs(mark.x - x) <= near)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font("small"))
        if not self._lines:
            painter.setPen(self._theme.color("muted"))
            flags = int(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap)
            painter.drawText(QRectF(self.rect()), flags, self._chart.empty)
            return
        plot = self._plot()
        self._paint_axes(painter, plot)
        self._paint_marks(painter, plot)
        for line in self._lines:
            self._paint_line(painter, plot, line)
        self._paint_pointer(painter, plot)

    def _plot(self) -> QRectF:
        metrics = QFontMetricsF(self._theme.font("small"), self)
        _, _, top = self._reach.axes
        left = max(metrics.horizontalAdvance(number_text(value)) for value in round_numbers(0, top)) + _LABEL_GAP
        line = metrics.height()
        return QRectF(left, line + 12, self.width() - left - 6, self.height() - 2 * line - 20)

    def _points(self, plot: QRectF, points: Sequence[tuple[float, float]]) -> list[QPointF]:
        """Where points of the chart are drawn."""
        low, high, top = self._reach.axes
        wide, high_up = plot.width() / (high - low), plot.height() / top
        return [QPointF(plot.left() + wide * (x - low), plot.bottom() - high_up * y) for x, y in points]

    def _paint_axes(self, painter: QPainter, plot: QRectF) -> None:
        low, _, top = self._reach.axes
        line = painter.fontMetrics().height()
        right, left = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), int(Qt.AlignmentFlag.AlignLeft)
        painter.setPen(self._theme.color("muted"))
        painter.drawText(QRectF(0, 0, self.width(), line), left, self._chart.y_name)
        values = round_numbers(0, top)
        for value, at in zip(values, self._points(plot, [(low, value) for value in values]), strict=True):
            y = at.y()
            painter.setPen(QPen(self._theme.color("line"), 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(self._theme.color("muted"))
            painter.drawText(QRectF(0, y - line / 2, plot.left() - _LABEL_GAP, line), right, number_text(value))
        below = QRectF(plot.left(), plot.bottom() + 4, plot.width(), line)
        self._paint_below(painter, below)

    def _paint_below(self, painter: QPainter, below: QRectF) -> None:
        """The ends of the x axis and its name; of a single value just that."""
        first, last = self._x_text(self._reach.first), self._x_text(self._reach.last)
        middle = int(Qt.AlignmentFlag.AlignHCenter)
        if self._reach.first == self._reach.last:
            painter.drawText(below, middle, f"{first} {self._chart.x_name}".strip())
            return
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), first)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), last)
        painter.drawText(below, middle, self._chart.x_name)

    def _paint_marks(self, painter: QPainter, plot: QRectF) -> None:
        painter.setPen(QPen(self._theme.color("warning"), 1, Qt.PenStyle.DashLine))
        for at in self._points(plot, [(mark.x, 0.0) for mark in self._chart.marks]):
            painter.drawLine(QPointF(at.x(), plot.top()), QPointF(at.x(), plot.bottom()))

    def _paint_line(self, painter: QPainter, plot: QRectF, line: Line) -> None:
        color = self._theme.color(line.token)
        points = self._points(plot, line.points)
        painter.setPen(QPen(color, 1.75, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline(QPolygonF(points))
        if line.dots or len(points) == 1:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            for point in points:
                painter.drawEllipse(point, _DOT, _DOT)

    def _paint_pointer(self, painter: QPainter, plot: QRectF) -> None:
        if self._at is None:
            return
        for line in self._lines:
            (point,) = self._points(plot, [nearest(line, self._at)])
            painter.setPen(QPen(self._theme.color("surface"), 1.5))
            painter.setBrush(self._theme.color(line.token))
            painter.drawEllipse(point, _DOT + 1.5, _DOT + 1.5)

    def _x_text(self, value: float) -> str:
        if not self._chart.x_is_time:
            return number_text(round(value, 2))
        when = datetime.fromtimestamp(value)
        day = words.day(when.date(), datetime.now().date())
        return f"{day} {when:%H:%M}" if self._reach.last - self._reach.first < 2 * _DAY else day


def nearest(line: Line, x: float) -> tuple[float, float]:
    """The point of a line that was measured nearest to x."""
    return min(line.points, key=lambda point: abs(point[0] - x))
