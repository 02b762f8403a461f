"""Titles by the model: asked for after an answer, one conversation after the other, while nobody waits for anything."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.session import Session
from engine.chat import RequestHandle
from engine.events import Event, Failed, Titled


class Titler(QObject):
    """Each conversation is named once; one whose title the person made is left alone."""

    titled = Signal(str, str)  # conversation id, title

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._waiting: dict[str, Session] = {}
        self._asked: tuple[str, RequestHandle] | None = None
        self._done: set[str] = set()

    def wants(self, session: Session) -> bool:
        """Whether a conversation has no title but the beginning of its first question, and none was tried."""
        conversation = session.conversation
        return not conversation.titled and conversation.id not in self._done

    def name(self, session: Session) -> None:
        """Name a conversation when there is time."""
        self._waiting[session.conversation.id] = session
        self._ask_next()

    def give_up(self, conversation_id: str) -> None:
        """Do not name it: it is deleted, or the person did."""
        self._waiting.pop(conversation_id, None)
        self._done.add(conversation_id)
        if self._asked is not None and self._asked[0] == conversation_id:
            self._asked[1].cancel()
            self._asked = None
            self._ask_next()

    def model_changed(self) -> None:
        """What was asked of the model before may never be answered."""
        if self._asked is not None:
            self._asked[1].cancel()
            self._asked = None
        self._waiting.clear()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if self._asked is None or event.request_id != self._asked[1].id or not isinstance(event, Titled | Failed):
            return
        conversation_id, _ = self._asked
        self._asked = None
        self._done.add(conversation_id)
        if isinstance(event, Titled) and event.title:
            self.titled.emit(conversation_id, event.title)
        self._ask_next()

    def _ask_next(self) -> None:
        while self._asked is None and self._waiting:
            conversation_id = next(iter(self._waiting))
            session = self._waiting.pop(conversation_id)
            messages = session.messages()
            if not session.busy and messages and messages[-1].role == "assistant":
                self._asked = (conversation_id, self._bridge.make_title(session.requests.whole()))
