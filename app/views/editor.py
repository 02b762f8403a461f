"""The field in which questions are written: grows with its text, takes text only, and knows input methods."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Theme

_MAX_LINES: Final = 10
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PAGES: Final = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class Editor(QPlainTextEdit):
    """The text field. Enter submits, unless an input method is still composing."""

    submitted = Signal()
    paged = Signal(int)
    focus_changed = Signal(bool)
    height_changed = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("editor")
        self.setFont(theme.font("body"))
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self._fit()

    @property
    def composing(self) -> bool:
        """Whether an input method holds text that is not in the field yet."""
        layout = self.textCursor().block().layout()
        return bool(layout.preeditAreaText())

    def submits(self, modifiers: Qt.KeyboardModifier) -> bool:
        """Whether Enter with these modifiers submits; otherwise it breaks the line."""
        return not modifiers & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier)

    def move_to_end(self) -> None:
        """Put the text cursor behind the last character."""
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.setTextCursor(cursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and self.composing:
            return
        if event.key() in _ENTER and self.submits(event.modifiers()):
            self.submitted.emit()
        elif event.key() in _ENTER:
            self.textCursor().insertBlock()  # not Qt's line separator, which would be copied as such
            self.ensureCursorVisible()
        elif event.key() in _PAGES and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.paged.emit(_PAGES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste text only, whatever else the clipboard holds."""
        if source.hasText():
            self.insertPlainText(source.text())

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def _fit(self) -> None:
        lines = max(1, min(_MAX_LINES, int(self.document().documentLayout().documentSize().height())))
        height = lines * self.fontMetrics().lineSpacing() + 4
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()


class MessageEditor(Editor):
    """The field over a question that is asked in other words: Ctrl+Enter submits, Escape gives up."""

    escaped = Signal()

    def submits(self, modifiers: Qt.KeyboardModifier) -> bool:
        return bool(modifiers & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier))

    def event(self, event: QEvent) -> bool:
        """Take Escape before the window's shortcut does, which would stop an answer."""
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)
