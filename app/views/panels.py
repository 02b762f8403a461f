"""A panel at one side of the window: beside the conversation where there is room, over it where there is not."""

from __future__ import annotations

from typing import Final, Literal

from PySide6.QtCore import QByteArray, QEasingCurve, QObject, QPoint, QPropertyAnimation, QRect, QSize, Signal
from PySide6.QtWidgets import QWidget

from app.theme import Theme

Side = Literal["left", "right"]
_POS: Final = QByteArray(b"pos")


class Panel(QObject):
    """Shows, folds and slides one widget; the window places what is beside it when `moved` comes.

    Args:
        widget: What is shown; a child of the window, with a fixed width.
        wanted: Whether the person wants it beside the conversation.
    """

    moved = Signal()

    def __init__(self, widget: QWidget, side: Side, theme: Theme, window: QWidget, *, wanted: bool) -> None:
        super().__init__(window)
        self._widget = widget
        self._side = side
        self._theme = theme
        self._window = window
        self._wanted = wanted
        self._over = False
        self._going = False  # whether it slides out
        self._slide = QPropertyAnimation(widget, _POS, self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.finished.connect(self._slid)
        widget.setVisible(wanted)

    @property
    def wanted(self) -> bool:
        """Whether it stands beside the conversation where there is room."""
        return self._wanted

    @property
    def shown(self) -> bool:
        """Whether it is on view, or slides in."""
        return not self._widget.isHidden() and not self._going

    @property
    def lies_over(self) -> bool:
        """Whether it is on view and covers a part of the conversation."""
        return self.shown and self._over

    @property
    def room(self) -> int:
        """Pixels that it takes from the conversation."""
        return 0 if self._over or self._widget.isHidden() else self._widget.width()

    def set_over(self, over: bool) -> None:
        """Whether there is no room for it beside the conversation.

        What lies over it when there is room again stands beside it from then on; what stood beside it folds until
        there is room, because it would cover what is being read.
        """
        if over != self._over:
            self._wanted = self._wanted or self.lies_over
            self._over = over
            self._slide.stop()
            self._going = False
            self._widget.setVisible(self._wanted and not over)

    def want(self) -> None:
        """Let it stand beside the conversation, now or as soon as there is room."""
        self._wanted = True
        self._widget.setVisible(not self._over)

    def show(self, shown: bool) -> None:
        """Show or fold it."""
        if not self._over:
            self._wanted = shown
        elif self._window.isVisible() and self._theme.motion_ms():
            self._slide_to(shown)
            return
        self._widget.setVisible(shown)
        self.moved.emit()

    def place(self) -> None:
        """Put it at its side, over the window's whole height."""
        if self._slide.state() != QPropertyAnimation.State.Running:
            self._widget.setGeometry(QRect(self._place(True), self._size()))
        if self._over:
            self._widget.raise_()

    def _size(self) -> QSize:
        size = self._widget.size()
        size.setHeight(self._window.height())
        return size

    def _place(self, shown: bool) -> QPoint:
        width, whole = self._widget.width(), self._window.width()
        if self._side == "left":
            return QPoint(0 if shown else -width, 0)
        return QPoint(whole - width if shown else whole, 0)

    def _slide_to(self, shown: bool) -> None:
        self._slide.stop()
        self._going = not shown
        self._slide.setDuration(self._theme.motion_ms())
        self._slide.setStartValue(self._widget.pos() if self._widget.isVisible() else self._place(False))
        self._slide.setEndValue(self._place(shown))
        self._widget.resize(self._widget.width(), self._window.height())
        self._widget.show()
        self._widget.raise_()
        self._slide.start()
        self.moved.emit()

    def _slid(self) -> None:
        self._widget.setVisible(not self._going)
        self._going = False
        self.moved.emit()
