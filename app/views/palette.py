"""The Ctrl+K palette: a field over the window, and below it everything that can be done or opened, as it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QVBoxLayout, QWidget
from shiboken6 import Shiboken

from app.i18n import translate
from app.palette import Found, PaletteEntry, PaletteSearch
from app.theme import Theme
from app.views.choice_list import Choice, ChoiceList
from app.views.controls import Label, claim_escape
from app.views.line_edit import LineEdit

WIDTH: Final = 580
TOP: Final = 72
_MARGIN: Final = 16
_LIST_HEIGHT: Final = 380
_STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}


class _Field(LineEdit):
    """Hands the keys of the list on, and Escape before the window takes it."""

    key_pressed = Signal(int)

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        return True  # there is nothing else to go to while the palette is open

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = (*_STEPS, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape)
        if event.key() in keys and not self.composing:
            self.key_pressed.emit(event.key())
        else:
            super().keyPressEvent(event)


class Palette(QWidget):
    """Lies over its parent while it is open; closes by Escape, a click beside it, or a choice."""

    chosen = Signal(str)  # the id of an entry
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._window = parent
        self._search = PaletteSearch(())
        self._before: QWidget | None = None
        self._panel = QFrame(self)
        self._panel.setObjectName("palette")
        self._field = _Field(self._panel)
        self._field.setObjectName("paletteField")
        self._field.setFont(theme.font("body"))
        self._field.setPlaceholderText(translate("palette", "What would you like to do, or which chat to open?"))
        self._field.setAccessibleName(translate("palette", "Search actions and chats"))
        self._list = ChoiceList(theme, translate("palette", "Actions and chats"), self._panel)
        self._nothing = Label(theme, "", "list", "muted")
        self._lay_out()
        self._field.textChanged.connect(self._query)
        self._field.key_pressed.connect(self._key)
        self._list.chosen.connect(self._choose)
        parent.installEventFilter(self)
        self.hide()

    @property
    def field(self) -> QLineEdit:
        """Where is typed."""
        return self._field

    @property
    def list(self) -> ChoiceList:
        """What answers to it."""
        return self._list

    @property
    def nothing(self) -> Label:
        """The sentence that stands where nothing answers."""
        return self._nothing

    def show_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Offer these, groups one after the other; what is typed already stays."""
        self._search = PaletteSearch(entries)
        self._refresh()

    def open(self) -> None:
        """Lie over the window with an empty field, and take the keyboard."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self._field.clear()
        self._refresh()
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_palette(self) -> None:
        """Go away, and give the keyboard back to where it was."""
        if not self.isVisible():
            return
        self.hide()
        if self._before is not None and Shiboken.isValid(self._before):  # a notice, say, may have gone meanwhile
            self._before.setFocus(Qt.FocusReason.PopupFocusReason)
        self._before = None
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._panel.geometry().contains(event.position().toPoint()):
            self.close_palette()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color("scrim"))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self._panel)
        column.setContentsMargins(6, 12, 6, 6)
        column.setSpacing(8)
        column.addWidget(self._field)
        column.addWidget(self._list)
        column.addWidget(self._nothing)
        self._field.setTextMargins(10, 0, 10, 0)
        self._nothing.setContentsMargins(12, 4, 12, 8)

    def _query(self) -> None:
        self._refresh()
        self._list.announce()

    def _refresh(self) -> None:
        self._list.show_rows(_rows(self._search.find(self._field.text())))
        empty = not self._list.rows
        self._list.setVisible(not empty)
        self._nothing.setVisible(empty)
        sentence = translate("palette", "Nothing is called “{query}”.")
        self._nothing.setText(sentence.format(query=self._field.text().strip()))
        self._place()

    def _place(self) -> None:
        self.setGeometry(self._window.rect())
        top = min(TOP, self.height() // 8)
        self._list.setFixedHeight(min(self._list.height_of_rows() + 4, _LIST_HEIGHT, self.height() - top - 96))
        width = min(WIDTH, self.width() - 2 * _MARGIN)
        self._panel.setGeometry((self.width() - width) // 2, top, width, self._panel.sizeHint().height())

    def _key(self, key: int) -> None:
        pressed = Qt.Key(key)
        if pressed in _STEPS:
            self._list.step(_STEPS[pressed])
        elif pressed == Qt.Key.Key_Escape:
            self.close_palette()
        else:
            self._list.choose()

    def _choose(self, entry_id: str) -> None:
        self.close_palette()  # first, so that what was chosen decides where the keyboard goes
        self.chosen.emit(entry_id)


def _rows(found: Sequence[Found]) -> list[Choice]:
    """Entries as rows, a heading before each group."""
    rows: list[Choice] = []
    group = ""
    for item in found:
        if item.entry.group != group:
            group = item.entry.group
            rows.append(Choice("", group))
        rows.append(Choice(item.entry.id, item.entry.label, item.spans, hint=item.entry.hint))
    return rows
