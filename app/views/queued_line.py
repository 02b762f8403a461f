"""The question that waits for the answer being written: one quiet line in the composer, and a way to take it back."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import ElidedLabel, QuietButton


class QueuedLine(QWidget):
    """Hidden while nothing waits."""

    taken_back = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._label = ElidedLabel(theme, "", "small", "muted")
        self._edit = QuietButton(
            theme,
            translate("queued_line", "Edit"),
            translate("queued_line", "Take the waiting question back into the field"),
            self,
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._label, 1)
        row.addWidget(self._edit)
        self._edit.clicked.connect(self.taken_back)
        self.hide()

    @property
    def text(self) -> str:
        """What is said."""
        return self._label.text()

    @property
    def edit_button(self) -> QuietButton:
        """Takes the question back."""
        return self._edit

    def show_queued(self, text: str) -> None:
        """Show the question that waits; empty where none does."""
        said = translate("queued_line", "Sent after this answer: {text}").format(text=" ".join(text.split()))
        self._label.setText(said)
        self._label.setAccessibleName(said)
        self.setVisible(bool(text))
