"""Ctrl+C and a polite kill, brought into Qt's event loop, which runs no Python while it waits."""

from __future__ import annotations

import signal
import socket
from types import FrameType
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, Signal

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class TerminalSignals(QObject):
    """Emits `asked_to_quit` when the terminal or the system asks the program to end. Main thread only."""

    asked_to_quit = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Python writes a byte here when a signal comes; the notifier wakes the event loop, and only then handlers run.
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}

    def close(self) -> None:
        """Put the former handlers back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _drain(self) -> None:
        self._reader.recv(64)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked_to_quit.emit()
