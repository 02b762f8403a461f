"""Runs the declared actions: by shortcut, from the palette over the window, and as slash commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut

from app.actions import Action, actions
from app.chats import Chats
from app.i18n import translate
from app.palette import PaletteEntry
from app.views import words
from app.views.main_window import MainWindow

_ACTION, _CHAT = "action:", "chat:"
Run = Callable[[str], object]  # takes what follows a slash command; "" where nothing does


class Commands(QObject):
    """Knows what each action does; the actions themselves are declared in `app.actions`.

    Args:
        runs: What each action does, by its id.
        labels: What the palette calls an action now, by its id, in place of its declared label; where that is empty,
            there is nothing to do now, and it is left out.
    """

    def __init__(
        self,
        window: MainWindow,
        chats: Chats,
        runs: Mapping[str, Run],
        parent: QObject,
        labels: Mapping[str, Callable[[], str]] = MappingProxyType({}),
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._runs: dict[str, Run] = {**runs, "palette": lambda _: self._open_palette()}
        self._labels = labels
        self._actions = actions()
        for action in self._actions:
            if action.keys:
                shortcut = QShortcut(QKeySequence(action.keys), window)
                shortcut.activated.connect(partial(self.run, action.id))
        window.command_palette.chosen.connect(self._choose)
        window.composer.command_chosen.connect(self._command)
        window.composer.set_commands([_slash_entry(action) for action in self._actions if action.slash])

    def run(self, action_id: str, argument: str = "") -> None:
        """Do what an action says.

        Raises:
            KeyError: There is no such action.
        """
        self._runs[action_id](argument)

    def _open_palette(self) -> None:
        self._window.command_palette.show_entries(self._entries())
        self._window.command_palette.open()

    def _entries(self) -> list[PaletteEntry]:
        """Actions first, then all chats, those in the archive last."""
        named = [replace(action, label=self._label(action)) for action in self._actions if action.id != "palette"]
        shown = [_action_entry(action) for action in named if action.label]
        now, group = time.time(), translate("commands", "Chats")
        for chat in (*self._chats.conversations(), *self._chats.archived()):
            hint = words.ago(chat.updated_at, now)
            shown.append(PaletteEntry(_CHAT + chat.id, chat.title, hint, group))
        return shown

    def _label(self, action: Action) -> str:
        return self._labels[action.id]() if action.id in self._labels else action.label

    def _choose(self, entry_id: str) -> None:
        if entry_id.startswith(_CHAT):
            self._chats.open(entry_id.removeprefix(_CHAT))
            self._window.composer.focus_editor()
        else:
            self.run(entry_id.removeprefix(_ACTION))

    def _command(self, word: str, argument: str) -> None:
        action = next(action for action in self._actions if action.slash == word)
        self.run(action.id, argument)


def _action_entry(action: Action) -> PaletteEntry:
    keys = QKeySequence(action.keys).toString(QKeySequence.SequenceFormat.NativeText)
    return PaletteEntry(_ACTION + action.id, action.label, keys, action.group, action.slash)


def _slash_entry(action: Action) -> PaletteEntry:
    return PaletteEntry(action.slash, action.label, argument=action.argument)
