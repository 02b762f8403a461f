"""Looking for words in the conversation: a field, how many there are, on and back."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QStyle, QStyleOption, QStylePainter, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import IconButton, Label, claim_escape
from app.views.line_edit import LineEdit

_SIDE: Final = 28
_WIDTH: Final = 340
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FindField(LineEdit):
    """The words to look for. Enter goes on, Shift+Enter back, Escape closes."""

    stepped = Signal(int)
    escaped = Signal()

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.composing:
            super().keyPressEvent(event)
        elif event.key() in _ENTER:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """Says what the person looks for; it knows nothing of the conversation."""

    text_changed = Signal(str)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("find")
        self._field = FindField(self)
        self._field.setObjectName("editor")
        self._field.setFont(theme.font("list"))
        self._field.setFrame(False)
        self._field.setPlaceholderText(translate("find_bar", "Find in this chat"))
        self._field.setAccessibleName(translate("find_bar", "Find in this chat"))
        self._count = Label(theme, "", "small", "muted")
        self._back = IconButton(theme, "up", translate("find_bar", "Previous match (Shift+Enter)"), self, _SIDE)
        self._next = IconButton(theme, "down", translate("find_bar", "Next match (Enter)"), self, _SIDE)
        self._close = IconButton(theme, "close", translate("find_bar", "Close (Esc)"), self, _SIDE)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 6, 4)
        row.setSpacing(2)
        row.addWidget(self._field, 1)
        row.addWidget(self._count)
        row.addSpacing(4)
        for button in (self._back, self._next, self._close):
            row.addWidget(button)
        self._field.textChanged.connect(self.text_changed)
        self._field.stepped.connect(self.step_requested)
        self._field.escaped.connect(self.closed)
        self._back.clicked.connect(lambda: self.step_requested.emit(-1))
        self._next.clicked.connect(lambda: self.step_requested.emit(1))
        self._close.clicked.connect(self.closed)
        self._show_buttons(False)
        self.hide()

    @property
    def field(self) -> QLineEdit:
        """Where the words are typed."""
        return self._field

    @property
    def count(self) -> str:
        """What is said about how many matches there are."""
        return self._count.text()

    @property
    def back_button(self) -> IconButton:
        """Goes to the match before."""
        return self._back

    @property
    def next_button(self) -> IconButton:
        """Goes to the match after."""
        return self._next

    @property
    def close_button(self) -> IconButton:
        """Looks no more."""
        return self._close

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, 40)

    def open(self, text: str = "") -> None:
        """Show the bar, with these words if there are any, and take the keyboard."""
        if text:
            self._field.setText(text)
        self.show()
        self.raise_()
        self._field.selectAll()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_count(self, number: int, of: int, counting: bool) -> None:
        """Say which match is the current one, from 1, and how many there are; `counting` while more may come."""
        self._show_buttons(of > 0)
        if not self._field.text().strip():
            self._count.setText("")
        elif of or counting:
            number_text, of_text = f"{number:,}", f"{of:,}" + ("…" if counting else "")
            self._count.setText(translate("find_bar", "{number} of {all}").format(number=number_text, all=of_text))
        else:
            self._count.setText(translate("find_bar", "Nothing found"))
        self._count.setAccessibleName(self._count.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        QStylePainter(self).drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option)

    def _show_buttons(self, enabled: bool) -> None:
        self._back.setEnabled(enabled)
        self._next.setEnabled(enabled)
