"""A field of one line that knows whether an input method is at work in it."""

from __future__ import annotations

from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QLineEdit


class LineEdit(QLineEdit):
    """While an input method composes, the keys are the input method's: Enter must not choose anything."""

    composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self.composing = bool(event.preeditString())
        super().inputMethodEvent(event)
