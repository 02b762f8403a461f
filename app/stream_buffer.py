"""Collects the text of a reply and hands it on at a steady pace, so that drawing never falls behind the model."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

INTERVAL_MS = 40


class StreamBuffer(QObject):
    """A throttle: the timer is started when text comes and it is idle, and never restarted while it runs."""

    flushed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._parts: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.flush)

    def append(self, text: str) -> None:
        """Add text; it is handed on within 40 ms. Empty text still brings a flush, for the figures beside it."""
        self._parts.append(text)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Hand on what there is at once; called at the end of a reply."""
        self._timer.stop()
        if self._parts:
            text = "".join(self._parts)
            self._parts.clear()
            self.flushed.emit(text)

    def discard(self) -> None:
        """Forget what was not handed on yet."""
        self._timer.stop()
        self._parts.clear()
