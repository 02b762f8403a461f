"""The fields in which questions are written: they grow with their text, take text only, and know input methods."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.attachments import fits_field, kind_of_drop
from app.theme import Theme
from app.views.controls import claim_escape

_MAX_LINES: Final = 10
_ALIGNED: Final = 500  # paragraphs: no more are looked through with every key
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PAGES: Final = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class Editor(QPlainTextEdit):
    """The text field. Enter submits, unless an input method is still composing."""

    submitted = Signal()
    paged = Signal(int)
    focus_changed = Signal(bool)
    height_changed = Signal()
    overlong = Signal(str)  # was pasted, dropped or quoted, and would make the field too slow to type in

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
        self.textChanged.connect(self._fit)  # letters of another font change the height, not the number of lines
        self._fit()

    @property
    def composing(self) -> bool:
        """Whether an input method holds text that is not in the field yet."""
        layout = self.textCursor().block().layout()
        return bool(layout.preeditAreaText())

    @property
    def blank(self) -> bool:
        """Whether nothing but space is written; as cheap for a long text as for a short one."""
        block = self.document().begin()
        while block.isValid():
            if block.text().strip():
                return False
            block = block.next()
        return True

    def submits(self, modifiers: Qt.KeyboardModifier) -> bool:
        """Whether Enter with these modifiers submits; otherwise it breaks the line."""
        return not modifiers & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier)

    def move_to_end(self) -> None:
        """Put the text cursor behind the last character."""
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.setTextCursor(cursor)

    def quote(self, text: str) -> None:
        """Write a text on lines of its own, each with the mark of a quote, and take the keyboard behind them."""
        lead = "" if self.textCursor().atBlockStart() else "\n"
        lines = "".join(f"> {line}".rstrip() + "\n" for line in text.splitlines())
        if fits_field(lines):
            self.insertPlainText(f"{lead}{lines}\n")
            self.ensureCursorVisible()
        else:
            self.overlong.emit(text)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

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
        """Paste text only, whatever else the clipboard holds, and no more than the field stays quick with."""
        text = source.text()
        if text and fits_field(text):
            self.insertPlainText(text)
        elif text:
            self.overlong.emit(text)

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
        self._align()
        height = self._height_of_lines(_MAX_LINES) + 4
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()

    def _align(self) -> None:
        """Put paragraphs that run from right to left at the right: Qt knows one alignment for the whole field."""
        option = QTextOption(self.document().defaultTextOption())
        option.setAlignment(Qt.AlignmentFlag.AlignRight)
        block = self.document().begin()
        while block.isValid() and block.blockNumber() < _ALIGNED:
            if block.textDirection() == Qt.LayoutDirection.RightToLeft:
                self.document().documentLayout().blockBoundingRect(block)  # its layout takes the field's own first
                block.layout().setTextOption(option)
            block = block.next()

    def _height_of_lines(self, most: int) -> int:
        """Pixels of the first lines as they are drawn: those with letters of another font can be higher."""
        heights: list[float] = []
        block = self.document().begin()
        while block.isValid() and len(heights) < most:
            self.document().documentLayout().blockBoundingRect(block)  # lays it out, if it is not yet
            layout = block.layout()
            drawn = [layout.lineAt(number).height() for number in range(min(layout.lineCount(), most - len(heights)))]
            heights += drawn or [float(self.fontMetrics().lineSpacing())]
            block = block.next()
        return ceil(sum(heights))


class MessageEditor(Editor):
    """The field over a question that is asked in other words: Ctrl+Enter submits, Escape gives up."""

    escaped = Signal()

    def submits(self, modifiers: Qt.KeyboardModifier) -> bool:
        return bool(modifiers & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier))

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)


class QuestionEditor(Editor):
    """The field of the composer: what it is made with sees keys, pastes and drops before the field does.

    Args:
        name: Its accessible name.
        take_key: Takes a key, or leaves it to the field; is not asked while an input method composes.
        take_mime: Takes what is pasted or dropped, or leaves its text to the field.
    """

    dragged = Signal(object)  # the DropKind of what is held over the field; None once it is not any more

    def __init__(
        self,
        theme: Theme,
        name: str,
        take_key: Callable[[QKeyEvent], bool],
        take_mime: Callable[[QMimeData], bool],
        parent: QWidget,
    ) -> None:
        super().__init__(theme, name, parent)
        self._take_key = take_key
        self._take_mime = take_mime
        self._dropping = False
        self.holds_undo: Callable[[], bool] = lambda: False  # whether there is more to undo than the text knows of
        self.holds_escape = False  # whether Escape is taken here before the window's shortcut takes it

    @property
    def in_first_line(self) -> bool:
        """Whether the text cursor stands in the first line as it is drawn."""
        return self.textCursor().block() == self.document().begin() and self._drawn_line() == 0

    @property
    def in_last_line(self) -> bool:
        """Whether the text cursor stands in the last line as it is drawn."""
        block = self.textCursor().block()
        return not block.next().isValid() and self._drawn_line() >= block.layout().lineCount() - 1

    def replace_all(self, text: str) -> None:
        """Write another text in place of all, in one step that can be undone; the text cursor goes to its end."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.move_to_end()

    def event(self, event: QEvent) -> bool:
        if claim_escape(event, lambda: self.holds_escape or self.composing):
            return True
        if self._leaves_undo(event):
            event.ignore()  # the field would claim the key for itself, with nothing to undo
            return True
        # Qt moves the focus by Tab before `keyPressEvent` is called.
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab and self._offer(event):  # type: ignore[attr-defined]
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._offer(event):
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return kind_of_drop(source) is not None

    def insertFromMimeData(self, source: QMimeData) -> None:
        # Text that is moved inside the field is not offered: Qt takes it away from where it was.
        if self._dropping or not self._take_mime(source):
            super().insertFromMimeData(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        super().dragEnterEvent(event)
        self.dragged.emit(kind_of_drop(event.mimeData()))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self.dragged.emit(None)

    def dropEvent(self, event: QDropEvent) -> None:
        self.dragged.emit(None)
        if kind_of_drop(event.mimeData()) in ("text", None):
            self._dropping = event.source() is self
            super().dropEvent(event)
            self._dropping = False
        elif self._take_mime(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)  # a file manager must not think that the file was moved
            event.accept()

    def _offer(self, event: QEvent) -> bool:
        return isinstance(event, QKeyEvent) and not self.composing and self._take_key(event)

    def _leaves_undo(self, event: QEvent) -> bool:
        """Whether a key is about to undo something, and that cannot be anything that was written here."""
        undoes = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Undo)
        if event.type() != QEvent.Type.ShortcutOverride or not undoes:
            return False
        return self.blank and not (self.document().isUndoAvailable() or self.composing or self.holds_undo())

    def _drawn_line(self) -> int:
        cursor = self.textCursor()
        return cursor.block().layout().lineForTextPosition(cursor.positionInBlock()).lineNumber()
