"""The files that went with a question: their names and sizes, in its bubble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.attachments import size_of
from app.records import Attachment
from app.theme import Theme
from app.views import words
from app.views.controls import plain_tip

_HEIGHT: Final = 30
_GAP: Final = 6
_PAD: Final = 10
_RADIUS: Final = 8
_APART: Final = 16  # a name and its size


class SentFiles(QWidget):
    """Draws one row a file."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[tuple[str, str], ...] = ()  # name and size of each file

    def show_files(self, files: Sequence[Attachment]) -> None:
        """Show other files."""
        self._rows = tuple((file.name, words.size(size_of(file.text))) for file in files)  # once: 5 MB take a while
        self.setAccessibleName(", ".join(name for name, _ in self._rows))
        self.setToolTip(plain_tip("\n".join(name for name, _ in self._rows)))
        self.update()

    def natural_width(self) -> int:
        """The width at which no name has to be cut."""
        names, sizes = self._metrics()
        widths = (names.horizontalAdvance(name) + sizes.horizontalAdvance(size) for name, size in self._rows)
        return max(widths, default=0) + 2 * _PAD + _APART + 2  # the widths are rounded; a name is cut by exact ones

    def height_for(self, _width: int) -> int:
        """The height that the rows take."""
        return len(self._rows) * (_HEIGHT + _GAP) - _GAP if self._rows else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, (name, size) in enumerate(self._rows):
            self._paint_file(painter, name, size, QRect(0, number * (_HEIGHT + _GAP), self.width(), _HEIGHT))

    def _paint_file(self, painter: QPainter, name: str, size: str, box: QRect) -> None:
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.setBrush(self._theme.color("surface"))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        inner = box.adjusted(_PAD, 0, -_PAD, 0)
        names, sizes = self._metrics()
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, size)
        painter.setFont(self._theme.font("list"))
        painter.setPen(self._theme.color("text"))
        room = inner.width() - sizes.horizontalAdvance(size) - _APART
        shown = names.elidedText(name, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _metrics(self) -> tuple[QFontMetrics, QFontMetrics]:
        return QFontMetrics(self._theme.font("list"), self), QFontMetrics(self._theme.font("small"), self)
