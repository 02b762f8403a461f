"""The small menu above the composer while a "/" begins the question: commands, narrowed as one types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.i18n import translate
from app.palette import PaletteEntry, commands_for, slash_word
from app.theme import Theme
from app.views.choice_list import Choice, ChoiceList

_WIDTH: Final = 420
_MOST_HEIGHT: Final = 260
_GAP: Final = 6
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}


class SlashMenu(QFrame):
    """Lies over the window, above `below`; the keyboard stays where one writes. The composer tells it text and keys."""

    command_chosen = Signal(str, str)  # id, argument
    completed = Signal(str)  # the text to stand in the field now
    open_changed = Signal(bool)

    def __init__(self, theme: Theme, below: QWidget) -> None:
        super().__init__(below)
        self._below = below
        self._entries: tuple[PaletteEntry, ...] = ()
        self._text = ""
        self._dismissed = False
        self.setObjectName("slashMenu")
        self._list = ChoiceList(theme, translate("slash_menu", "Commands"), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self._list)
        self._list.chosen.connect(self._choose)
        self.hide()

    @property
    def choices(self) -> ChoiceList:
        """The commands that begin with what was typed."""
        return self._list

    def set_commands(self, entries: Sequence[PaletteEntry]) -> None:
        """Offer these from now on."""
        self._entries = tuple(entries)

    def follow(self, text: str) -> None:
        """Open, narrow or close: this stands in the field now."""
        self._text = text
        if not text.startswith("/"):
            self._dismissed = False
        rows = [] if self._dismissed else self._rows()
        if rows:
            self._list.show_rows(rows)
            self._list.announce()
        self._set_open(bool(rows))

    def unknown(self, text: str) -> str:
        """The word with which a text begins as a command would, if no command has that name; empty otherwise."""
        word = slash_word(text) or ""
        return word if word.isalpha() and self._named(word) is None else ""

    def take_key(self, event: QKeyEvent) -> bool:
        """Take a key of the field, if it is for the menu."""
        key = Qt.Key(event.key())
        if self.isHidden() or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in _STEPS:
            self._list.step(_STEPS[key])
        elif key == Qt.Key.Key_Tab:
            self._complete()
        elif key in _ENTER:
            self._list.choose()
        elif key == Qt.Key.Key_Escape:
            self._dismissed = True
            self._set_open(False)
        else:
            return False
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        elif event.type() == QEvent.Type.Hide:
            self._set_open(False)
        return False

    def _rows(self) -> list[Choice]:
        word = slash_word(self._text)
        if word is None:
            return []
        if self._text == f"/{word}":
            return [_row(entry) for entry in commands_for(self._entries, word)]
        # Behind the word an argument follows: only a command that takes one stays, everything else is plain text.
        entry = self._named(word)
        return [_row(entry)] if entry is not None and (entry.argument or not self._argument) else []

    def _named(self, word: str) -> PaletteEntry | None:
        return next((entry for entry in self._entries if entry.id == word), None)

    @property
    def _argument(self) -> str:
        return self._text.partition(" ")[2].strip()

    def _complete(self) -> None:
        if self._list.current is not None:
            self.completed.emit(f"/{self._list.current.id} ")

    def _choose(self, entry_id: str) -> None:
        entry = self._named(entry_id)
        assert entry is not None  # noqa: S101 - the rows are made of the entries
        argument = self._argument if slash_word(self._text) == entry_id else ""
        if entry.argument and not argument:
            self.completed.emit(f"/{entry_id} ")
            return
        self._set_open(False)
        self.command_chosen.emit(entry_id, argument)

    def _set_open(self, shown: bool) -> None:
        if shown:
            self._watch()
            self._place()
        if shown == self.isHidden():
            self.setVisible(shown)
            self.open_changed.emit(shown)

    def _watch(self) -> None:
        """Lie over the window that the composer is in by now, and follow whatever moves it."""
        window = self._below.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        widget: QWidget | None = self._below
        while widget is not None:
            widget.installEventFilter(self)  # once, however often it is called
            widget = None if widget is window else widget.parentWidget()
        self.raise_()

    def _place(self) -> None:
        corner = self._below.mapTo(self._below.window(), QPoint(0, 0))
        height = min(self._list.height_of_rows() + 14, _MOST_HEIGHT, max(corner.y() - 2 * _GAP, 0))
        width = min(_WIDTH, self._below.width())
        self.setGeometry(corner.x(), corner.y() - height - _GAP, width, height)


def _row(entry: PaletteEntry) -> Choice:
    """A command as one writes it, then what it does."""
    written = f"/{entry.id} [{entry.argument}]" if entry.argument else f"/{entry.id}"
    return Choice(entry.id, written, ((0, len(entry.id) + 1),), entry.label, entry.hint)
