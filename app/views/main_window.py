"""The window: places the views, and is the one that knows them all; every connection is made in one block."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QEasingCurve, QEvent, QPoint, QPropertyAnimation
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.chats import Chats
from app.dialogs import Dialogs
from app.live import LiveTurn, ModelState
from app.records import Conversation, StoredMessage
from app.session import Session
from app.settings import Settings
from app.theme import Theme, app_icon
from app.views.chat_header import ChatHeader
from app.views.chat_view import ChatView
from app.views.composer import Composer
from app.views.conversation_model import UNTITLED
from app.views.frame import Dock, Scrim
from app.views.notice_bar import NoticeBar
from app.views.progress_card import ProgressCard
from app.views.sidebar import WIDTH, Sidebar
from app.views.start_page import StartPage
from app.views.status_bar import StatusBar

NARROW: Final = 760  # below this width the sidebar lies over the conversation


class MainWindow(QWidget):
    """Shows one conversation at a time, the list of all, and what the engine is doing."""

    def __init__(self, chats: Chats, settings: Settings, theme: Theme) -> None:
        super().__init__()
        self._chats = chats
        self._settings = settings
        self._theme = theme
        self._session: Session | None = None
        self._watched: set[str] = set()
        self._busy: frozenset[str] = frozenset()
        self._announced = ""
        self._wanted_sidebar = True
        self.setObjectName("window")
        self.setWindowTitle("Loquat")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(400, 420)
        self.setAcceptDrops(True)
        self.sidebar = Sidebar(theme, self)
        self.header = ChatHeader(theme, self)
        self.start_page = StartPage(theme, self)
        self.chat = ChatView(theme, self)
        self.notices = NoticeBar(theme, self)
        self.progress = ProgressCard(theme, self)
        self.checking = ProgressCard(theme, self)
        self.composer = Composer(theme, self)
        self.status = StatusBar(theme, self)
        self.dialogs = Dialogs(chats, settings, theme, self)
        self._scrim = Scrim(self)
        self._slide = QPropertyAnimation(self.sidebar, QByteArray(b"pos"), self)
        self._place_parts()
        self._connect()
        self._restore_geometry()
        self._show_model(chats.model)
        if chats.current is not None:
            self._show_list()
            self._show_session(chats.current)

    def _connect(self) -> None:
        """All connections between the views and the program."""
        self.sidebar.new_requested.connect(self.new_chat)
        self.sidebar.open_requested.connect(self._open)
        self.sidebar.rename_requested.connect(self._chats.rename)
        self.sidebar.delete_requested.connect(self._chats.delete)
        self.sidebar.settings_requested.connect(self.dialogs.show_settings)
        self.sidebar.typed.connect(self.composer.type)
        self.header.sidebar_toggled.connect(self.toggle_sidebar)
        self.header.model_file_requested.connect(self.dialogs.choose_model_file)
        self.header.model_folder_requested.connect(self.dialogs.choose_model_folder)
        self.header.model_chosen.connect(self._chats.load_model)
        self.header.default_requested.connect(self._chats.models.set_default)
        self.header.remove_requested.connect(self.dialogs.confirm_removal)
        self.header.check_requested.connect(self._chats.check_current)
        self.header.settings_requested.connect(self.dialogs.show_settings)
        self.header.theme_requested.connect(partial(self._settings.set, "theme"))
        self.start_page.example_chosen.connect(self._send)
        self.chat.link_activated.connect(self.dialogs.show_link)
        self.chat.typed.connect(self.composer.type)
        self.chat.edited.connect(self._edit)
        self.chat.regenerate_requested.connect(self._regenerate)
        self.chat.version_requested.connect(self._show_version)
        self.composer.send_requested.connect(self._send)
        self.composer.stop_requested.connect(self._stop)
        self.composer.paged.connect(self.chat.page)
        self.composer.edited.connect(self._chats.draft_changed)
        self.progress.cancel_requested.connect(self._chats.cancel_load)
        self.checking.cancel_requested.connect(self._chats.check.cancel)
        self._chats.check.changed.connect(self.checking.show_check)
        self._chats.models.changed.connect(self.header.show_models)
        self._scrim.clicked.connect(partial(self.show_sidebar, False))
        self._chats.list_changed.connect(self._show_list)
        self._chats.current_changed.connect(self._show_session)
        self._chats.model_changed.connect(self._show_model)
        self._chats.notice.connect(self.notices.show_notice)
        self._settings.changed.connect(self._setting_changed)
        for keys, action in (
            (QKeySequence.StandardKey.New, self.new_chat),
            ("Ctrl+B", self.toggle_sidebar),
            ("Ctrl+,", self.dialogs.show_settings),
            ("Ctrl+End", self.chat.jump_to_end),
            ("Escape", self._escape),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(action)

    def _watch(self, session: Session) -> None:
        """Connections to the conversation on view; the busy mark follows a session for as long as it lives."""
        session.message_added.connect(self.chat.add_message)
        session.message_added.connect(self._message_added)
        session.text_appended.connect(self.chat.append_text)
        session.message_finished.connect(self.chat.finish_message)
        session.message_finished.connect(self._message_finished)
        session.turn_changed.connect(self._show_turn)
        session.thread_changed.connect(self._change_thread)
        session.conversation_changed.connect(self._show_title)
        if session.conversation.id not in self._watched:
            self._watched.add(session.conversation.id)
            session.turn_changed.connect(self._mark_busy)

    def _unwatch(self, session: Session) -> None:
        session.message_added.disconnect(self.chat.add_message)
        session.message_added.disconnect(self._message_added)
        session.text_appended.disconnect(self.chat.append_text)
        session.message_finished.disconnect(self.chat.finish_message)
        session.message_finished.disconnect(self._message_finished)
        session.turn_changed.disconnect(self._show_turn)
        session.thread_changed.disconnect(self._change_thread)
        session.conversation_changed.disconnect(self._show_title)

    def _place_parts(self) -> None:
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self.chat)
        self._main = QWidget(self)
        column = QVBoxLayout(self._main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self._pages, 1)
        column.addWidget(Dock((self.notices, self.progress, self.checking, self.composer), self._main))
        column.addWidget(self.status)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.finished.connect(self._slid)
        self._scrim.raise_()
        self.sidebar.raise_()

    # -- what the person does ----------------------------------------------------------------------------------

    def new_chat(self) -> None:
        """Begin a new chat and put the keyboard into the composer."""
        self._chats.new()
        self._after_choice()

    def _open(self, conversation_id: str) -> None:
        self._chats.open(conversation_id)
        if self._narrow:
            self._after_choice()

    def _after_choice(self) -> None:
        if self._narrow:
            self.show_sidebar(False)
        self.composer.focus_editor()

    def _send(self, text: str) -> None:
        """Ask; the text stays in the composer if it was not taken."""
        if self._session is not None and self._session.send(text) and self.composer.text == text:
            self.composer.clear()
        self.composer.focus_editor()

    def _edit(self, message_id: str, text: str) -> None:
        if self._session is not None and self._session.edit(message_id, text):
            self.composer.focus_editor()

    def _regenerate(self, message_id: str) -> None:
        if self._session is not None and self._session.regenerate(message_id):
            self.composer.focus_editor()

    def _show_version(self, message_id: str, step: int) -> None:
        if self._session is not None:
            self._session.show_version(message_id, step)

    def _stop(self) -> None:
        if self._session is not None:
            self._session.stop()

    def _escape(self) -> None:
        if self._narrow and self.sidebar.isVisible():
            self.show_sidebar(False)
        else:
            self._stop()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped_model(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped_model(event)
        if path is not None:
            self._chats.add_model(path)
            event.acceptProposedAction()

    # -- what the program says ---------------------------------------------------------------------------------

    def _show_session(self, session: Session) -> None:
        if session is self._session:
            return
        if self._session is not None:
            self._unwatch(self._session)
        self._session = session
        self._watch(session)
        self._show_thread()
        self._show_title(session.conversation)
        self.sidebar.mark_open(session.conversation.id)
        self._show_turn(session.live)

    def _show_thread(self) -> None:
        if self._session is None:
            return
        messages = self._session.messages()
        self.chat.show_left_out(0)
        self.chat.show_thread(messages, self._session.live)
        self._mark_messages()
        self._pages.setCurrentWidget(self.chat if messages else self.start_page)

    def _change_thread(self) -> None:
        """Show another branch of the conversation on view."""
        if self._session is not None:
            self.chat.change_thread(self._session.messages(), self._session.live)
            self._mark_messages()

    def _message_added(self, _message: StoredMessage) -> None:
        self._mark_messages()
        self._pages.setCurrentWidget(self.chat)

    def _mark_messages(self) -> None:
        """Show what is known of the messages beside their text: versions, and what was not read."""
        if self._session is not None:
            self.chat.show_versions(self._session.versions())
            self.chat.show_left_out(self._session.left_out_count)

    def _show_title(self, conversation: Conversation) -> None:
        title = conversation.title or UNTITLED
        self.header.show_title(title)
        self.setWindowTitle(f"{title} - Loquat" if conversation.title else "Loquat")

    def _show_list(self) -> None:
        self.sidebar.show_conversations(self._chats.conversations(), self._busy)
        if self._session is not None:
            self._show_title(self._session.conversation)
            self.sidebar.mark_open(self._session.conversation.id)

    def _mark_busy(self, live: LiveTurn) -> None:
        session = self.sender()
        assert isinstance(session, Session)  # noqa: S101 - nothing else is connected here
        conversation_id, busy = session.conversation.id, live.phase != "idle"
        if busy != (conversation_id in self._busy):
            self._busy = self._busy ^ {conversation_id}
            self._show_list()

    def _show_turn(self, live: LiveTurn) -> None:
        self.chat.show_turn(live, self._chats.model)
        self.status.show_turn(live)
        self.composer.set_busy(live.phase != "idle")
        if live.phase == "idle":
            self._mark_messages()

    def _show_model(self, model: ModelState) -> None:
        self.header.show_model(model)
        self.progress.show_model(model)
        self.start_page.show_model(model)
        self.status.show_model(model)
        if self._session is not None:
            self.chat.show_turn(self._session.live, model)

    def _message_finished(self, message: StoredMessage) -> None:
        """Tell a screen reader once that an answer is there, and what it says."""
        if message.id != self._announced:
            self._announced = message.id
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.chat, f"Answer: {message.content}"))

    def _setting_changed(self, name: str) -> None:
        if name == "theme":
            self._theme.set_choice(self._settings.get("theme"))

    # -- placing -----------------------------------------------------------------------------------------------

    @property
    def _narrow(self) -> bool:
        return self.width() < NARROW

    def toggle_sidebar(self) -> None:
        """Fold the sidebar away, or bring it back."""
        self.show_sidebar(not self.sidebar.isVisible())

    def show_sidebar(self, shown: bool) -> None:
        """Show or fold the sidebar; in a narrow window it slides over the conversation."""
        if not self._narrow:
            self._wanted_sidebar = shown
        elif self.isVisible() and self._theme.motion_ms():
            self._slide_sidebar(shown)
            return
        self.sidebar.setVisible(shown)
        self._arrange()

    def _slide_sidebar(self, shown: bool) -> None:
        self._slide.stop()
        self._slide.setDuration(self._theme.motion_ms())
        self._slide.setStartValue(self.sidebar.pos() if self.sidebar.isVisible() else QPoint(-WIDTH, 0))
        self._slide.setEndValue(QPoint(0 if shown else -WIDTH, 0))
        self.sidebar.show()
        self._scrim.setVisible(shown)
        self._slide.start()

    def _slid(self) -> None:
        self.sidebar.setVisible(self.sidebar.x() == 0)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        was_narrow = event.oldSize().width() < NARROW
        if was_narrow != self._narrow or not event.oldSize().isValid():
            self._slide.stop()
            self.sidebar.setVisible(self._wanted_sidebar and not self._narrow)
        self._arrange()

    def _arrange(self) -> None:
        beside = not self.sidebar.isHidden() and not self._narrow
        left = WIDTH if beside else 0
        self.sidebar.setGeometry(0, 0, WIDTH, self.height())
        self._main.setGeometry(left, 0, self.width() - left, self.height())
        self._scrim.setGeometry(self.rect())
        self._scrim.setVisible(not beside and not self.sidebar.isHidden())

    def _restore_geometry(self) -> None:
        self.resize(1200, 820)
        kept = QByteArray.fromBase64(self._settings.get("window_geometry").encode())
        if not kept.isEmpty():
            self.restoreGeometry(kept)

    def showEvent(self, event: QEvent) -> None:
        self.composer.focus_editor()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._settings.set("window_geometry", self.saveGeometry().toBase64().toStdString())
        super().closeEvent(event)


def _dropped_model(event: QDropEvent) -> Path | None:
    """The one local file or folder that is being dropped."""
    urls = event.mimeData().urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
