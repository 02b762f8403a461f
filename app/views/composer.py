"""Where questions are written: a field that grows with its text, one line of hints, Send or Stop."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.controls import ElidedLabel
from app.views.editor import Editor

HINT: Final = "Enter sends, Shift+Enter breaks the line"
BUSY_HINT: Final = "Esc stops the answer"
PLACEHOLDER: Final = "Ask anything"


class Composer(QFrame):
    """The question being written. Emits what the person wants; keeps the text until it is told that it was taken."""

    send_requested = Signal(str)
    stop_requested = Signal()
    paged = Signal(int)
    edited = Signal(str)  # the text as it is now

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._busy = False
        self._editor = Editor(theme, "Your question", self)
        self._editor.setPlaceholderText(PLACEHOLDER)
        self._hint = ElidedLabel(theme, HINT, "small", "muted")
        self._button = QPushButton("Send", self)
        self._button.setObjectName("send")
        self._button.setFont(theme.font("button"))
        self._button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._lay_out()
        self._editor.submitted.connect(self._submit)
        self._editor.textChanged.connect(self._text_changed)
        self._editor.paged.connect(self.paged)
        self._editor.focus_changed.connect(self._mark_focus)
        self._button.clicked.connect(self._press)
        self._update_button()

    @property
    def editor(self) -> Editor:
        """The field."""
        return self._editor

    @property
    def button(self) -> QPushButton:
        """Send, or Stop while an answer is being written."""
        return self._button

    @property
    def hint(self) -> ElidedLabel:
        """The quiet line below the field."""
        return self._hint

    @property
    def text(self) -> str:
        """What is written so far."""
        return self._editor.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written; the text cursor goes to its end."""
        self._editor.setPlainText(text)
        self._editor.move_to_end()

    def type(self, text: str) -> None:
        """Write text at the cursor and put the keyboard into the field."""
        self._editor.insertPlainText(text)
        self.focus_editor()

    def clear(self) -> None:
        """Empty the field: the question was taken."""
        self._editor.clear()

    def set_busy(self, busy: bool) -> None:
        """Offer Stop instead of Send while an answer is being written."""
        if busy != self._busy:
            self._busy = busy
            self._hint.setText(BUSY_HINT if busy else HINT)
            self._update_button()

    def focus_editor(self) -> None:
        """Put the keyboard into the field."""
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def mousePressEvent(self, event: QEvent) -> None:
        self.focus_editor()

    def _lay_out(self) -> None:
        bottom = QHBoxLayout()
        bottom.setContentsMargins(0, 0, 0, 0)
        bottom.setSpacing(12)
        bottom.addWidget(self._hint, 1)
        bottom.addWidget(self._button)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 12, 12)
        column.setSpacing(8)
        column.addWidget(self._editor)
        column.addLayout(bottom)

    def _submit(self) -> None:
        if self._busy:
            return
        if self.text.strip():
            self.send_requested.emit(self.text)

    def _press(self) -> None:
        if self._busy:
            self.stop_requested.emit()
        else:
            self._submit()
        self.focus_editor()

    def _text_changed(self) -> None:
        self._update_button()
        self.edited.emit(self.text)

    def _update_button(self) -> None:
        self._button.setText("Stop" if self._busy else "Send")
        self._button.setAccessibleName("Stop the answer (Esc)" if self._busy else "Send the question (Enter)")
        self._button.setToolTip(self._button.accessibleName())
        self._button.setEnabled(self._busy or bool(self.text.strip()))

    def _mark_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
