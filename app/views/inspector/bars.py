"""A bar in pieces, with a legend that repeats every piece in words and numbers: nothing depends on colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.i18n import labelled
from app.theme import Theme
from app.views.inspector.values import Segment

BAR_HEIGHT: Final = 14
ROW_HEIGHT: Final = 23
_RADIUS: Final = 4
_GAP: Final = 1.0
_SWATCH: Final = 8
_QUIET: Final = frozenset({"left_out", "reused"})
_LEAST: Final = 2.0  # pixels: a piece that is there is seen


def widths_of(values: Sequence[float], room: float) -> list[float]:
    """Pixels of each piece: in proportion, but none that is above zero narrower than can be seen."""
    whole = sum(values)
    if whole <= 0 or room <= 0:
        return [0.0 for _ in values]
    least = min(_LEAST, room / max(1, len(values)))
    given = [0.0 if value <= 0 else max(least, room * (value / whole)) for value in values]
    over = sum(given) - room
    spare = sum(width - least for width in given if width > least)
    if over <= 0 or spare <= 0:
        return given
    return [width - over * (width - least) / spare if width > least else width for width in given]


class StackBar(QWidget):
    """One bar; the pointer shows what is below it."""

    hovered = Signal(int)  # the piece under the pointer, or -1

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._segments: tuple[Segment, ...] = ()
        self._whole: float | None = None
        self._strong = -1
        self.setFixedHeight(BAR_HEIGHT)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_segments(self, segments: Sequence[Segment], whole: float | None = None) -> None:
        """Show these pieces; where `whole` is more than their sum, the rest of the bar stays empty."""
        self._segments, self._whole = tuple(segments), whole
        self.setAccessibleName(", ".join(labelled(each.label, each.text) for each in segments))
        self.update()

    def mark(self, index: int) -> None:
        """Point one piece out; -1 for none."""
        if index != self._strong:
            self._strong = index
            self.update()

    def piece_at(self, x: float) -> int:
        """The index of the piece at this place, or -1."""
        ends = list(accumulate(self._widths()))
        return next((index for index, end in enumerate(ends) if x < end), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = self.piece_at(event.position().x())
        self.hovered.emit(index)
        if index >= 0:
            each = self._segments[index]
            text = labelled(each.label, each.text) + (f"\n{each.detail}" if each.detail else "")
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit(-1)

    def _widths(self) -> list[float]:
        values = [max(0.0, each.value) for each in self._segments]
        room = float(self.width())
        if self._whole is not None and self._whole > sum(values):
            room *= sum(values) / self._whole
        return widths_of(values, room)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), self._theme.color("left_out"))
        x = 0.0
        for index, (each, width) in enumerate(zip(self._segments, self._widths(), strict=True)):
            color = self._theme.color(each.token)
            if self._strong not in (-1, index):
                color.setAlphaF(0.45)
            painter.fillRect(QRectF(x, 0, max(0.0, width - _GAP), self.height()), color)
            x += width
        painter.setClipping(False)
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)


class Legend(QWidget):
    """A line for each piece: its colour, its name, its value at the right."""

    hovered = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._segments: tuple[Segment, ...] = ()
        self._strong = -1
        self._row = theme.line(ROW_HEIGHT)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_segments(self, segments: Sequence[Segment]) -> None:
        """Show these lines."""
        if len(segments) != len(self._segments):
            self.setFixedHeight(self._row * len(segments))
        self._segments = tuple(segments)
        self.setAccessibleName("\n".join(labelled(each.label, each.text) for each in segments))
        self.update()

    def mark(self, index: int) -> None:
        """Point one line out; -1 for none."""
        if index != self._strong:
            self._strong = index
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = int(event.position().y() // self._row)
        inside = 0 <= index < len(self._segments)
        self.hovered.emit(index if inside else -1)
        detail = self._segments[index].detail if inside else ""
        if detail:
            QToolTip.showText(event.globalPosition().toPoint(), detail, self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit(-1)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._row * len(self._segments))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, each in enumerate(self._segments):
            self._paint_row(painter, QRectF(0, index * self._row, self.width(), self._row), each, index)

    def _paint_row(self, painter: QPainter, box: QRectF, each: Segment, index: int) -> None:
        # A quiet colour on the same ground needs the edge to be seen.
        painter.setPen(QPen(self._theme.color("faint"), 1) if each.token in _QUIET else Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(each.token))
        painter.drawRoundedRect(QRectF(0.5, box.center().y() - _SWATCH / 2, _SWATCH, _SWATCH), 2.5, 2.5)
        figure = self._theme.font("figure")
        width = QFontMetricsF(figure, self).horizontalAdvance(each.text)
        painter.setFont(figure)
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), each.text)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("text" if index == self._strong else "muted"))
        place = box.adjusted(_SWATCH + 8, 0, -width - 12, 0)
        label = painter.fontMetrics().elidedText(each.label, Qt.TextElideMode.ElideRight, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), label)


class BarWithLegend(QWidget):
    """Both together: pointing at a piece points out its line, and the other way round."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.bar = StackBar(theme, self)
        self.legend = Legend(theme, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        for source in (self.bar, self.legend):
            source.hovered.connect(self.bar.mark)
            source.hovered.connect(self.legend.mark)

    def show_segments(self, segments: Sequence[Segment], whole: float | None = None) -> None:
        """Show these pieces; `whole` as in `StackBar.show_segments`."""
        self.bar.show_segments(segments, whole)
        self.legend.show_segments(segments)
