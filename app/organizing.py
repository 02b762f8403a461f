"""The list of chats: folders, pins, archive and search, between the sidebar, the header and the program."""

from __future__ import annotations

import json

from PySide6.QtCore import QObject

from app.chats import Chats
from app.search import Search
from app.settings import Settings
from app.transfer.values import listing
from app.views.main_window import MainWindow


class Organizing(QObject):
    """Connects the sidebar, and what the header does with the chat on view."""

    def __init__(self, window: MainWindow, chats: Chats, settings: Settings, search: Search, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._settings = settings
        self._search = search
        self._connect()
        window.sidebar.show_folded(_folded(settings.get("folded_folders")))
        self.show_list()

    def _connect(self) -> None:
        sidebar, chats = self._window.sidebar, self._chats
        sidebar.open_requested.connect(self._open)
        sidebar.rename_requested.connect(chats.rename)
        sidebar.delete_requested.connect(chats.delete)
        sidebar.pin_requested.connect(chats.library.pin)
        sidebar.archive_requested.connect(chats.archive)
        sidebar.move_requested.connect(chats.library.move)
        sidebar.folder_added.connect(self._add_folder)
        sidebar.folder_renamed.connect(chats.library.rename_folder)
        sidebar.folder_deleted.connect(chats.library.delete_folder)
        sidebar.folders_folded.connect(self._keep_folded)
        sidebar.search_changed.connect(self._look_for)
        sidebar.hit_opened.connect(self._open_hit)
        self._search.found.connect(sidebar.show_results)
        self._search.failed.connect(sidebar.show_search_problem)
        self._window.header.rename_requested.connect(self.rename)
        self._window.header.archive_requested.connect(self.archive)
        self._window.header.delete_requested.connect(self.delete)
        chats.list_changed.connect(self.show_list)

    # -- the chat on view --------------------------------------------------------------------------------------

    def rename(self, title: str) -> None:
        """Give the chat on view another title."""
        if self._current_id:
            self._chats.rename(self._current_id, title)

    def toggle_pin(self) -> None:
        """Pin the chat on view, or unpin it."""
        if self._current_id and self._chats.current is not None:
            self._chats.library.pin(self._current_id, not self._chats.current.conversation.pinned)

    def archive(self) -> None:
        """Put the chat on view out of the list, or back into it."""
        if self._current_id and self._chats.current is not None:
            self._chats.archive(self._current_id, self._chats.current.conversation.archived_at is None)

    def delete(self) -> None:
        """Delete the chat on view."""
        if self._current_id:
            self._chats.delete(self._current_id)

    def step(self, step: int) -> None:
        """Open the chat so many places on in the list."""
        listed = [chat.id for chat in self._chats.conversations()]
        at = listed.index(self._current_id) + step if self._current_id in listed else 0
        if 0 <= at < len(listed):
            self._chats.open(listed[at])

    def find_chats(self, words: str = "") -> None:
        """Put the keyboard into the search field, and look for these words."""
        self._window.show_sidebar(True)
        self._window.sidebar.focus_search()
        if words:
            self._window.sidebar.search_field.setText(words)

    @property
    def _current_id(self) -> str:
        session = self._chats.current
        return session.conversation.id if session is not None and session.stored else ""

    # -- the list ----------------------------------------------------------------------------------------------

    def show_list(self) -> None:
        """Show all chats as they stand now."""
        sidebar, session = self._window.sidebar, self._chats.current
        sidebar.show_conversations(self._chats.conversations(), self._chats.folders(), self._chats.busy)
        sidebar.show_archived(self._chats.archived())
        if session is not None:
            sidebar.mark_open(session.conversation.id)

    def _open(self, conversation_id: str) -> None:
        self._chats.open(conversation_id)
        if self._window.narrow:
            self._window.fold_overlay()
            self._window.composer.focus_editor()

    def _add_folder(self, name: str, conversation_id: str) -> None:
        folder = self._chats.library.add_folder(name)
        if folder is not None and conversation_id:
            self._chats.library.move(conversation_id, folder.id)

    def _keep_folded(self, folders: frozenset[str]) -> None:
        self._settings.set("folded_folders", json.dumps(sorted(folders)))

    # -- search ------------------------------------------------------------------------------------------------

    def _look_for(self, text: str) -> None:
        if text.strip():
            self._search.ask(text)
        else:
            self._window.sidebar.show_results(None)

    def _open_hit(self, conversation_id: str, message_id: str, query: str) -> None:
        self._chats.open(conversation_id)
        if message_id:
            self._show_message(message_id, query)
        if self._window.narrow:
            self._window.fold_overlay()

    def _show_message(self, message_id: str, query: str) -> None:
        """Go to a message, changing to its branch if another is shown."""
        session = self._chats.current
        if session is not None and session.show_message(message_id):
            self._window.chat.scroll_to(message_id, query)


def _folded(kept: str) -> frozenset[str]:
    """The ids of folders, as they were kept; none where that is damaged."""
    try:
        return frozenset(map(str, listing(json.loads(kept))))
    except (ValueError, RecursionError):
        return frozenset()
