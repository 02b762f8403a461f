"""The title above a conversation: a double click, or its menu, lets it be written anew in its own place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import ElidedLabel, claim_escape
from app.views.line_edit import LineEdit


class _Editor(LineEdit):
    """Enter and leaving it keep what was written, Escape gives it up."""

    done = Signal(bool)

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.composing:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Escape:
            self.done.emit(False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.done.emit(True)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu of its own, or another window, is no sign that the title is finished.
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self.done.emit(True)


class TitleField(QWidget):
    """Shows a title in one line. What is written goes out as a wish; the title changes when it comes back."""

    renamed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._may_rename = False
        self._editing = False
        self._label = ElidedLabel(theme, "", "title")
        self._editor = _Editor(self)
        self._editor.setObjectName("rename")
        self._editor.setFont(theme.font("title"))
        self._editor.setAccessibleName(translate("title_field", "Title of the chat"))
        self.setFixedHeight(theme.line(32))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._label)
        self._stack.addWidget(self._editor)
        self._label.double_clicked.connect(self.begin)
        self._editor.done.connect(self._end)

    @property
    def text(self) -> str:
        """The title shown."""
        return self._label.text()

    @property
    def editor(self) -> QLineEdit:
        """Where a new title is written."""
        return self._editor

    @property
    def editing(self) -> bool:
        """Whether a title is being written."""
        return self._editing

    def show_title(self, title: str, may_rename: bool) -> None:
        """Show a title; one that is being written stays, and is given up by whoever shows another conversation."""
        self._label.setText(title)
        self._may_rename = may_rename
        if not may_rename:
            self.give_up()

    def begin(self) -> None:
        """Let the title be written."""
        if self._may_rename:
            self._editing = True
            self._editor.setText(self.text)
            self._stack.setCurrentWidget(self._editor)
            self._editor.selectAll()
            self._editor.setFocus()

    def give_up(self) -> None:
        """Forget what is being written."""
        self._end(False)

    def _end(self, keep: bool) -> None:
        if not self._editing:
            return
        self._editing = False  # before the field goes: it loses the keyboard then, which would keep what it holds
        self._stack.setCurrentWidget(self._label)
        title = " ".join(self._editor.text().split())
        if keep and title and title != self.text:
            self.renamed.emit(title)
