"""What sending would cost, told while it is written: asked of the worker, with seconds from what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.cost import PrefillCosts
from app.draft import LONGEST_DRAFT, Draft, DraftWatch
from app.engine_bridge import EngineBridge
from app.live import DraftCost
from app.records import StoredMessage
from app.session import Session
from engine.chat import ChatRequest
from engine.events import Event, ModelInfo, Previewed

AGAIN_MS: Final = 700  # what is read ahead meanwhile makes it cheaper
WORTH_ASKING_AGAIN: Final = 32  # new tokens
CHARACTERS_PER_TOKEN: Final = 4  # about, where counting would take too long


@dataclass(frozen=True, slots=True)
class _Asked:
    """A preview that was asked for."""

    request: ChatRequest
    session: Session
    characters: int  # of the draft


class CostPreview(QObject):
    """Follows the draft of the chat on view, and one question in it that is being edited.

    Args:
        bridge: The way to the worker.
        model: The model that is ready; None while none is.
    """

    draft_cost = Signal(object)  # DraftCost, or None when nothing is known of what is in the composer
    edit_cost = Signal(str, object)  # message id, DraftCost

    def __init__(
        self, bridge: EngineBridge, model: Callable[[], ModelInfo | None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._model = model
        self._costs = PrefillCosts()
        self._draft: _Asked | None = None
        self._edit: _Asked | None = None
        self._edited: tuple[Session, str] | None = None
        self._new_tokens = 0
        self._watch = DraftWatch(self)
        self._watch.due.connect(self._ask_edit)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self._ask_again)

    def learn(self, reply: StoredMessage) -> None:
        """Learn from the figures of a reply."""
        if reply.stats is not None:
            self._costs.learn(reply.model, reply.stats)

    def learn_all(self, session: Session) -> None:
        """Learn from the replies of a conversation made by models of which nothing is known yet."""
        for reply in [m for m in session.messages() if m.model and not self._costs.knows(m.model)]:
            self.learn(reply)

    def ask(self, session: Session, draft: Draft) -> None:
        """Tell soon what sending this draft would cost."""
        model = self._model()
        if not draft or session.busy or model is None or model.remote:
            self.clear()
            return
        self._new_tokens = 0
        self._ask(session, draft)

    def guess(self, draft: Draft) -> None:
        """Tell about how long a draft is that is too long to be counted while it is written."""
        self.clear()
        if (cost := self._guessed(draft)) is not None:
            self.draft_cost.emit(cost)

    def clear(self) -> None:
        """There is nothing to send now, or no model on this machine to say what it costs."""
        self._again.stop()
        self._draft = None
        self.draft_cost.emit(None)

    def ask_edit(self, session: Session, message_id: str, draft: Draft) -> None:
        """Tell soon what asking a question in these words would cost."""
        self._edited = (session, message_id)
        self._watch.edit(draft)
        if draft.length > LONGEST_DRAFT and (cost := self._guessed(draft)) is not None:
            self.edit_cost.emit(message_id, cost)

    def stop(self) -> None:
        """Ask for nothing any more."""
        self._again.stop()
        self._watch.stop()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if not isinstance(event, Previewed):
            return
        if self._draft is not None and event.request_id == self._draft.request.id:
            self.draft_cost.emit(self._cost(event, self._draft))
            self._look_again(event)
        elif self._edit is not None and event.request_id == self._edit.request.id and self._edited is not None:
            self.edit_cost.emit(self._edited[1], self._cost(event, self._edit))

    def _ask(self, session: Session, draft: Draft) -> None:
        self._draft = _Asked(session.requests.draft(draft), session, draft.length)
        self._bridge.preview(self._draft.request)

    def _ask_edit(self, draft: Draft) -> None:
        session, message_id = self._edited or (None, "")
        if session is None or session.busy or self._model() is None:
            return
        request = session.requests.edit(message_id, draft)
        if request is not None:
            self._edit = _Asked(request, session, draft.length)
            self._bridge.preview(request)

    def _look_again(self, event: Previewed) -> None:
        """While a draft is read ahead it becomes cheaper; ask until that ends."""
        new = event.prompt_tokens - event.cached_tokens
        if new >= WORTH_ASKING_AGAIN and new != self._new_tokens:
            self._new_tokens = new
            self._again.start()

    def _ask_again(self) -> None:
        if self._draft is not None and not self._draft.session.busy and self._model() is not None:
            self._bridge.preview(self._draft.request)

    def _guessed(self, draft: Draft) -> DraftCost | None:
        tokens, model = draft.length // CHARACTERS_PER_TOKEN, self._model()
        if model is None or model.remote:
            return None
        return DraftCost(tokens, 0, tokens, model.context_limit, about=True)

    def _cost(self, event: Previewed, asked: _Asked) -> DraftCost:
        model, new = self._model(), event.prompt_tokens - event.cached_tokens
        return DraftCost(
            event.prompt_tokens,
            event.cached_tokens,
            event.draft_tokens,
            event.context_limit,
            left_out=asked.session.requests.unread(event.left_out),
            seconds=None if model is None else self._costs.seconds(model.name, event.cached_tokens, new),
            about=event.about,
            characters=asked.characters,
        )
