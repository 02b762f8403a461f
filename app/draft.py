"""When a question that is being written is read ahead: in a pause, now and then while typing, after a paste."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

QUIET_MS: Final = 250
LONGEST_MS: Final = 500
PASTED: Final = 40  # characters that come or go at once
LONGEST_DRAFT: Final = 200_000  # characters; more does not fit any context, and would be tokenised again and again


class DraftWatch(QObject):
    """Emits `due` with the draft: 250 ms after the last key, every 500 ms while keys go on, at once after a paste."""

    due = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._draft = ""
        self._told = ""
        self._quiet = self._timer(QUIET_MS)
        self._longest = self._timer(LONGEST_MS)

    def edit(self, draft: str) -> None:
        """Take the draft as it is now."""
        pasted = abs(len(draft) - len(self._draft)) >= PASTED
        self._draft = draft
        if not draft.strip() or len(draft) > LONGEST_DRAFT:
            self.stop()
        elif pasted:
            self._tell()
        else:
            self._quiet.start()
            if not self._longest.isActive():
                self._longest.start()

    def stop(self) -> None:
        """Nothing is due any more."""
        self._quiet.stop()
        self._longest.stop()
        self._told = ""

    def _timer(self, milliseconds: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(self._tell)
        return timer

    def _tell(self) -> None:
        self._quiet.stop()
        self._longest.stop()
        if self._draft != self._told:
            self._told = self._draft
            self.due.emit(self._draft)
