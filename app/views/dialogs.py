"""Dialogs of one shape: a title, a sentence, something to read, buttons. A link is shown before it is opened."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QFocusEvent, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.i18n import translate
from app.theme import Theme
from app.views.controls import Label, make_line, show_property

_REASON: Final = Qt.FocusReason
_BY_KEYBOARD: Final = (_REASON.TabFocusReason, _REASON.BacktabFocusReason, _REASON.ShortcutFocusReason)
_BACK: Final = (_REASON.ActiveWindowFocusReason, _REASON.PopupFocusReason)  # it had the focus before
_READING_PAD: Final = 32  # twice padding and border of window.qss and the margin of the text; lines are rounded
_OPENED: Final = ("http", "https", "mailto")
_LONG: Final = re.compile(r"([!-.0-~]{40})(?=[!-.0-~])")  # a path is broken behind its slashes anyway


class _PrimaryButton(QPushButton):
    """Shows a ring only where the keyboard came to it: the focus of a dialog that opens by mouse needs none."""

    def __init__(self, label: str, parent: QWidget) -> None:
        super().__init__(label, parent)
        self.setProperty("reached", False)

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in _BACK:
            # A dialog that is shown tells its default button of a Tab that nobody pressed, before it has the focus.
            show_property(self, "reached", event.reason() in _BY_KEYBOARD and self.hasFocus())
        super().focusInEvent(event)


def make_button(theme: Theme, label: str, parent: QWidget, primary: bool = False) -> QPushButton:
    """A button of a dialog; the primary one is filled with the accent."""
    button = _PrimaryButton(label, parent) if primary else QPushButton(label, parent)
    button.setObjectName("send" if primary else "quiet")
    button.setFont(theme.font("button" if primary else "list"))
    button.setAutoDefault(False)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


def fit(dialog: QDialog, size: QSize) -> None:
    """Give a dialog its size, less where the window over which it opens is smaller."""
    parent = dialog.parentWidget()
    dialog.resize(size.boundedTo(parent.size() - QSize(40, 60)) if parent is not None else size)


class SheetDialog(QDialog):
    """A title, a sentence, something in between, and buttons at the right."""

    def __init__(self, theme: Theme, title: str, sentence: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(title)
        self._theme = theme
        heading = Label(theme, title, "heading2")
        self.sentence = sentence
        words = Label(theme, _LONG.sub("\\1\u200b", sentence), "list", "muted")  # no word is wider than the dialog
        words.setWordWrap(True)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(24, 22, 24, 20)
        self.column.setSpacing(8)
        self.column.addWidget(heading)
        self.column.addWidget(words)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        self._buttons.addStretch(1)

    def add_text(self, text: str, name: str, lines: int) -> QPlainTextEdit:
        """A field to read and select from, at least so many lines high."""
        field = QPlainTextEdit(text, self)
        field.setObjectName("reading")
        field.setReadOnly(True)
        field.setAccessibleName(name)
        field.setFont(self._theme.font("code"))
        field.setTabChangesFocus(True)
        field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        field.setMinimumHeight(lines * field.fontMetrics().lineSpacing() + _READING_PAD)
        self.column.addSpacing(6)
        self.column.addWidget(field, 1)
        return field

    def add_note(self, text: str) -> None:
        """A quiet line, such as the name of the field below it."""
        self.column.addSpacing(4)
        self.column.addWidget(Label(self._theme, text, "small", "muted"))

    def add_line(self, name: str, hint: str = "") -> QLineEdit:
        """A field of one line with its name above it; the hint stands there while it is empty."""
        self.add_note(name)
        field = make_line(self._theme, name, self)
        field.setPlaceholderText(hint)
        self.column.addWidget(field)
        return field

    def add_button(self, label: str, primary: bool = False, default: bool | None = None) -> QPushButton:
        """A button at the right; the primary one is what Enter presses, unless `default` says otherwise."""
        button = make_button(self._theme, label, self, primary)
        pressed = primary if default is None else default
        button.setDefault(pressed)
        button.setAutoDefault(pressed or primary)
        if pressed:
            button.setFocus()
        self._buttons.addWidget(button)
        return button

    def fit_height(self) -> None:
        """Be as high as what is shown; for a dialog of one width."""
        self.column.activate()
        self.setFixedHeight(self.column.totalHeightForWidth(self.width()))

    def finish_layout(self) -> None:
        """Put the buttons below all that was added."""
        self.column.addSpacing(10)
        self.column.addLayout(self._buttons)


class ConfirmDialog(SheetDialog):
    """Asks before something that cannot be undone; accepted means that it may be done. Enter cancels."""

    def __init__(self, theme: Theme, title: str, sentence: str, action: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, title, sentence, parent)
        self.setMinimumWidth(theme.wide(400))
        self.cancel_button = cancel = self.add_button(translate("dialogs", "Cancel"), default=True)
        self.confirm_button = self.add_button(action, primary=True, default=False)
        cancel.clicked.connect(self.reject)
        self.confirm_button.clicked.connect(self.accept)
        self.finish_layout()


class LinkDialog(SheetDialog):
    """Shows the address of a link; accepted means that it may be opened in the browser.

    An answer may name anything as an address, such as a file of this machine or what starts another program: only web
    and mail addresses can be opened.
    """

    def __init__(self, theme: Theme, address: str, parent: QWidget | None = None) -> None:
        may_open = QUrl(address).scheme().lower() in _OPENED
        title, sentence = (
            translate("dialogs", "Open this link?"),
            translate("dialogs", "It opens in your browser, outside Loquat."),
        )
        if not may_open:
            title = translate("dialogs", "The address of this link")
            sentence = translate("dialogs", "Loquat opens web and mail addresses only. This one you can copy.")
        super().__init__(theme, title, sentence, parent)
        self.resize(theme.wide(480), 0)
        self.address_field = self.add_text(address, translate("dialogs", "Address of the link"), 2)
        copy = self.add_button(translate("dialogs", "Copy address"))
        cancel = self.add_button(translate("dialogs", "Cancel"))
        self.open_button = self.add_button(translate("dialogs", "Open"), primary=True)
        self.open_button.setVisible(may_open)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(address))
        cancel.clicked.connect(self.reject)
        self.open_button.clicked.connect(self.accept)
        self.finish_layout()
