"""All conversations: which there are, which is on view, and which session an event belongs to."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.chat_check import ChatCheck
from app.draft import DraftWatch
from app.engine_bridge import EngineBridge
from app.live import ModelState, Notice
from app.migrations import StoreError
from app.model_list import ModelList
from app.model_loader import ModelLoader
from app.records import Conversation
from app.session import Session
from app.settings import Settings
from app.store import Store
from app.tree import MessageTree
from app.turn import TurnOptions
from engine.chat import ChatRequest, RequestHandle
from engine.errors import EngineError
from engine.events import Event, Failed, Finished

log = logging.getLogger(__name__)

UNDO_MS: Final = 60_000  # how long a deleted conversation can be brought back
CRASH_FLUSH_S: Final = 2.0


class Chats(QObject):
    """Owns the sessions and routes the engine's events: a reply goes on in its own chat when another is on view.

    A new chat is stored with its first question. There is always a current session once `restore` was called.
    """

    list_changed = Signal()
    current_changed = Signal(object)  # Session
    model_changed = Signal(object)  # ModelState
    notice = Signal(object)  # Notice
    bug_found = Signal(object)  # EngineError: a fault in the program; everything is saved
    _store_reported = Signal(object)  # EngineError or None, from the writer's thread

    def __init__(self, store: Store, bridge: EngineBridge, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self._listed: dict[str, Conversation] = {}
        self._deleted: dict[str, Conversation] = {}
        self._sessions: dict[str, Session] = {}
        self._routes: dict[str, Session] = {}  # request id -> who asked
        self._current: Session | None = None
        self._loader = ModelLoader(bridge, settings.engine_config, self)
        self.models = ModelList(bridge, self)
        self.check = ChatCheck(bridge, self)
        self._draft = DraftWatch(self)
        self._to_forget: list[str] = []  # their caches go once there is a model to know them
        self._undo_ends = QTimer(self)
        self._undo_ends.setSingleShot(True)
        self._undo_ends.setInterval(UNDO_MS)
        self._connect()

    def _connect(self) -> None:
        self._bridge.arrived.connect(self.apply, Qt.ConnectionType.QueuedConnection)
        self._loader.changed.connect(self.model_changed)
        self._loader.ready.connect(self._model_ready)
        self._loader.failed.connect(self._model_failed)
        self.models.failed.connect(self._say)
        self.check.told.connect(self._say)
        self.check.failed.connect(self._say)
        self._draft.due.connect(self._read_ahead)
        self._undo_ends.timeout.connect(self._purge)
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

    def conversations(self) -> tuple[Conversation, ...]:
        """Those in the list, the latest first."""
        return tuple(sorted(self._listed.values(), key=lambda c: c.updated_at, reverse=True))

    def busy(self, conversation_id: str) -> bool:
        """Whether a conversation's question waits or is being answered."""
        session = self._sessions.get(conversation_id)
        return session is not None and session.busy

    def restore(self, new: bool = False) -> None:
        """Read the list and open the last conversation, or begin a new one."""
        try:
            self._to_forget = self._store.deleted()
            self._store.purge_deleted()
            self._listed = {c.id: c for c in self._store.conversations()}
        except StoreError as error:
            self.notice.emit(Notice(error.sentence, error.detail))
        self.list_changed.emit()
        self._open_latest_or_new(new)

    def new(self) -> None:
        """Show an empty chat; one that is empty already is kept."""
        if self._current is not None and not self._current.stored:
            self.current_changed.emit(self._current)
            return
        self._show(self._make_session(Conversation(), stored=False))

    def open(self, conversation_id: str) -> None:
        """Show a conversation of the list."""
        conversation = self._listed.get(conversation_id)
        if conversation is None or (self._current and self._current.conversation.id == conversation_id):
            return
        session = self._sessions.get(conversation_id)
        try:
            self._show(session or self._make_session(conversation, stored=True))
        except StoreError as error:
            self.notice.emit(Notice(error.sentence, error.detail))

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        title = " ".join(title.split())
        conversation = self._listed.get(conversation_id)
        if not title or conversation is None:
            self._say("A conversation needs a title of at least one character.")
            return
        self._store.rename(conversation_id, title)
        renamed = replace(conversation, title=title)
        if conversation_id in self._sessions:
            self._sessions[conversation_id].conversation = renamed
        self._update(renamed)

    def delete(self, conversation_id: str) -> None:
        """Take a conversation out of the list; its notice offers to undo that."""
        conversation = self._listed.pop(conversation_id, None)
        if conversation is None:
            return
        if conversation_id in self._sessions:
            self._sessions[conversation_id].stop()
        self._store.delete(conversation_id)
        self._deleted[conversation_id] = conversation
        self._undo_ends.start()
        self.list_changed.emit()
        if self._current and self._current.conversation.id == conversation_id:
            self._open_latest_or_new()
        undo = partial(self.undelete, conversation_id)
        self.notice.emit(Notice(f"Deleted “{conversation.title}”.", action_label="Undo", action=undo))

    def undelete(self, conversation_id: str) -> None:
        """Undo `delete` and show the conversation."""
        conversation = self._deleted.pop(conversation_id, None)
        if conversation is None:
            self._say("That conversation can no longer be brought back.")
            return
        self._store.restore(conversation_id)
        self._update(conversation)
        self.open(conversation_id)

    def draft_changed(self, text: str) -> None:
        """The question that is being written in the current chat has changed."""
        self._draft.edit(text)

    def load_model(self, name: str | None) -> None:
        """Load a model by name, or the default one."""
        self._loader.load(name)

    def add_model(self, path: Path) -> None:
        """Import a model file or folder, then load it."""
        self._loader.add(path)

    @property
    def reload_needed(self) -> bool:
        """Whether settings have changed that take effect when the model is loaded again."""
        return self.model.phase == "ready" and self.model.config != self._settings.engine_config()

    def reload_model(self) -> None:
        """Load the model once more, with the settings of now."""
        if self.model.info is not None:
            self._loader.load(self.model.info.name)

    def check_current(self) -> None:
        """Prove that reuse changes no answer of the current chat."""
        session = self._current
        if session is None or not session.messages():
            self._say("There is no question in this chat yet, so nothing to check.")
        elif session.busy:
            self._say("The answer is still being written. Please wait for it, or press Stop.")
        elif self.model.phase != "ready":
            self._say("A chat can be checked once a model is loaded.")
        else:
            self.check.start(session.prompt(), session.conversation.started_on)

    def cancel_load(self) -> None:
        """Give up the download, import or load in progress."""
        self._loader.cancel()

    def retry(self, session: Session | None = None) -> None:
        """Ask the last question again (of the current session if none is given), loading the model first if need be."""
        asking = session or self._current
        if self.model.phase in ("none", "failed"):
            self._loader.again()
        if asking is not None:
            self.open(asking.conversation.id)
            asking.retry()

    def apply(self, event: Event) -> None:
        """Give an event of the engine to whom it belongs."""
        for listener in (self._loader, self.models, self.check):
            listener.apply(event)
        session = self._routes.get(event.request_id)
        if session is not None:
            session.apply(event)
        if isinstance(event, Finished | Failed):
            self._routes.pop(event.request_id, None)
        if isinstance(event, Failed) and event.bug:
            self.bug_found.emit(event.error)

    def save_now(self) -> bool:
        """Save every reply as far as it has come and wait for the disk, at most two seconds; for crashes."""
        for session in self._sessions.values():
            session.save_partial()
        return self._store.flush(CRASH_FLUSH_S)

    def shutdown(self) -> None:
        """Stop what goes on; replies in progress are saved as far as they came."""
        self._bridge.arrived.disconnect(self.apply)  # figures that come now would find a closed store
        self._undo_ends.stop()
        self._draft.stop()
        self._loader.cancel()
        for session in self._sessions.values():
            session.stop("partial")
        self._store.on_report = None

    def _open_latest_or_new(self, new: bool = False) -> None:
        latest = None if new else next(iter(self.conversations()), None)
        if latest is not None:
            self.open(latest.id)
        if latest is None or self._current is None:
            self.new()

    def _make_session(self, conversation: Conversation, stored: bool) -> Session:
        tree = self._store.tree(conversation.id) if stored else MessageTree()
        ask = partial(self._ask, conversation.id)
        session = Session(conversation, tree, self._store, ask, self._options, stored=stored, parent=self)
        session.conversation_changed.connect(self._update)
        session.refused.connect(self._say)
        session.left_out.connect(self._say_left_out)
        session.failed.connect(partial(self._question_failed, session))
        self._sessions[conversation.id] = session
        return session

    def _ask(self, conversation_id: str, request: ChatRequest) -> RequestHandle:
        if self.check.running:
            self.check.cancel()
            self._say("The check was given up, because something was asked.")
        self._routes[request.id] = self._sessions[conversation_id]
        return self._bridge.submit(request)

    def _options(self) -> TurnOptions:
        state = self.model
        model = state.info.name if state.phase == "ready" and state.info else ""
        problem = state.sentence or "No model is loaded." if state.phase in ("none", "failed") else ""
        settings = self._settings
        return TurnOptions(settings.sampling(), settings.get("system_prompt"), model, problem, settings.overflow)

    def _read_ahead(self, draft: str = "") -> None:
        """Let what the next question will begin with be read; without a draft, what was said so far."""
        session = self._current
        ready = self.model.phase == "ready" and self._settings.get("read_ahead")
        if session is None or session.busy or not ready or not (draft or session.messages()):
            return
        self._bridge.prefill_ahead(session.draft(draft))

    def _show(self, session: Session) -> None:
        before, self._current = self._current, session
        self.current_changed.emit(session)
        if before is not None and not before.stored:
            self._drop(before.conversation.id)
        self._read_ahead()

    def _drop(self, conversation_id: str) -> None:
        session = self._sessions.pop(conversation_id, None)
        if session is not None:
            self._routes = {request: asker for request, asker in self._routes.items() if asker is not session}
            session.deleteLater()

    def _purge(self) -> None:
        for conversation_id in self._deleted:
            self._drop(conversation_id)
        self._to_forget += self._deleted
        self._deleted.clear()
        self._store.purge_deleted()
        self._forget_caches()

    def _forget_caches(self) -> None:
        """Have the caches removed of what was deleted for good."""
        if self.model.phase == "ready":
            for conversation_id in self._to_forget:
                self._bridge.forget(conversation_id)
            self._to_forget.clear()

    def _update(self, conversation: Conversation) -> None:
        self._listed[conversation.id] = conversation
        self.list_changed.emit()

    def _model_ready(self) -> None:
        for session in list(self._sessions.values()):
            session.model_ready()
        self.models.refresh()
        self._forget_caches()
        self._read_ahead()

    def _model_failed(self, sentence: str, detail: str, cancelled: bool) -> None:
        waiting = [session for session in self._sessions.values() if session.waiting]
        if self.model.phase == "failed":
            for session in waiting:
                session.model_failed(sentence, detail)
        if not cancelled and not (waiting and self.model.phase == "failed"):
            self.notice.emit(Notice(sentence, detail, "Try again", self._loader.again))

    def _question_failed(self, session: Session, sentence: str, detail: str) -> None:
        if session is not self._current:
            sentence = f"In “{session.conversation.title}”: {sentence}"
        self.notice.emit(Notice(sentence, detail, "Try again", partial(self.retry, session)))

    def _say(self, sentence: str, detail: str = "") -> None:
        self.notice.emit(Notice(sentence, detail))

    def _say_left_out(self, count: int) -> None:
        which = "oldest message was" if count == 1 else f"{count} oldest messages were"
        self._say(f"This conversation is longer than the model can hold: the {which} not read for the last answer.")

    def _say_of_store(self, error: EngineError | None) -> None:
        if error is None:
            self._say("Everything is saved again.")
        else:
            self.notice.emit(Notice(error.sentence, error.detail))
