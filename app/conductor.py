"""Connects the window's views with the program: what comes of a view goes where it belongs, what changes is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from app.actions import actions
from app.chats import Chats
from app.dialogs import Dialogs
from app.live import LiveTurn, ModelState, Notice
from app.session import Session
from app.settings import Settings
from app.shown_chat import ShownChat
from app.theme import Theme
from app.views import words
from app.views.main_window import MainWindow


class Conductor(QObject):
    """Owns no state of its own but what is on view. It goes with its window; the program stays."""

    def __init__(self, window: MainWindow, chats: Chats, settings: Settings, theme: Theme) -> None:
        super().__init__(window)
        self._window = window
        self._chats = chats
        self._settings = settings
        self._theme = theme
        self._busy: frozenset[str] = frozenset()
        self._watched: set[str] = set()
        self.dialogs = Dialogs(chats, settings, theme, window)
        self.shown = ShownChat(chats, window, self)
        self._connect()
        self._bind_keys()
        window.restore_geometry(settings.get("window_geometry"))
        self._show_model(chats.model)
        self._show_list()
        if chats.current is not None:
            self._show_session(chats.current)

    def _connect(self) -> None:
        """All connections between the views and the program but those of the conversation on view."""
        window, chats, dialogs = self._window, self._chats, self.dialogs
        window.dropped.connect(window.composer.take_mime)
        window.composer.model_dropped.connect(chats.add_model)
        window.composer.refused.connect(self._refuse)
        window.closing.connect(self._keep_geometry)
        window.sidebar.new_requested.connect(self.new_chat)
        window.sidebar.open_requested.connect(self._open)
        window.sidebar.rename_requested.connect(chats.rename)
        window.sidebar.delete_requested.connect(chats.delete)
        window.sidebar.settings_requested.connect(dialogs.show_settings)
        window.header.model_file_requested.connect(dialogs.choose_model_file)
        window.header.model_folder_requested.connect(dialogs.choose_model_folder)
        window.header.model_chosen.connect(chats.load_model)
        window.header.default_requested.connect(chats.models.set_default)
        window.header.remove_requested.connect(dialogs.confirm_removal)
        window.header.check_requested.connect(chats.check_current)
        window.header.rename_requested.connect(self._rename_current)
        window.header.delete_requested.connect(self._delete_current)
        window.header.inspector_toggled.connect(window.show_inspector)
        window.inspector_toggled.connect(window.header.show_inspector)
        window.start_page.file_requested.connect(dialogs.choose_model_file)
        window.start_page.folder_requested.connect(dialogs.choose_model_folder)
        window.start_page.retry_requested.connect(partial(chats.load_model, None))
        window.header.settings_requested.connect(dialogs.show_settings)
        window.header.theme_requested.connect(self._choose_theme)
        window.chat.link_activated.connect(dialogs.show_link)
        window.progress.cancel_requested.connect(chats.cancel_load)
        window.checking.cancel_requested.connect(chats.check.cancel)
        chats.check.changed.connect(window.checking.show_check)
        chats.models.changed.connect(window.header.show_models)
        chats.list_changed.connect(self._show_list)
        chats.current_changed.connect(self._show_session)
        chats.model_changed.connect(self._show_model)
        chats.notice.connect(window.notices.show_notice)
        self._settings.changed.connect(self._setting_changed)

    def _actions(self) -> dict[str, Callable[[], object]]:
        """What each declared action does."""
        return {
            "new_chat": self.new_chat,
            "check_chat": self._chats.check_current,
            "delete_chat": self._delete_current,
            "stop": self.shown.stop,
            "regenerate": self.shown.regenerate_last,
            "jump_to_end": self._window.chat.jump_to_end,
            "search_chats": self._search,
            "toggle_sidebar": self._window.toggle_sidebar,
            "toggle_inspector": self._window.toggle_inspector,
            "settings": self.dialogs.show_settings,
            "model_file": self.dialogs.choose_model_file,
            "model_folder": self.dialogs.choose_model_folder,
            "quit": QApplication.quit,
        }

    def _bind_keys(self) -> None:
        for action in actions():
            if action.keys:
                QShortcut(QKeySequence(action.keys), self._window).activated.connect(partial(self.run, action.id))
        QShortcut(QKeySequence("Escape"), self._window).activated.connect(self._escape)

    def run(self, action_id: str) -> None:
        """Do what a declared action says.

        Raises:
            KeyError: There is no such action.
        """
        self._actions()[action_id]()

    # -- what the person does ----------------------------------------------------------------------------------

    def new_chat(self) -> None:
        """Begin a new chat and put the keyboard into the composer."""
        self._chats.new()
        self._after_choice()

    def _open(self, conversation_id: str) -> None:
        self._chats.open(conversation_id)
        if self._window.narrow:
            self._after_choice()

    def _after_choice(self) -> None:
        self._window.fold_overlay()
        self._window.composer.focus_editor()

    def _rename_current(self, title: str) -> None:
        if self._chats.current is not None:
            self._chats.rename(self._chats.current.conversation.id, title)

    def _search(self) -> None:
        self._window.show_sidebar(True)
        self._window.sidebar.focus_search()

    def _delete_current(self) -> None:
        if self._chats.current is not None:
            self._chats.delete(self._chats.current.conversation.id)

    def _escape(self) -> None:
        if not self._window.fold_overlay():
            self.shown.stop()

    def _choose_theme(self, choice: str) -> None:
        self._settings.set("theme", choice)

    def _refuse(self, sentence: str) -> None:
        self._window.notices.show_notice(Notice(sentence))

    def _keep_geometry(self) -> None:
        self._settings.set("window_geometry", self._window.geometry_to_keep())

    # -- what the program says ---------------------------------------------------------------------------------

    def _show_session(self, session: Session) -> None:
        self.shown.show(session)
        if session.conversation.id not in self._watched:
            self._watched.add(session.conversation.id)
            session.turn_changed.connect(self._mark_busy)

    def _show_list(self) -> None:
        self._window.sidebar.show_conversations(self._chats.conversations(), (), self._busy)
        if self.shown.session is not None:
            self.shown.show_title(self.shown.session.conversation)
            self._window.sidebar.mark_open(self.shown.session.conversation.id)

    def _mark_busy(self, live: LiveTurn) -> None:
        """The busy mark follows a session for as long as it lives."""
        session = self.sender()
        assert isinstance(session, Session)  # noqa: S101 - nothing else is connected here
        conversation_id, busy = session.conversation.id, live.phase != "idle"
        if busy != (conversation_id in self._busy):
            self._busy = self._busy ^ {conversation_id}
            self._show_list()

    def _show_model(self, model: ModelState) -> None:
        self._window.header.show_model(model)
        self._window.progress.show_model(model)
        self._window.start_page.show_model(model)
        self._window.sidebar.show_online(words.online(model))
        self._window.status.show_model(model)
        self.shown.refresh_model()

    def _setting_changed(self, name: str) -> None:
        if name == "theme":
            self._theme.set_choice(self._settings.get("theme"))
