"""A question being asked in other words, in its own place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import ElidedLabel, show_property
from app.views.editor import MessageEditor


def _hint() -> str:
    return translate("edit_box", "Ctrl+Enter sends, Esc keeps it as it was")


class EditBox(QFrame):
    """Holds the text until it is told that it was taken; an unchanged one is given up."""

    submitted = Signal(str)
    cancelled = Signal()
    text_changed = Signal(str)
    height_changed = Signal()

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._before = text
        self._column = QVBoxLayout(self)
        self._note = ElidedLabel(theme, _hint(), "small", "muted")
        self._editor = MessageEditor(theme, translate("edit_box", "Your question in other words"), self)
        self._editor.setPlainText(text)
        self._editor.move_to_end()
        self._send = self._button(theme, translate("edit_box", "Send"), "send", "button")
        self._cancel = self._button(theme, translate("edit_box", "Cancel"), "quiet", "list")
        self._lay_out(theme)
        self._editor.submitted.connect(self._submit)
        self._editor.escaped.connect(self.cancelled)
        self._editor.height_changed.connect(self.height_changed)
        self._editor.textChanged.connect(self._text_changed)
        self._editor.focus_changed.connect(self._mark_focus)
        self._send.clicked.connect(self._submit)
        self._cancel.clicked.connect(self.cancelled)

    @property
    def editor(self) -> MessageEditor:
        """The field."""
        return self._editor

    @property
    def send_button(self) -> QPushButton:
        """Asks in these words."""
        return self._send

    @property
    def cancel_button(self) -> QPushButton:
        """Keeps the question as it was."""
        return self._cancel

    @property
    def note(self) -> str:
        """What stands beside the buttons."""
        return self._note.text()

    def show_cost(self, text: str) -> None:
        """Say what asking in these words would cost; an empty text says which keys do what instead."""
        self._note.setText(text or _hint())

    def height_for(self, width: int) -> int:
        """Lay out for a width and tell the height that takes."""
        self.resize(width, self.height())
        self._column.activate()
        return self.sizeHint().height()

    def _button(self, theme: Theme, label: str, kind: str, role: str) -> QPushButton:
        button = QPushButton(label, self)
        button.setObjectName(kind)
        button.setFont(theme.font(role))  # type: ignore[arg-type]
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        return button

    def _lay_out(self, theme: Theme) -> None:
        bottom = QHBoxLayout()
        bottom.setSpacing(8)
        bottom.addWidget(self._note, 1)
        bottom.addWidget(self._cancel)
        bottom.addWidget(self._send)
        column = self._column
        column.setContentsMargins(16, 14, 12, 12)
        column.setSpacing(8)
        column.addWidget(self._editor)
        column.addLayout(bottom)

    def _submit(self) -> None:
        text = self._editor.toPlainText()
        if text == self._before:
            self.cancelled.emit()
        elif text.strip():
            self.submitted.emit(text)

    def _text_changed(self) -> None:
        text = self._editor.toPlainText()
        self._send.setEnabled(bool(text.strip()))
        self.text_changed.emit(text)

    def _mark_focus(self, focused: bool) -> None:
        show_property(self, "focused", focused)
