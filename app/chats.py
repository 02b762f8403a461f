"""The program behind the window: which conversation is on view, and which session an event belongs to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal

from app import chat_words
from app.chat_check import ChatCheck
from app.composing import Composing
from app.draft import Draft
from app.engine_bridge import EngineBridge
from app.engine_sentences import translated
from app.fork import fork
from app.i18n import translate
from app.library import Library
from app.live import ModelState, Notice
from app.migrations import StoreError
from app.model_list import ModelList
from app.model_loader import ModelLoader
from app.records import Attachment, Conversation, Folder
from app.removal import Removal
from app.session import Session
from app.sessions import Sessions
from app.settings import Settings
from app.store import Store
from app.titler import Titler
from app.trash import Trash
from app.tree import MessageTree
from engine.errors import Cancelled, EngineError, ModelNotFound
from engine.events import Event, Failed, ModelInfo

log = logging.getLogger(__name__)

CRASH_FLUSH_S: Final = 2.0


class Chats(QObject):
    """Owns the sessions and routes the engine's events: a reply goes on in its own chat when another is on view.

    A new chat is stored with its first question. There is always a current session once `restore` was called.
    """

    list_changed = Signal()  # what the list, the archive or a folder holds, or which of the chats are busy
    current_changed = Signal(object)  # Session
    model_changed = Signal(object)  # ModelState
    notice = Signal(object)  # Notice
    preview = Signal(object)  # DraftCost of what is in the composer, or None
    edit_preview = Signal(str, object)  # message id, DraftCost of the question that is being edited
    draft_replaced = Signal(object)  # Draft: this is in the composer now, because a message that waited came back
    answered = Signal(object, object)  # Conversation, StoredMessage: an answer is complete
    turn_begins = Signal(str)  # conversation id: it is asked something
    turn_ended = Signal(str)  # conversation id: it is not busy any more, or no message of it waits for that
    models_wanted = Signal()  # the person wants to choose among the models
    bug_found = Signal(object)  # EngineError: a fault in the program; everything is saved
    _store_reported = Signal(object)  # EngineError or None, from the writer's thread

    def __init__(self, store: Store, bridge: EngineBridge, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self._current: Session | None = None
        self._loader = ModelLoader(bridge, settings.engine_config, self)
        self.library = Library(store, self)
        self._trash = Trash(store, self)
        self._titler = Titler(bridge, self)
        self._sessions = Sessions(store, bridge, settings, lambda: self.model, self)
        self._composing = Composing(store, bridge, settings, self._sessions.ready_model, self)
        self._removal = Removal(self.library, self._sessions, self._trash, self)
        self.models = ModelList(bridge, self)
        self.check = ChatCheck(bridge, self)
        self._connect()

    def _connect(self) -> None:
        self._bridge.arrived.connect(self.apply, Qt.ConnectionType.QueuedConnection)
        self._loader.changed.connect(self.model_changed)
        self._loader.ready.connect(self._model_ready)
        self._loader.failed.connect(self._model_failed)
        self.library.changed.connect(self.list_changed)
        self.library.conversation_changed.connect(self._follow)
        self.library.refused.connect(self._say)
        self._titler.titled.connect(self._name)
        self._sessions.asking.connect(self._give_up_check)
        self._sessions.asking.connect(self.turn_begins)
        self._sessions.busy_changed.connect(self.list_changed)
        self._composing.preview.connect(self.preview)
        self._composing.edit_preview.connect(self.edit_preview)
        self._composing.draft_replaced.connect(self.draft_replaced)
        self._removal.notice.connect(self.notice)
        self._removal.removed.connect(self._leave)
        self._removal.returned.connect(self.open)
        self.models.failed.connect(self._say)
        self.check.told.connect(self._say)
        self.check.failed.connect(self._say)
        self._trash.emptied.connect(self._sessions.forget)
        self._settings.save_failed.connect(self._say)
        self._store_reported.connect(self._say_of_store, Qt.ConnectionType.QueuedConnection)
        self._store.on_report = self._store_reported.emit

    @property
    def current(self) -> Session | None:
        """The session on view."""
        return self._current

    @property
    def model(self) -> ModelState:
        """Where the model stands."""
        return self._loader.state

    @property
    def draft(self) -> Draft:
        """What is typed into the current chat and not sent yet.

        Raises:
            StoreError: The database cannot be read.
        """
        return self._composing.draft

    @property
    def busy(self) -> frozenset[str]:
        """The ids of the conversations whose question waits or is being answered."""
        return self._sessions.busy

    # -- which conversations there are -------------------------------------------------------------------------

    def conversations(self) -> tuple[Conversation, ...]:
        """Those in the list, the latest first."""
        return self.library.conversations()

    def archived(self) -> tuple[Conversation, ...]:
        """Those that were put out of the list, the last one first."""
        return self.library.archived()

    def folders(self) -> tuple[Folder, ...]:
        """All folders, by name."""
        return self.library.folders()

    def restore(self, new: bool = False) -> None:
        """Read the list and open the last conversation, or begin a new one."""
        self.reread()
        self._open_latest_or_new(new)

    def reread(self) -> None:
        """Read the list from the store, whose changes must be on the disk. What was deleted is gone for good."""
        try:
            self._sessions.forget(self._store.deleted())
            self._trash.empty()
            self.library.read()
        except StoreError as error:
            self._say(error.sentence, error.detail)
        self.list_changed.emit()

    def take_imported(self, ids: Sequence[str], folders: Sequence[Folder]) -> None:
        """Take imported conversations into the list, and folders made for them. What was deleted is gone for good."""
        self._trash.empty()
        try:
            self.library.add(frozenset(ids), folders)
        except StoreError as error:
            self._say(error.sentence, error.detail)

    def new(self) -> None:
        """Show an empty chat; one that is empty already is kept."""
        if self._current is not None and not self._current.stored:
            self.current_changed.emit(self._current)
            return
        self._show(self._make_session(Conversation(), MessageTree(), stored=False))

    def open(self, conversation_id: str) -> None:
        """Show a conversation of the list or the archive."""
        conversation = self.library.get(conversation_id)
        if conversation is None or (self._current and self._current.conversation.id == conversation_id):
            return
        session = self._sessions.get(conversation_id)
        try:
            self._composing.prepare(conversation_id)
            tree = self._store.tree(conversation_id) if session is None else MessageTree()
        except StoreError as error:
            self._say(error.sentence, error.detail)
            return
        self._show(session or self._make_session(conversation, tree, stored=True))

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; the model will not name it."""
        self._titler.give_up(conversation_id)
        self.library.rename(conversation_id, title)

    def archive(self, conversation_id: str, archived: bool) -> None:
        """Put a conversation out of the list, or back into it. An answer that is being written goes on."""
        self._removal.archive(conversation_id, archived)

    def delete(self, conversation_id: str) -> None:
        """Take a conversation out of the list; its notice offers to undo that."""
        self._titler.give_up(conversation_id)
        self._removal.delete(conversation_id)

    def delete_message(self, message_id: str) -> None:
        """Delete a message of the current chat and all that follows it; its notice offers to undo that."""
        if self._current is not None:
            self._removal.delete_message(self._current, message_id)

    def aside(self) -> Session:
        """A new chat that is not put on view; it comes into the list with its first question."""
        return self._make_session(Conversation(), MessageTree(), stored=False)

    def holds(self, session: Session) -> bool:
        """Whether a session is in use, and its conversation in the list or the archive, or one that has not begun."""
        conversation_id = session.conversation.id
        used = self._sessions.get(conversation_id) is session  # not one that was deleted, and imported again since
        return used and (not session.stored or self.library.get(conversation_id) is not None)

    def fork(self, message_id: str) -> Conversation | None:
        """Copy the current chat up to a message into a chat of its own, and show that; None if it cannot be."""
        session = self._current
        if session is None or not session.up_to(message_id):
            return None
        if message_id == session.writing:
            self._say(translate("chats", "This answer is still being written. Please wait for it, or press Stop."))
            return None
        try:
            made, messages = fork(self._store, session.conversation, session.up_to(message_id))
        except StoreError as error:
            self._say(error.sentence, error.detail)
            return None
        self.library.put(made)
        self._show(self._make_session(made, MessageTree(messages, made.leaf_id), stored=True))
        return made

    # -- what is being written ---------------------------------------------------------------------------------

    def draft_changed(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """What is in the composer, of the current chat, has changed."""
        self._composing.change(Draft(text, tuple(attachments)))

    def preview_edit(self, message_id: str, draft: Draft) -> None:
        """Tell soon, by `edit_preview`, what asking a question of the current chat in these words would cost."""
        self._composing.change_edit(message_id, draft)

    # -- the model ---------------------------------------------------------------------------------------------

    def load_model(self, name: str | None) -> None:
        """Load a model by name, or the default one."""
        self._loader.load(name)

    @property
    def previous_model(self) -> ModelInfo | None:
        """The model that answered before the one that does now; None where there was no other."""
        return self._loader.previous

    def back_to_previous_model(self) -> None:
        """Load the model that answered before; the one of now can be gone back to in the same way."""
        if self.previous_model is not None:
            self._loader.load(self.previous_model.name)

    @property
    def reload_needed(self) -> bool:
        """Whether settings have changed that take effect when the model is loaded again."""
        return self.model.phase == "ready" and self.model.config != self._settings.engine_config()

    def reload_model(self) -> None:
        """Load the model once more, with the settings of now."""
        if self.model.info is not None:
            self._loader.load(self.model.info.name)

    def cancel_load(self) -> None:
        """Give up the download, import or load in progress."""
        self._loader.cancel()

    def check_current(self) -> None:
        """Prove that reuse changes no answer of the current chat."""
        self.check.start(self._current, self._sessions.ready_model())

    def retry(self, session: Session | None = None) -> None:
        """Ask the last question again (of the current session if none is given), once more loading what failed to load.

        Where there is no model it waits for one: nothing is downloaded without a word about it.
        """
        asking = session or self._current
        if self.model.phase == "failed":
            self._loader.again()
        if asking is not None and self.holds(asking):  # else it was deleted since its notice came
            self.open(asking.conversation.id)
            asking.retry()

    # -- what the program says ---------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Give an event of the engine to whom it belongs."""
        for listener in (self._loader, self.models, self.check, self._titler, self._composing, self._sessions):
            listener.apply(event)
        if isinstance(event, Failed) and event.bug:
            self.bug_found.emit(event.error)

    def save_now(self) -> bool:
        """Save every reply as far as it has come and wait for the disk, at most two seconds; for crashes."""
        self._composing.save()
        self._sessions.save_partial()
        return self._store.flush(CRASH_FLUSH_S)

    def shutdown(self) -> None:
        """Stop what goes on; replies in progress are saved as far as they came, and what was not sent as drafts."""
        self._bridge.arrived.disconnect(self.apply)  # figures that come now would find a closed store
        self._trash.close()
        self._loader.cancel()
        self._sessions.stop()
        self._composing.close()
        self._store.on_report = None

    # -- steps -------------------------------------------------------------------------------------------------

    def _open_latest_or_new(self, new: bool = False) -> None:
        latest = None if new else next(iter(self.conversations()), None)
        if latest is not None:
            self.open(latest.id)
        if latest is None or self._current is None:
            self.new()

    def _leave(self, conversation_id: str) -> None:
        """Show another conversation if this one is on view."""
        if self._current and self._current.conversation.id == conversation_id:
            self._open_latest_or_new()

    def _make_session(self, conversation: Conversation, tree: MessageTree, stored: bool) -> Session:
        session = self._sessions.make(conversation, tree, stored=stored)
        session.conversation_changed.connect(partial(self._update, session))
        session.turn_ended.connect(partial(self._turn_ended, session))
        session.queue_changed.connect(partial(self._queue_changed, session))
        session.refused.connect(partial(self._refuse, session))
        session.left_out.connect(partial(self._say_left_out, session))
        session.failed.connect(partial(self._question_failed, session))
        self._composing.follow(session)
        return session

    def _give_up_check(self) -> None:
        if self.check.running:
            self.check.cancel()
            self._say(translate("chats", "The check was given up, because something was asked."))

    def _show(self, session: Session) -> None:
        self._composing.leave()
        before, self._current = self._current, session
        self._composing.show(session)
        self.current_changed.emit(session)
        if before is not None and not before.stored:
            self._sessions.drop(before.conversation.id)
        self._composing.look()

    def _update(self, session: Session, conversation: Conversation) -> None:
        """A conversation was asked something, or has other options."""
        if not session.stored:
            return
        if self.library.get(conversation.id) is None and session is self._current:
            self._composing.stored(conversation.id)
        self.library.put(conversation)

    def _follow(self, conversation: Conversation) -> None:
        """The title or the place of a conversation has changed."""
        session = self._sessions.get(conversation.id)
        if session is not None:
            session.conversation = conversation

    def _name(self, conversation_id: str, title: str) -> None:
        """The model found a title; the person may have found another one meanwhile."""
        conversation = self.library.get(conversation_id)
        if conversation is not None and not conversation.titled:
            self.library.rename(conversation_id, title)

    def _queue_changed(self, session: Session, waiting: str) -> None:
        if not waiting:
            self.turn_ended.emit(session.conversation.id)

    def _turn_ended(self, session: Session, well: bool) -> None:
        self.turn_ended.emit(session.conversation.id)
        messages = session.messages()
        if well and messages and messages[-1].role == "assistant":
            self.answered.emit(session.conversation, messages[-1])
        if well and self._settings.get("auto_title") and self._titler.wants(session):
            self._titler.name(session)

    def _model_ready(self) -> None:
        self._titler.model_changed()
        self._sessions.model_ready()
        self.models.refresh()
        self._composing.look()

    def _model_failed(self, error: EngineError) -> None:
        """Say why no model, or not the one that was wanted, is loaded; questions wait on for one."""
        latest = self._loader.latest
        if isinstance(error, Cancelled):
            return
        if isinstance(error, ModelNotFound):
            self._offer(error, translate("chats", "Choose a model…"), self.models_wanted.emit)
        elif self.model.phase == "failed" and latest is not None:
            back = translate("chats", "Back to {model}").format(model=latest.label)
            self._offer(error, back, partial(self._loader.load, latest.name))
        elif self.model.phase == "none":  # it could not be downloaded, which the window offers
            self._offer(error, "", None)
        else:
            self._offer(error, translate("chats", "Try again"), self._loader.again)

    def _question_failed(self, session: Session, sentence: str, detail: str) -> None:
        only_in = session.conversation.id if session is self._current else ""
        if session is not self._current:
            whose = translate("chats", "In “{title}”: {sentence}")
            sentence = whose.format(title=session.conversation.title, sentence=translated(sentence))
        again, turn_of = partial(self.retry, session), session.conversation.id
        label = translate("chats", "Try again")
        self.notice.emit(Notice(sentence, detail, label, again, turn_of=turn_of, only_in=only_in))

    def _say(self, sentence: str, detail: str = "") -> None:
        self.notice.emit(Notice(sentence, detail))

    def _offer(self, error: EngineError, label: str, action: Callable[[], None] | None) -> None:
        self.notice.emit(Notice(error.sentence, error.detail, label, action, until="load"))

    def _refuse(self, session: Session, sentence: str) -> None:
        self.notice.emit(Notice(sentence, lapses=True, only_in=session.conversation.id, until="turn"))

    def _say_left_out(self, session: Session, count: int) -> None:
        self.notice.emit(Notice(chat_words.left_out(count), only_in=session.conversation.id))

    def _say_of_store(self, error: EngineError | None) -> None:
        if error is None:
            self._say(translate("chats", "Everything is saved again."))
        else:
            self._say(error.sentence, error.detail)
