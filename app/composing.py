"""What is being written: kept as a draft, read ahead by the engine, and what it costs told meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.cost_preview import CostPreview
from app.draft import LONGEST_DRAFT, Draft, DraftWatch
from app.drafts import NEW_CHAT, Drafts
from app.engine_bridge import EngineBridge
from app.session import Session
from app.settings import Settings
from app.store import Store
from engine.events import Event, ModelInfo


class Composing(QObject):
    """Follows the composer, which always belongs to the chat on view.

    Args:
        store: Keeps drafts over a restart.
        bridge: The way to the worker.
        settings: Whether drafts are read ahead.
        model: The model that is ready; None while none is.
    """

    preview = Signal(object)  # DraftCost of what is in the composer, or None
    edit_preview = Signal(str, object)  # message id, DraftCost of the question that is being edited
    draft_replaced = Signal(object)  # Draft: this is in the composer now, because a message that waited came back

    def __init__(
        self,
        store: Store,
        bridge: EngineBridge,
        settings: Settings,
        model: Callable[[], ModelInfo | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._settings = settings
        self._model = model
        self._session: Session | None = None
        self._drafts = Drafts(store, self)
        self._cost = CostPreview(bridge, model, self)
        self._watch = DraftWatch(self)
        self._watch.due.connect(self._look_at)
        self._cost.draft_cost.connect(self.preview)
        self._cost.edit_cost.connect(self.edit_preview)

    @property
    def draft(self) -> Draft:
        """What is typed into the chat on view and not sent yet.

        Raises:
            StoreError: The database cannot be read.
        """
        return self._drafts.get(self._draft_id)

    def prepare(self, conversation_id: str) -> None:
        """Read the draft of a conversation that will be shown.

        Raises:
            StoreError: The database cannot be read.
        """
        self._drafts.get(conversation_id)

    def follow(self, session: Session) -> None:
        """Learn from the turns of a session, and take back what it does not send."""
        session.message_finished.connect(self._cost.learn)
        session.queue_changed.connect(self._queue_changed)
        session.queue_returned.connect(self._take_back)
        session.turn_ended.connect(self._turn_ended)
        self._cost.learn_all(session)

    def leave(self) -> None:
        """The chat on view is about to be left for another."""
        self._drafts.save()
        self._watch.stop()
        self._cost.clear()

    def show(self, session: Session) -> None:
        """Another chat is on view."""
        self._session = session

    def stored(self, conversation_id: str) -> None:
        """The new chat is this conversation now."""
        self._drafts.move_new(conversation_id)

    def change(self, draft: Draft) -> None:
        """What is in the composer has changed."""
        self._drafts.set(self._draft_id, draft)
        self._watch.edit(draft)
        if draft.length > LONGEST_DRAFT:
            self._cost.guess(draft)
        elif not draft:
            self._cost.clear()

    def change_edit(self, message_id: str, draft: Draft) -> None:
        """A question of the chat on view is being asked in other words."""
        if self._session is not None:
            self._cost.ask_edit(self._session, message_id, draft)

    def look(self) -> None:
        """Say what the draft costs, and let what the next question will begin with be read; also without a draft."""
        self._look_at(self.draft)

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        self._cost.apply(event)

    def save(self) -> None:
        """Save the drafts now."""
        self._drafts.save()

    def close(self) -> None:
        """Save the drafts, and ask for nothing any more."""
        self._watch.stop()
        self._cost.stop()
        self._drafts.save()

    @property
    def _draft_id(self) -> str:
        session = self._session
        return session.conversation.id if session is not None and session.stored else NEW_CHAT

    def _look_at(self, draft: Draft) -> None:
        session = self._session
        if session is None:
            return
        self._cost.ask(session, draft)
        ready = self._model() is not None and self._settings.get("read_ahead")
        if ready and not session.busy and (draft or session.messages()):
            self._bridge.prefill_ahead(session.requests.draft(draft))

    def _turn_ended(self) -> None:
        if self.sender() is self._session and self.draft:
            self._look_at(self.draft)

    def _queue_changed(self) -> None:
        session = self._sending_session()
        self._drafts.set_queued(session.conversation.id, session.queued_message)

    def _sending_session(self) -> Session:
        session = self.sender()
        assert isinstance(session, Session)  # noqa: S101 - nothing else is connected
        return session

    def _take_back(self, queued: Draft) -> None:
        """A message that waited is not sent: it goes in front of what is in the composer."""
        session = self._sending_session()
        conversation_id = session.conversation.id
        draft = queued.before(self._drafts.get(conversation_id))
        self._drafts.set(conversation_id, draft)
        if session is self._session:
            self.draft_replaced.emit(draft)
