"""The conversations in use: each with its session, and the way from an event of the engine to whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.live import LiveTurn, ModelState
from app.records import Conversation
from app.sampling import sampling_of
from app.session import Session
from app.settings import Settings
from app.store import Store
from app.tree import MessageTree
from app.turn import TurnOptions
from engine.chat import ChatRequest, RequestHandle
from engine.events import Event, Failed, Finished, ModelInfo


class Sessions(QObject):
    """Makes sessions, and keeps them until they are dropped: an answer goes on when another chat is on view.

    Args:
        store: Keeps what is said.
        bridge: The way to the worker.
        settings: What a conversation does unless it says otherwise.
        model: Where the model stands.
    """

    asking = Signal(str)  # conversation id: a question is on its way to the engine
    busy_changed = Signal()

    def __init__(
        self,
        store: Store,
        bridge: EngineBridge,
        settings: Settings,
        model: Callable[[], ModelState],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self._model = model
        self._sessions: dict[str, Session] = {}
        self._busy: frozenset[str] = frozenset()
        self._routes: dict[str, Session] = {}  # request id -> who asked
        self._to_forget: list[str] = []  # their caches go once there is a model to know them

    def get(self, conversation_id: str) -> Session | None:
        """The session of a conversation, if it is in use."""
        return self._sessions.get(conversation_id)

    @property
    def busy(self) -> frozenset[str]:
        """The ids of the conversations whose question waits or is being answered."""
        return self._busy

    def make(self, conversation: Conversation, tree: MessageTree, *, stored: bool) -> Session:
        """A session of a conversation that has none."""
        ask = partial(self._ask, conversation.id)
        session = Session(conversation, tree, self._store, ask, self._options, stored=stored, parent=self)
        self._sessions[conversation.id] = session
        session.turn_changed.connect(partial(self._note_busy, session))
        return session

    def drop(self, conversation_id: str) -> None:
        """Let a conversation go that is not in use any more."""
        session = self._sessions.pop(conversation_id, None)
        if session is not None:
            self._busy -= {conversation_id}
            self._routes = {request: asker for request, asker in self._routes.items() if asker is not session}
            session.deleteLater()

    def forget(self, conversation_ids: Sequence[str]) -> None:
        """These conversations are gone for good, and with them their caches."""
        for conversation_id in conversation_ids:
            self.drop(conversation_id)
        self._to_forget += conversation_ids
        self._forget_caches()

    def apply(self, event: Event) -> None:
        """Give an event of the engine to the session that asked."""
        session = self._routes.get(event.request_id)
        if session is not None:
            session.apply(event)
        if isinstance(event, Finished | Failed):
            self._routes.pop(event.request_id, None)

    def model_ready(self) -> None:
        """Send the questions that wait for a model."""
        for session in list(self._sessions.values()):
            session.model_ready()
        self._forget_caches()

    def save_partial(self) -> None:
        """Save every reply as far as it has come."""
        for session in self._sessions.values():
            session.save_partial()

    def stop(self) -> None:
        """End every turn; what was said stays, to be gone on with another time."""
        for session in self._sessions.values():
            session.stop("partial")

    def ready_model(self) -> ModelInfo | None:
        """The model that can answer now."""
        state = self._model()
        return state.info if state.phase == "ready" else None

    def _note_busy(self, session: Session, _live: LiveTurn) -> None:
        conversation_id = session.conversation.id
        if session.busy != (conversation_id in self._busy):
            self._busy ^= {conversation_id}
            self.busy_changed.emit()

    def _forget_caches(self) -> None:
        if self.ready_model() is not None:
            for conversation_id in self._to_forget:
                self._bridge.forget(conversation_id)
            self._to_forget.clear()

    def _ask(self, conversation_id: str, request: ChatRequest) -> RequestHandle:
        self.asking.emit(conversation_id)
        self._routes[request.id] = self._sessions[conversation_id]
        return self._bridge.submit(request)

    def _options(self, conversation: Conversation) -> TurnOptions:
        model = self.ready_model()
        return TurnOptions(
            sampling_of(self._settings.sampling(), conversation.options.sampling),
            self._settings.get("system_prompt"),
            model.name if model is not None else "",
            self._settings.overflow,
            model.end_ids if model is not None else frozenset(),
            varies=not (self._settings.chose("temperature") or "temperature" in conversation.options.sampling),
        )
