"""A question that is being written, and when it is looked at: in a pause, now and then while typing, after a paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.records import Attachment

QUIET_MS: Final = 250
LONGEST_MS: Final = 500
PASTED: Final = 40  # characters that come or go at once
LONGEST_DRAFT: Final = 200_000  # characters; more does not fit any context, and would be tokenised again and again


@dataclass(frozen=True, slots=True)
class Draft:
    """What is in the composer: text, and files that go with it. False if there is nothing to send in it."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.attachments or self.text.strip())

    @property
    def words(self) -> str:
        """The text, or the names of the files where there is none."""
        return self.text if self.text.strip() else ", ".join(attachment.name for attachment in self.attachments)

    @property
    def length(self) -> int:
        """Characters of text and files together."""
        return len(self.text) + sum(len(attachment.text) for attachment in self.attachments)

    def before(self, other: Draft) -> Draft:
        """Both as one, this one first."""
        text = "\n\n".join(text for text in (self.text, other.text) if text.strip())
        return Draft(text, (*self.attachments, *other.attachments))


class DraftWatch(QObject):
    """Emits `due` with the draft: 250 ms after the last key, every 500 ms while keys go on, at once after a paste."""

    due = Signal(object)  # Draft

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._draft = Draft()
        self._told: Draft | None = None
        self._quiet = self._timer(QUIET_MS)
        self._longest = self._timer(LONGEST_MS)

    def edit(self, draft: Draft) -> None:
        """Take the draft as it is now."""
        pasted = abs(draft.length - self._draft.length) >= PASTED
        self._draft = draft
        if not draft or draft.length > LONGEST_DRAFT:
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
        self._told = None

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
