"""Assistants and the options of single chats: which there are, which one the chat on view has, and their dialogs."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Qt

from app.assistants import PLAIN, Assistant, Assistants
from app.chats import Chats
from app.i18n import translate
from app.live import Notice
from app.records import ChatOptions, Conversation
from app.session import Session
from app.settings import Settings
from app.theme import Theme
from app.views.assistants_dialog import AssistantsDialog
from app.views.chat_options_dialog import ChatOptionsDialog
from app.views.controls import Menu, unmarked
from app.views.main_window import MainWindow


class Assisting(QObject):
    """Applies assistants to chats: a chat that has begun keeps what it was told, so another assistant begins anew."""

    def __init__(
        self,
        window: MainWindow,
        chats: Chats,
        settings: Settings,
        assistants: Assistants,
        *,
        theme: Theme,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._settings = settings
        self._assistants = assistants
        self._theme = theme
        self._dialog: AssistantsDialog | None = None
        window.start_page.assistant_chosen.connect(self.choose)
        window.composer.assistant_menu_requested.connect(self._show_menu)
        window.header.options_requested.connect(self.show_options)
        assistants.changed.connect(self._changed)
        assistants.save_failed.connect(self._say)

    def show(self, session: Session) -> None:
        """Show which assistant a chat has."""
        self.show_conversation(session.conversation)

    def show_conversation(self, conversation: Conversation) -> None:
        """Show which assistant a chat has, and all of them on the page of an empty one."""
        chosen = self._assistants.get(conversation.options.assistant)
        gone = translate("assisting", "an assistant that is gone")
        self._window.composer.show_assistant(chosen.name if chosen is not None else gone)
        entries = [(each.id, each.name, each.icon, each.opening) for each in self._assistants.all()]
        self._window.start_page.show_assistants(entries, chosen.id if chosen is not None else PLAIN)

    def choose(self, assistant_id: str) -> None:
        """Give an assistant to the chat on view if it is empty, else to a new one."""
        assistant = self._assistants.get(assistant_id)
        if assistant is None:
            return
        if self._chats.current is not None and self._chats.current.messages():
            self._chats.new()
        session = self._chats.current
        if session is None:
            return
        session.set_options(assistant.options, self._prompt_of(assistant))
        self._load_model_of(assistant)
        self._window.composer.focus_editor()

    def show_options(self) -> None:
        """Open the options of the chat on view."""
        session = self._chats.current
        if session is None:
            return
        dialog = ChatOptionsDialog(
            self._theme,
            session.conversation.options,
            session.requests.system_prompt,
            assistants=self._assistants.all(),
            settings=self._settings.for_chats(),
            begun=bool(session.messages()),
            parent=self._window,
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(self._keep_options)
        dialog.open()

    def show_assistants(self) -> None:
        """Open the list of all assistants."""
        if self._dialog is not None:
            return
        models = {model.name: model.label for model in self._chats.models.models}
        self._dialog = AssistantsDialog(self._theme, self._assistants.all(), models, self._window)
        self._dialog.put.connect(self._put)
        self._dialog.brought_back.connect(self._put)
        self._dialog.removed.connect(self._assistants.remove)
        self._dialog.chat_requested.connect(self._begin)
        self._dialog.finished.connect(self._closed)
        self._dialog.open()

    def _show_menu(self) -> None:
        session, composer = self._chats.current, self._window.composer
        menu = Menu(self._theme, composer)
        current = (session.conversation.options.assistant if session is not None else "") or PLAIN
        for each in self._assistants.all():
            # Where there is a drawing, no style shows a tick beside it.
            icon = ("check", "accent") if each.id == current else (each.drawing, "muted")
            action = menu.addAction(self._theme.icon(*icon), unmarked(each.name))
            action.setCheckable(True)
            action.setChecked(each.id == current)
            action.triggered.connect(lambda _=False, wanted=each.id: self.choose(wanted))
        menu.addSeparator()
        menu.addAction(translate("assisting", "All assistants…")).triggered.connect(self.show_assistants)
        menu.addAction(translate("assisting", "Options of this chat…")).triggered.connect(self.show_options)
        menu.popup(composer.mapToGlobal(QPoint(12, -menu.sizeHint().height() - 4)))

    def _begin(self, assistant_id: str) -> None:
        if self._dialog is not None:
            self._dialog.accept()
        self.choose(assistant_id)

    def _put(self, assistant: Assistant, place: int | None = None) -> None:
        try:
            self._assistants.put(assistant, place)
        except ValueError as error:
            self._say(str(error))

    def _keep_options(self, options: ChatOptions, system_prompt: str) -> None:
        session = self._chats.current
        if session is not None:
            session.set_options(options, system_prompt)

    def _load_model_of(self, assistant: Assistant) -> None:
        info = self._chats.model.info
        if assistant.model and (info is None or info.name != assistant.model):
            self._chats.load_model(assistant.model)

    def _prompt_of(self, assistant: Assistant) -> str:
        return assistant.system_prompt or str(self._settings.get("system_prompt"))

    def _changed(self) -> None:
        if self._dialog is not None:
            self._dialog.show_assistants(self._assistants.all())
        if self._chats.current is not None:
            self.show(self._chats.current)

    def _closed(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None

    def _say(self, sentence: str) -> None:
        self._window.notices.show_notice(Notice(sentence))
