"""A line of figures: numbers stand out, their words are quiet, digits do not jump while they change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme

_GROUP_GAP: Final = 16
_PLACE: Final = re.compile(r"(\{\w+\})")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text; a strong one is a figure."""

    text: str
    strong: bool = False
    tone: str = ""


Group = tuple[Part, ...]


def strong(text: str) -> Part:
    """A figure."""
    return Part(text, True)


def filled(sentence: str, **figures: str) -> Group:
    """A sentence with figures in its places: the words are quiet, in whichever order the language has them.

    Args:
        sentence: With places as `{name}`.
        figures: What stands in them, by their names.
    """
    parts = (strong(figures[part[1:-1]]) if part[:1] == "{" else Part(part) for part in _PLACE.split(sentence) if part)
    return tuple(parts)


def text_of(groups: Sequence[Group]) -> str:
    """What the line says, for tool tips and screen readers."""
    return ", ".join("".join(part.text for part in group) for group in groups)


class FigureLine(QWidget):
    """Draws groups of parts from left to right; groups that have no room are left out, the last first."""

    clicked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._groups: tuple[Group, ...] = ()
        self._widths: tuple[float, ...] = ()  # of the groups
        # Kept: a line is shown anew with every token, and the window is made anew when its fonts change.
        self._quiet = QFontMetricsF(theme.font("small"), self)
        self._strong = QFontMetricsF(theme.font("figure"), self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def groups(self) -> tuple[Group, ...]:
        """What is shown."""
        return self._groups

    def show_groups(self, groups: Sequence[Group]) -> None:
        """Show other figures."""
        shown = tuple(groups)
        if shown == self._groups:
            return
        widths = tuple(self._width_of(group) for group in shown)
        wider = widths != self._widths
        self._groups, self._widths = shown, widths
        self.setAccessibleName(text_of(shown))
        if wider:
            self.updateGeometry()
        self.update()

    def width_within(self, room: int) -> int:
        """The width of the groups that are drawn where there are so many pixels."""
        x = 0.0
        for width in self._widths:
            if x + width > room + 1:
                break
            x += width + _GROUP_GAP
        return max(0, int(x - _GROUP_GAP + 0.999))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def sizeHint(self) -> QSize:
        width = sum(self._widths) + _GROUP_GAP * max(0, len(self._widths) - 1)
        return QSize(int(width + 0.999), int(self._quiet.height()) + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        x = 0.0
        baseline = (self.height() + self._quiet.ascent() - self._quiet.descent()) / 2
        for group, width in zip(self._groups, self._widths, strict=True):
            if x + width > self.width() + 1:
                return
            self._paint_group(painter, group, QPointF(x, baseline))
            x += width + _GROUP_GAP

    def _paint_group(self, painter: QPainter, group: Group, at: QPointF) -> None:
        x = at.x()
        for part in group:
            painter.setFont(self._theme.font("figure" if part.strong else "small"))
            painter.setPen(self._theme.color(part.tone or ("text" if part.strong else "muted")))
            painter.drawText(QPointF(x, at.y()), part.text)
            x += self._width_of((part,))

    def _width_of(self, group: Group) -> float:
        return sum((self._strong if part.strong else self._quiet).horizontalAdvance(part.text) for part in group)
