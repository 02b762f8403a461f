"""The field that searches all chats: says what is typed, at most every 150 ms, and hands its arrows to the results."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import IconButton, Label, claim_escape
from app.views.line_edit import LineEdit

SHORTCUT: Final = "Ctrl+Shift+F"
THROTTLE_MS: Final = 150
_HEIGHT: Final = 36
_PASSED_ON: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class SearchField(LineEdit):
    """Emits the text while it is typed. Escape empties it; Up, Down and Enter go to whoever shows what was found."""

    changed = Signal(str)
    stepped = Signal(object)  # Qt.Key
    chosen = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._said = ""
        self.setObjectName("search")
        self.setFont(theme.font("list"))
        self.setFixedHeight(theme.line(_HEIGHT))
        self.setMaxLength(200)
        self.setPlaceholderText(translate("search_field", "Search all chats"))
        keys = QKeySequence(SHORTCUT).toString(QKeySequence.SequenceFormat.NativeText)
        self.setAccessibleName(translate("search_field", "Search all chats ({keys})").format(keys=keys))
        self._hint = Label(theme, keys, "small", "muted")
        self._hint.setParent(self)
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._clear = IconButton(theme, "close", translate("search_field", "Clear the search (Esc)"), self, 26)
        self._clear.clicked.connect(self.give_up)
        self._clear.hide()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(THROTTLE_MS)
        self._timer.timeout.connect(self._say)
        self.textChanged.connect(self._text_changed)

    @property
    def wanted(self) -> str:
        """What is searched for; empty for nothing."""
        return self.text().strip()

    def give_up(self) -> None:
        """Empty the field; the keyboard stays in it."""
        self.clear()
        self.setFocus()

    def event(self, event: QEvent) -> bool:
        return claim_escape(event, lambda: bool(self.text()) or self.composing) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.composing:
            super().keyPressEvent(event)
        elif event.key() in _PASSED_ON:
            self.stepped.emit(Qt.Key(event.key()))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._say()
            self.chosen.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.give_up()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        size = self._hint.sizeHint()
        self._hint.setGeometry(self.width() - size.width() - 12, 0, size.width(), self.height())
        self._clear.move(self.width() - self._clear.width() - 5, (self.height() - self._clear.height()) // 2)
        self.setTextMargins(0, 0, 30 if self.text() else size.width() + 8, 0)

    def _text_changed(self, text: str) -> None:
        self._hint.setVisible(not text)
        self._clear.setVisible(bool(text))
        self._place()
        if not self.wanted:
            self._say()
        elif not self._timer.isActive():
            self._timer.start()  # a throttle: what is typed meanwhile goes out with it

    def _say(self) -> None:
        self._timer.stop()
        if self.wanted != self._said:
            self._said = self.wanted
            self.changed.emit(self._said)
