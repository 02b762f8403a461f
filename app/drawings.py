"""SVG drawings as icons and pixmaps, drawn at the size in which they are shown, also where a screen scales by 1.25."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


class DrawingEngine(QIconEngine):
    """An icon that is drawn anew wherever it is painted, so that no pixel is stretched.

    Args:
        source: An SVG.
    """

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self._source = source
        self._renderer = QSvgRenderer(source)

    def clone(self) -> QIconEngine:
        """Another one of the same drawing, when an icon is detached."""
        return DrawingEngine(self._source)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw into a painter."""
        self._renderer.render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """A picture with as many pixels as the finest screen has."""
        return draw_svg(self._source, size, max(screen.devicePixelRatio() for screen in QGuiApplication.screens()))


def draw_svg(source: bytes, size: QSize, scale: float) -> QPixmap:
    """An SVG drawn at a size in device-independent pixels."""
    pixmap = QPixmap(size * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(source).render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap
