"""A window around a composer, and what a person does in it: keys, an input method, the clipboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import (
    QGuiApplication,
    QInputMethodEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.palette import PaletteEntry
from app.records import Attachment
from app.theme import Theme
from app.views.composer import Composer

NOTES = Attachment("notes.txt", "Some notes.")
COMMANDS = (
    PaletteEntry("new", "New chat", "Ctrl+N"),
    PaletteEntry("title", "Name this chat", argument="title"),
    PaletteEntry("settings", "Settings"),
)


class Window(QWidget):
    """A window with a composer at its bottom, and a record of what it told."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.composer = Composer(theme, self)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self.composer)
        self.resize(720, 600)
        self.sent: list[tuple[str, tuple[Attachment, ...]]] = []
        self.edits: list[tuple[str, tuple[Attachment, ...]]] = []
        self.refused: list[str] = []
        self.composer.send_requested.connect(lambda text, files: self.sent.append((text, files)))
        self.composer.edited.connect(lambda text, files: self.edits.append((text, files)))
        self.composer.refused.connect(self.refused.append)


def press(composer: Composer, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(composer.editor, key, held)


def write(composer: Composer, text: str) -> None:
    QTest.keyClicks(composer.editor, text)


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(composer.editor, event)


def paste(composer: Composer, data: str | QMimeData) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.setText(data) if isinstance(data, str) else clipboard.setMimeData(data)
    press(composer, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data
