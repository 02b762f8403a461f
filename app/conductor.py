"""Connects the window's views with the program: what comes of a view goes where it belongs, what changes is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut

from app.assistants import Assistants
from app.assisting import Assisting
from app.chats import Chats
from app.commands import Commands, Run
from app.connecting import Connecting
from app.declarations import LOOK, TEXT_SIZES
from app.dialogs import Dialogs
from app.experiments import Experiments
from app.i18n import translate
from app.inspection import Inspection
from app.live import ModelState, Notice
from app.model_offers import Shelf
from app.model_shelf import ModelShelf
from app.organizing import Organizing
from app.providing import Providing
from app.remote_servers import RemoteServers
from app.search import Search
from app.serving import Serving
from app.session import Session
from app.settings import Settings
from app.shown_chat import ShownChat
from app.store import Store
from app.theme import Theme
from app.transfers import Transfers
from app.views import words
from app.views.main_window import MainWindow
from engine.models.catalogue import DEFAULT_MODEL
from engine.server.control import ServerState


@dataclass(frozen=True, slots=True)
class Program:
    """What is behind the window; it stays when the window is made anew.

    Attributes:
        cache: The folder for what can be made again, in which what was measured of models lies.
    """

    chats: Chats
    store: Store
    settings: Settings
    search: Search
    assistants: Assistants
    experiments: Experiments
    servers: RemoteServers
    serving: Serving
    shelf: ModelShelf
    theme: Theme
    cache: Path


class Conductor(QObject):
    """Owns no state of its own but what is on view. It goes with its window; the program stays."""

    quick_ask_requested = Signal()
    quit_requested = Signal()

    def __init__(self, window: MainWindow, program: Program) -> None:
        super().__init__(window)
        chats, theme, settings = program.chats, program.theme, program.settings
        self._window = window
        self._serving = program.serving
        self._chats = chats
        self._settings = settings
        self._theme = theme
        self.dialogs = Dialogs(chats, settings, program.serving, theme=theme, cache=program.cache, window=window)
        self.shown = ShownChat(chats, window, self)
        self.organizing = Organizing(window, chats, settings, program.search, self)
        self.transfers = Transfers(window, chats, program.store, theme, self)
        self.assisting = Assisting(window, chats, settings, program.assistants, theme=theme, parent=self)
        self.connecting = Connecting(window, chats, program.servers, theme=theme, parent=self)
        self.providing = Providing(window, chats, program.shelf, theme=theme, parent=self)
        self._shelf = program.shelf
        self.inspection = Inspection(window, chats, program.store, program.experiments, theme=theme, parent=self)
        self.commands = Commands(window, chats, self._runs(), self, {"previous_model": self._back_label})
        self._connect()
        QShortcut(QKeySequence("Escape"), window).activated.connect(self._escape)
        window.restore_geometry(settings.get("window_geometry"))
        self._show_serving(program.serving.state)
        self._restore_inspector()
        self._show_model(chats.model)
        if chats.current is not None:
            self._show_session(chats.current)

    def _restore_inspector(self) -> None:
        """Show the inspector as it was when the program ended, and remember what becomes of it."""
        window, settings = self._window, self._settings
        if settings.get("inspector_page") in window.inspector.page_names:
            window.inspector.show_page(settings.get("inspector_page"))
        if settings.get("inspector_open"):
            window.want_inspector()
        window.inspector_toggled.connect(lambda _shown: settings.set("inspector_open", window.inspector_wanted))
        window.inspector.page_chosen.connect(partial(settings.set, "inspector_page"))

    def _connect(self) -> None:
        """Connections between the views and the program that concern no part of it alone."""
        window, chats, dialogs = self._window, self._chats, self.dialogs
        window.dropped.connect(window.composer.take_mime)
        window.closing.connect(self._keep_geometry)
        window.composer.model_dropped.connect(self.providing.add)
        window.composer.adapter_dropped.connect(self.providing.add_adapter)
        window.composer.refused.connect(self._say)
        window.composer.command_unknown.connect(self._refuse_command)
        window.sidebar.new_requested.connect(self.new_chat)
        window.sidebar.settings_requested.connect(dialogs.show_settings)
        window.header.inspector_toggled.connect(window.show_inspector)
        window.inspector_toggled.connect(window.header.show_inspector)
        window.header.find_requested.connect(window.chat.show_find)
        window.header.check_requested.connect(chats.check_current)
        window.header.models_requested.connect(self.providing.show_dialog)
        window.header.previous_model_requested.connect(chats.back_to_previous_model)
        window.header.model_file_requested.connect(self.providing.choose_file)
        window.header.model_folder_requested.connect(self.providing.choose_folder)
        window.header.model_chosen.connect(chats.load_model)
        window.header.settings_requested.connect(dialogs.show_settings)
        window.header.help_requested.connect(dialogs.show_help)
        window.header.theme_requested.connect(self._choose_theme)
        chats.models_wanted.connect(self.providing.show_dialog)
        for offering in (window.start_page, window.setup_card):
            offering.models_requested.connect(self.providing.show_dialog)
            offering.retry_requested.connect(self._load_default)
            offering.download_requested.connect(self._load_offered)
        window.start_page.file_requested.connect(self.providing.choose_file)
        window.start_page.folder_requested.connect(self.providing.choose_folder)
        self.providing.link_activated.connect(dialogs.show_link)
        self._shelf.changed.connect(self._show_online)
        window.chat.link_activated.connect(dialogs.show_link)
        window.progress.cancel_requested.connect(chats.cancel_load)
        window.checking.cancel_requested.connect(chats.check.cancel)
        chats.check.changed.connect(window.checking.show_check)
        chats.models.changed.connect(window.header.show_models)
        chats.current_changed.connect(self._show_session)
        self.shown.conversation_changed.connect(self.assisting.show_conversation)
        chats.model_changed.connect(self._show_model)
        chats.notice.connect(window.notices.show_notice)
        chats.turn_begins.connect(window.notices.turn_begins)
        chats.turn_ended.connect(window.notices.turn_ended)
        self._serving.changed.connect(self._show_serving)
        self._settings.changed.connect(self._setting_changed)

    def _runs(self) -> dict[str, Run]:
        """What each declared action does."""
        window, shown, dialogs, organizing = self._window, self.shown, self.dialogs, self.organizing
        plain = {
            "new_chat": self.new_chat,
            "pin_chat": organizing.toggle_pin,
            "archive_chat": organizing.archive,
            "delete_chat": organizing.delete,
            "chat_options": self.assisting.show_options,
            "copy_chat": self.transfers.copy_current,
            "export_chat": self.transfers.export_current,
            "export_all": self.transfers.export_all,
            "undo": window.notices.undo,
            "import_chats": self.transfers.import_chats,
            "check_chat": self._chats.check_current,
            "next_chat": partial(organizing.step, 1),
            "previous_chat": partial(organizing.step, -1),
            "attach": window.composer.choose_files,
            "stop": shown.stop,
            "regenerate": shown.regenerate_last,
            "continue": shown.continue_last,
            "copy_answer": shown.copy_last,
            "jump_to_end": window.chat.jump_to_end,
            "toggle_sidebar": window.toggle_sidebar,
            "toggle_inspector": window.toggle_inspector,
            "explain": self.inspection.show_last_turn,
            "compare_cache": self.inspection.compare,
            "all_turns": self.inspection.show_table,
            "export_turns": self.inspection.export_turns,
            "quick_ask": self.quick_ask_requested.emit,
            "larger": partial(self._resize_text, 1),
            "smaller": partial(self._resize_text, -1),
            "theme": self._toggle_theme,
            "settings": dialogs.show_settings,
            "help": dialogs.show_help,
            "assistants": self.assisting.show_assistants,
            "models": self.providing.show_dialog,
            "previous_model": self._chats.back_to_previous_model,
            "model_file": self.providing.choose_file,
            "model_folder": self.providing.choose_folder,
            "add_server": self.connecting.show_dialog,
            "serve": dialogs.show_serving,
            "quit": self.quit_requested.emit,
        }
        with_words: dict[str, Run] = {
            "search_chats": organizing.find_chats,
            "find": self._find,
            "rename_chat": self._rename,
        }
        return {name: (lambda _, do=do: do()) for name, do in plain.items()} | with_words

    # -- what the person does ----------------------------------------------------------------------------------

    def new_chat(self) -> None:
        """Begin a new chat and put the keyboard into the composer."""
        self._chats.new()
        self._window.fold_overlay()
        self._window.composer.focus_editor()

    def _rename(self, title: str) -> None:
        session = self._chats.current
        if session is None or not session.stored:
            self._say(translate("conductor", "There is nothing to rename yet. Please ask something first."))
        elif title:
            self.organizing.rename(title)
        else:
            self._window.header.title_field.begin()

    def _find(self, text: str) -> None:
        self._window.chat.show_find()
        if text:
            self._window.chat.find_bar.field.setText(text)

    def _escape(self) -> None:
        if self._window.chat.find_bar.isVisible():
            self._window.chat.close_find()
        elif self._window.fold_overlay():
            return
        elif self.shown.session is not None and self.shown.session.busy:
            self.shown.stop()
        else:
            self._window.sidebar.end_search()

    def _back_label(self) -> str:
        previous = self._chats.previous_model
        return translate("conductor", "Back to {model}").format(model=previous.label) if previous is not None else ""

    def _load_default(self) -> None:
        self._chats.load_model(None)

    def _load_offered(self) -> None:
        self._chats.load_model(DEFAULT_MODEL.name)

    def _choose_theme(self, choice: str) -> None:
        self._settings.set("theme", choice)

    def _toggle_theme(self) -> None:
        self._settings.set("theme", "light" if self._theme.dark else "dark")

    def _resize_text(self, step: int) -> None:
        sizes = list(TEXT_SIZES)
        at = sizes.index(int(self._settings.get("text_size"))) + step
        if 0 <= at < len(sizes):
            self._settings.set("text_size", str(sizes[at]))

    def _refuse_command(self, word: str) -> None:
        """What begins like a command and is none stays where it was written, until the person says what it is."""
        sentence = translate("conductor", "There is no command “/{word}”.").format(word=word)
        send = translate("conductor", "Send it as it is")
        self._window.notices.show_notice(Notice(sentence, "", send, self._window.composer.send_as_it_is, of_chat=True))

    def _say(self, sentence: str) -> None:
        self._window.notices.show_notice(Notice(sentence, lapses=True, of_chat=True))

    def _keep_geometry(self) -> None:
        self._settings.set("window_geometry", self._window.geometry_to_keep())

    # -- what the program says ---------------------------------------------------------------------------------

    def _show_session(self, session: Session) -> None:
        self._window.notices.show_chat(session.conversation.id)
        self.shown.show(session)
        self.organizing.show_list()
        self.assisting.show(session)
        self.inspection.follow(session)

    def _setting_changed(self, name: str) -> None:
        if name == "theme":
            self._theme.set_choice(self._settings.get("theme"))
        elif name in LOOK:
            self._theme.set_look(self._settings.look())

    def _show_serving(self, state: ServerState) -> None:
        self._window.status.show_serving(state.url)

    def _show_model(self, model: ModelState) -> None:
        if model.phase == "ready" and model.info is not None:
            self._settings.set_own_sampling(dict(model.info.sampling))
        self._window.show_model(model)
        self._window.header.show_previous(self._chats.previous_model)
        self._show_online(self._shelf.shelf)
        self.shown.refresh_model()

    def _show_online(self, shelf: Shelf) -> None:
        """Say what the program is on the network for."""
        running = self._shelf.queue.running
        fetches = bool(shelf.searching) or (running is not None and running.kind == "get")
        self._window.sidebar.show_online(words.online(self._chats.model, fetches))
