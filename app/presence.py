"""The program on the desktop beside its window: tray, quick ask, and a notification when a long answer ends unseen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from app.chats import Chats
from app.i18n import translate
from app.live import LiveTurn
from app.records import Conversation, StoredMessage
from app.session import Session
from app.settings import Settings
from app.theme import Theme, app_icon
from app.tray import Tray
from app.views.main_window import MainWindow
from app.views.quick_ask import QuickAsk


class Presence(QObject):
    """Lives as long as the program; the window comes and goes.

    Args:
        raise_window: Brings the window to the front.
    """

    link_activated = Signal(str)  # in an answer of the small window; the window is in front by then

    def __init__(
        self, chats: Chats, settings: Settings, theme: Theme, raise_window: Callable[[], None], parent: QObject | None
    ) -> None:
        super().__init__(parent)
        self._chats = chats
        self._settings = settings
        self._theme = theme
        self._raise = raise_window
        self._session: Session | None = None
        self._tray = Tray(app_icon(), self)
        self._quick: QuickAsk | None = None  # until it is wanted, which most starts never do
        self._tray.open_requested.connect(raise_window)
        self._tray.quick_ask_requested.connect(self.toggle_quick_ask)
        self._tray.new_chat_requested.connect(self._new_chat)
        self._tray.quit_requested.connect(QApplication.quit)
        self._tray.chat_requested.connect(chats.open)
        chats.answered.connect(self._tell_answered)
        settings.changed.connect(self._setting_changed)
        self._tray.set_wanted(bool(settings.get("tray")))

    @property
    def quick(self) -> QuickAsk:
        """The small window, showing the conversation that was begun in it."""
        if self._quick is None:
            self._quick = self._make_quick()
            if self._session is not None and isValid(self._session):
                self._follow(self._session)
        return self._quick

    def attend(self, window: MainWindow) -> None:
        """This is the window now; its words, and those of tray and quick ask, are in the language in force."""
        window.closing.connect(self._window_closing)
        window.hides_on_close = self._hides_on_close
        self._tray.name_actions()
        shown = self._quick is not None and self._quick.isVisible()
        self._drop_quick()
        if shown:
            self.quick.summon()

    def toggle_quick_ask(self) -> None:
        """Show the small window, or hide it."""
        self.quick.toggle()

    def close(self) -> None:
        """Take tray and small window away."""
        self._tray.close()
        self._drop_quick()

    # -- the small window --------------------------------------------------------------------------------------

    def _make_quick(self) -> QuickAsk:
        quick = QuickAsk(self._theme)
        quick.asked.connect(self._ask)
        quick.stop_requested.connect(self._stop)
        quick.opened.connect(self._open)
        quick.link_activated.connect(self._open_link)
        return quick

    def _drop_quick(self) -> None:
        quick = self._quick
        if quick is not None:
            self._leave()
            self._quick = None
            quick.hide()
            quick.deleteLater()

    def _ask(self, text: str) -> None:
        """Ask in a chat of its own, which goes on until it is opened in the window."""
        if self._session is None or not self._chats.holds(self._session):
            self._leave()
            self._follow(self._chats.aside())
        if self._session is not None:
            self._session.send(text)

    def _follow(self, session: Session) -> None:
        self._session = session
        for signal, slot in self._followed(session):
            signal.connect(slot)
        self.quick.show_thread(session.messages(), session.live)

    def _leave(self) -> None:
        """Show no more of what is followed."""
        if self._session is not None and isValid(self._session):  # it goes when its chat is deleted for good
            for signal, slot in self._followed(self._session):
                signal.disconnect(slot)

    def _followed(self, session: Session) -> tuple[tuple[SignalInstance, Callable[..., None]], ...]:
        return (
            (session.message_added, self.quick.add_message),
            (session.text_appended, self.quick.append_text),
            (session.message_finished, self.quick.finish_message),
            (session.turn_changed, self._show_turn),
            (session.failed, self._show_trouble),
            (session.refused, self._show_trouble),
        )

    def _show_turn(self, live: LiveTurn) -> None:
        model = self._chats.model
        self.quick.show_turn(live, model)
        if live.phase == "queued" and model.phase in ("none", "failed"):  # the way to one is in the window
            self.quick.show_trouble(model.sentence or translate("presence", "No model is loaded."))
        elif live.phase == "prefill":
            self.quick.show_trouble("")

    def _show_trouble(self, sentence: str, _detail: str = "") -> None:
        self.quick.show_trouble(sentence)

    def _stop(self) -> None:
        if self._session is not None:
            self._session.stop()

    def _open(self) -> None:
        """Go on in the window; the next quick question begins a chat of its own."""
        self._leave()
        session, self._session = self._session, None
        if session is not None:
            self._chats.open(session.conversation.id)
        self.quick.clear()
        self.quick.hide()
        self._raise()

    def _open_link(self, address: str) -> None:
        """Ask about it over the window, which the small one would be in front of."""
        self.quick.hide()
        self._raise()
        self.link_activated.emit(address)

    # -- tray and notifications --------------------------------------------------------------------------------

    def _new_chat(self) -> None:
        self._raise()
        self._chats.new()

    def _tell_answered(self, conversation: Conversation, reply: StoredMessage) -> None:
        """Say that an answer is there, if nobody looks."""
        seconds = reply.stats.total_s if reply.stats is not None else 0.0
        if self._settings.get("notify") and QApplication.activeWindow() is None:
            self._tray.tell_finished(conversation.id, conversation.title, seconds)

    def _setting_changed(self, name: str) -> None:
        if name == "tray":
            self._tray.set_wanted(bool(self._settings.get("tray")))

    def _hides_on_close(self) -> bool:
        return bool(self._settings.get("close_to_tray")) and self._tray.present

    def _window_closing(self) -> None:
        """The window is closed for good: nothing else of the program stays behind it."""
        if not self._hides_on_close():
            QApplication.quit()
