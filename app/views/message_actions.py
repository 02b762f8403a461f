"""What can be done with a message: step through its versions, and a few quiet words that hovering or focus reveals."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.records import Version
from app.theme import Theme
from app.views.controls import IconButton, Label, QuietButton

_SIDE: Final = 24


class VersionStepper(QWidget):
    """Which version is shown, between an arrow back and one on; hidden where there is only one."""

    stepped = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._back = IconButton(theme, "back", "Previous version", self, _SIDE)
        self._next = IconButton(theme, "next", "Next version", self, _SIDE)
        self._label = Label(theme, "", "small", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for part in (self._back, self._label, self._next):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self._back.clicked.connect(lambda: self.stepped.emit(-1))
        self._next.clicked.connect(lambda: self.stepped.emit(1))
        self._version = Version()
        self._busy = False
        self.hide()

    @property
    def back_button(self) -> IconButton:
        """Shows the version before."""
        return self._back

    @property
    def next_button(self) -> IconButton:
        """Shows the version after."""
        return self._next

    @property
    def text(self) -> str:
        """What it says: "2 / 3"."""
        return self._label.text()

    def show_version(self, version: Version) -> None:
        """Show which version it is."""
        self._version = version
        self._label.setText(f"{version.number} / {version.of}")
        self.setVisible(version.of > 1)
        self._enable()

    def set_busy(self, busy: bool) -> None:
        """While an answer is being written, no other version can be shown."""
        self._busy = busy
        self._enable()

    def _enable(self) -> None:
        self._back.setEnabled(not self._busy and self._version.number > 1)
        self._next.setEnabled(not self._busy and self._version.number < self._version.of)


class MessageActions(QWidget):
    """The stepper and some buttons in one row.

    Args:
        buttons: In order; those in `unless_busy` are hidden while an answer is being written.
        stepper_first: Whether the stepper stands at the left.
    """

    def __init__(
        self,
        theme: Theme,
        buttons: tuple[QuietButton, ...],
        unless_busy: tuple[QuietButton, ...],
        stepper_first: bool,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._buttons = buttons
        self._unless_busy = unless_busy
        self.stepper = VersionStepper(theme, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        parts: tuple[QWidget, ...] = (self.stepper, *buttons) if stepper_first else (*buttons, self.stepper)
        for part in parts:
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self.reveal(False)

    def reveal(self, revealed: bool) -> None:
        """Draw the words of the buttons, or leave their place empty; the stepper is always drawn."""
        for button in self._buttons:
            button.set_revealed(revealed)

    def set_busy(self, busy: bool) -> None:
        """Leave out what cannot be done while an answer is being written."""
        self.stepper.set_busy(busy)
        for button in self._unless_busy:
            button.setVisible(not busy)
