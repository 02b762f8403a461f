"""The conversation on view: its session and the views that draw it, connected while it is the one that is shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication

from app.chats import Chats
from app.draft import Draft
from app.i18n import translate
from app.live import DraftCost, LiveTurn
from app.records import Attachment, Conversation, StoredMessage
from app.session import Session
from app.views.conversation_rows import untitled
from app.views.main_window import MainWindow


class ShownChat(QObject):
    """Draws a session, and carries what the person does in it to the session."""

    conversation_changed = Signal(object)  # Conversation that is on view

    def __init__(self, chats: Chats, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._chats = chats
        self._window = window
        self._session: Session | None = None
        self._announced = ""
        chat, composer = window.chat, window.composer
        chat.edited.connect(self.edit)
        chat.regenerate_requested.connect(self.regenerate)
        chat.version_requested.connect(self._show_version)
        chat.continue_requested.connect(self.continue_reply)
        chat.fork_requested.connect(self._fork)
        chat.delete_requested.connect(chats.delete_message)
        chat.quote_requested.connect(composer.editor.quote)
        chat.edit_changed.connect(chats.preview_edit)
        chat.retry_requested.connect(self._retry)
        chat.typed.connect(composer.type)
        chat.find_closed.connect(composer.focus_editor)
        composer.send_requested.connect(self.send)
        composer.stop_requested.connect(self.stop)
        composer.paged.connect(chat.page)
        composer.edited.connect(chats.draft_changed)
        composer.queued_taken_back.connect(self._take_back)
        chats.preview.connect(composer.show_cost)
        chats.edit_preview.connect(self._show_edit_cost)
        chats.draft_replaced.connect(self._show_draft)
        chats.list_changed.connect(self._show_current_title)
        window.start_page.example_chosen.connect(self.send)
        window.sidebar.typed.connect(composer.type)

    @property
    def session(self) -> Session | None:
        """The one on view."""
        return self._session

    # -- what the person does ----------------------------------------------------------------------------------

    def send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        """Ask; the text stays in the composer if it was not taken."""
        composer = self._window.composer
        if self._session is not None and self._session.send(text, attachments) and composer.text == text:
            composer.clear()
        composer.focus_editor()

    def edit(self, message_id: str, question: Draft) -> None:
        """Ask a question in other words."""
        if self._session is not None and self._session.edit(message_id, question):
            self._window.composer.focus_editor()

    def regenerate(self, message_id: str) -> None:
        """Answer once more."""
        if self._session is not None and self._session.regenerate(message_id):
            self._window.composer.focus_editor()

    def regenerate_last(self) -> None:
        """Answer the last question once more, also one that has no answer."""
        if (reply := self._last_reply()) is not None:
            self.regenerate(reply.id)
        elif self._session is not None and self._session.messages():
            self._retry()

    def _retry(self) -> None:
        self._chats.retry()
        self._window.composer.focus_editor()

    def continue_reply(self, message_id: str) -> None:
        """Go on with an answer where it ended."""
        if self._session is not None and self._session.continue_reply(message_id):
            self._window.composer.focus_editor()

    def continue_last(self) -> None:
        """Go on with the last answer."""
        if (reply := self._last_reply()) is not None:
            self.continue_reply(reply.id)

    def copy_last(self) -> None:
        """Copy the last answer as it was written."""
        if (reply := self._last_reply()) is not None:
            QGuiApplication.clipboard().setText(reply.content)

    def _last_reply(self) -> StoredMessage | None:
        messages = self._session.messages() if self._session is not None else ()
        return messages[-1] if messages and messages[-1].role == "assistant" else None

    def _fork(self, message_id: str) -> None:
        if self._chats.fork(message_id) is not None:
            self._window.composer.focus_editor()

    def _take_back(self) -> None:
        if self._session is not None:
            self._session.take_back_queued()
            self._window.composer.focus_editor()

    def stop(self) -> None:
        """End the turn; what was said stays."""
        if self._session is not None:
            self._session.stop()

    def _show_version(self, message_id: str, step: int) -> None:
        if self._session is not None:
            self._session.show_version(message_id, step)

    # -- what is shown -----------------------------------------------------------------------------------------

    def show(self, session: Session) -> None:
        """Show another conversation."""
        if session is self._session:
            return
        if self._session is not None:
            self._each(self._session, SignalInstance.disconnect)
        self._session = session
        self._window.header.title_field.give_up()  # or this chat would get the title that is written for the last one
        self._each(session, SignalInstance.connect)
        self._show_thread()
        self.show_title(session.conversation)
        self._window.sidebar.mark_open(session.conversation.id)
        self._show_draft(self._chats.draft)
        self._show_questions()
        self._window.composer.show_queued(session.queued)
        self._show_turn(session.live)

    def refresh_model(self) -> None:
        """Show the turn again: the model changed, which it may wait for."""
        if self._session is not None:
            self._window.chat.show_turn(self._session.live, self._chats.model)

    def show_title(self, conversation: Conversation) -> None:
        """Show the title of the conversation on view."""
        self._window.header.show_title(conversation.title or untitled(), stored=bool(conversation.title))
        self._window.show_title(conversation.title)

    def _show_conversation(self, conversation: Conversation) -> None:
        self.show_title(conversation)
        self.conversation_changed.emit(conversation)

    def _show_current_title(self) -> None:
        if self._session is not None:
            self.show_title(self._session.conversation)

    def _each(self, session: Session, do: Callable[[SignalInstance, Callable[..., None]], object]) -> None:
        """Connect or disconnect all that is followed of a session."""
        chat = self._window.chat
        for signal, slot in (
            (session.message_added, chat.add_message),
            (session.message_added, self._message_added),
            (session.message_resumed, chat.resume_message),
            (session.queue_changed, self._window.composer.show_queued),
            (session.text_appended, chat.append_text),
            (session.message_finished, chat.finish_message),
            (session.message_finished, self._announce),
            (session.turn_changed, self._show_turn),
            (session.thread_changed, self._change_thread),
            (session.conversation_changed, self._show_conversation),
        ):
            do(signal, slot)

    def _show_thread(self) -> None:
        if self._session is None:
            return
        messages = self._session.messages()
        self._window.chat.show_left_out(0)
        self._window.chat.show_thread(messages, self._session.live)
        self._mark_messages()
        self._window.show_messages(bool(messages))

    def _change_thread(self) -> None:
        """Show another branch of the conversation."""
        if self._session is not None:
            messages = self._session.messages()
            self._window.chat.change_thread(messages, self._session.live)
            self._mark_messages()
            self._window.show_messages(bool(messages))
            self._show_questions()

    def _message_added(self, _message: StoredMessage) -> None:
        self._mark_messages()
        self._window.show_messages(True)
        self._show_questions()

    def _show_draft(self, draft: Draft) -> None:
        self._window.composer.set_draft(draft.text, draft.attachments)

    def _show_questions(self) -> None:
        """Let the composer call back what was asked in this chat."""
        messages = self._session.messages() if self._session is not None else ()
        self._window.composer.set_history([message.content for message in messages if message.role == "user"])

    def _show_edit_cost(self, message_id: str, cost: DraftCost) -> None:
        self._window.chat.show_edit_cost(message_id, cost)

    def _mark_messages(self) -> None:
        """Show what is known of the messages beside their text: versions, and what was not read."""
        if self._session is not None:
            self._window.chat.show_versions(self._session.versions())
            self._window.chat.show_left_out(self._session.left_out_count)

    def _show_turn(self, live: LiveTurn) -> None:
        self._window.chat.show_turn(live, self._chats.model)
        self._window.status.show_turn(live)
        self._window.composer.set_busy(live.phase != "idle")
        if live.phase == "idle":
            self._mark_messages()

    def _announce(self, message: StoredMessage) -> None:
        """Tell a screen reader once that an answer is there, and what it says."""
        if message.id != self._announced:
            self._announced = message.id
            event = QAccessibleAnnouncementEvent(
                self._window.chat, translate("shown_chat", "Answer: {text}").format(text=message.content)
            )
            QAccessible.updateAccessibility(event)
