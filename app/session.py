"""One conversation's state machine: takes what the person does and what the engine says, and tells what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app import turn as turns
from app.live import LiveTurn
from app.records import Conversation, Status, StoredMessage, title_from
from app.store import Store
from app.stream_buffer import StreamBuffer
from app.turn import Turn
from engine.chat import ChatRequest, RequestHandle
from engine.config import SamplingParams
from engine.errors import Cancelled
from engine.events import Event, Failed, Finished, FinishReason, PrefillProgress, TextDelta

SAVE_INTERVAL_MS: Final = 1000  # a killed program loses at most this much of a reply
_STATUS: Final[dict[FinishReason, Status]] = {
    FinishReason.END: "complete",
    FinishReason.STOP: "complete",
    FinishReason.LENGTH: "length",
    FinishReason.CANCELLED: "cancelled",
}


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What a session needs to know of the program when a question is asked.

    Attributes:
        model: Name of the loaded model; empty while none is ready, then the question waits.
        problem: Why no model will be ready; empty while one is loading.
    """

    params: SamplingParams
    system_prompt: str
    model: str
    problem: str = ""


class Session(QObject):
    """One conversation.

    A reply that streams is part of `messages()` with the text shown so far; `text_appended` brings the rest. After
    Stop, `message_finished` comes at once with what is there, and once more when the engine has sent the figures.

    Args:
        messages: The branch that is shown, from the store; empty for a new conversation.
        stored: Whether the conversation is in the store already; a new one is stored with its first question.
        ask: Hands a request to the engine.
        options: The settings and the model of this moment.
    """

    message_added = Signal(object)  # StoredMessage; a reply comes without text, which follows in text_appended
    text_appended = Signal(str, str)  # message id, text
    message_finished = Signal(object)  # StoredMessage
    turn_changed = Signal(object)  # LiveTurn
    thread_changed = Signal()  # messages() is another branch now: draw it afresh
    conversation_changed = Signal(object)  # Conversation: stored for the first time, or asked again
    failed = Signal(str, str)  # sentence, detail: the question has no answer, `retry` asks again
    refused = Signal(str)  # sentence: nothing was sent
    left_out = Signal(int)  # so many of the oldest messages did not fit the context and were not read

    def __init__(
        self,
        conversation: Conversation,
        messages: Sequence[StoredMessage],
        store: Store,
        ask: Callable[[ChatRequest], RequestHandle],
        options: Callable[[], TurnOptions],
        *,
        stored: bool = True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversation = conversation
        self._messages = list(messages)
        self._store = store
        self._ask = ask
        self._options = options
        self._stored = stored
        self._turn: Turn | None = None
        self._left_out = 0
        self._stopped: dict[str, str] = {}  # request id -> reply id, until the engine sent the figures
        self._buffer = StreamBuffer(self)
        self._buffer.flushed.connect(self._show)
        self._saving = QTimer(self)
        self._saving.setSingleShot(True)
        self._saving.setInterval(SAVE_INTERVAL_MS)
        self._saving.timeout.connect(self.save_partial)
        self._live = turns.after(self._last_reply())

    @property
    def conversation(self) -> Conversation:
        """Title, times and system prompt."""
        return self._conversation

    @conversation.setter
    def conversation(self, value: Conversation) -> None:
        self._conversation = value

    @property
    def stored(self) -> bool:
        """Whether it has been saved, that is, whether anything was asked."""
        return self._stored

    @property
    def busy(self) -> bool:
        """Whether a question waits or is being answered."""
        return self._turn is not None

    @property
    def waiting(self) -> bool:
        """Whether a question waits for a model to be ready."""
        return self._turn is not None and self._turn.handle is None

    @property
    def live(self) -> LiveTurn:
        """The turn in progress, or the figures of the last one."""
        return self._live

    def messages(self) -> tuple[StoredMessage, ...]:
        """The branch that is shown; a reply that streams with the text shown so far."""
        return tuple(self._messages)

    def send(self, text: str) -> bool:
        """Ask a question; whether it was taken. If not, `refused` says why and the text should stay in the composer."""
        submitted_at = time.perf_counter()
        text = _sound(text)
        if not text.strip():
            self.refused.emit("There is nothing to send yet. Please type a question.")
            return False
        if self.busy:
            self.refused.emit("The answer is still being written. Please wait for it, or press Stop.")
            return False
        self._add_question(text)
        self._begin(submitted_at)
        return True

    def retry(self) -> None:
        """Ask the last question again; an unfinished reply to it stays in the tree, beside the new one."""
        submitted_at = time.perf_counter()
        last = next((i for i in reversed(range(len(self._messages))) if self._messages[i].role == "user"), None)
        if self.busy or last is None:
            return
        if last + 1 < len(self._messages):
            del self._messages[last + 1 :]
            self.thread_changed.emit()
        self._begin(submitted_at)

    def model_ready(self) -> None:
        """Send the question that waits for the model, if there is one."""
        if self._turn is not None and self.waiting:
            self._dispatch(self._turn)

    def model_failed(self, sentence: str, detail: str) -> None:
        """Give up the question that waits for the model, if there is one; it stays in the conversation."""
        if self._turn is not None and self.waiting:
            self._end(self._turn)
            self.failed.emit(sentence, detail)

    def stop(self, status: Status = "cancelled") -> None:
        """End the turn now, whatever it does; what was said stays. The engine follows within a token or a chunk."""
        turn = self._turn
        if turn is None:
            return
        if turn.handle is not None:
            turn.handle.cancel()
        self._buffer.flush()
        reply = turn.reply(status) if turn.spoken else None
        if reply is not None:
            self._stopped[turn.request_id] = reply.id
            self._replace(reply)
        self._end(turn)

    def save_partial(self) -> None:
        """Save the reply as far as it has come."""
        self._saving.stop()
        if self._turn is not None and self._turn.spoken:
            self._store.save_partial(self._turn.reply("partial"))

    def apply(self, event: Event) -> None:
        """Take an event of the engine; one of a turn that is over is dropped."""
        turn = self._turn
        if turn is None or event.request_id != turn.request_id:
            self._apply_late(event)
            return
        match event:
            case PrefillProgress():
                turn.prefill = event
                self._set_live(turn.live())
            case TextDelta():
                self._grow(turn, event)
            case Finished():
                self._finish(turn, event)
            case Failed():
                self._fail(turn, event)

    def _add_question(self, text: str) -> None:
        parent = self._messages[-1].id if self._messages else None
        question = StoredMessage(self._conversation.id, "user", text, parent_id=parent)
        if self._stored:
            changed = replace(self._conversation, updated_at=question.created_at)
            self._store.add_message(question)
        else:
            title = self._conversation.title or title_from(text)
            changed = Conversation(self._conversation.id, title, system_prompt=self._options().system_prompt)
            self._store.add_conversation(changed, question)
            self._stored = True
        self._conversation = changed
        self._messages.append(question)
        self.message_added.emit(question)
        self.conversation_changed.emit(changed)

    def _begin(self, submitted_at: float) -> None:
        options = self._options()
        turn = Turn(
            conversation_id=self._conversation.id,
            parent_id=self._messages[-1].id,
            params=options.params,
            submitted_at=submitted_at,
            context_before=self._live.context_used,
        )
        self._turn = turn
        if options.model:
            self._dispatch(turn)
        self._set_live(turn.live())
        if options.problem:
            self.model_failed(options.problem, "")

    def _dispatch(self, turn: Turn) -> None:
        turn.model = self._options().model
        conversation = self._conversation
        request = ChatRequest(
            id=turn.request_id,
            messages=turns.prompt_messages(conversation.system_prompt, self._messages, turn.model),
            params=turn.params,
            conversation_id=conversation.id,
            started_on=conversation.started_on,
            submitted_at=turn.submitted_at,
        )
        turn.handle = self._ask(request)

    def _grow(self, turn: Turn, delta: TextDelta) -> None:
        first = not turn.token_ids
        silent = not turn.spoken
        turn.grow(delta)
        if silent and delta.text:
            self._messages.append(turn.reply("partial", content=""))
            self.message_added.emit(self._messages[-1])
            self.save_partial()
        elif not self._saving.isActive():
            self._saving.start()
        if first:
            self._set_live(turn.live())
        self._buffer.append(delta.text)

    def _show(self, text: str) -> None:
        turn = self._turn
        if turn is None:
            return
        if text:
            turn.shown += text
            self._messages[-1] = turn.reply("partial", content=turn.shown)
            self.text_appended.emit(turn.reply_id, text)
        self._set_live(turn.live())

    def _finish(self, turn: Turn, event: Finished) -> None:
        self._buffer.flush()
        turn.token_ids = list(event.token_ids)
        if event.text or event.reason is not FinishReason.CANCELLED:
            self._replace(turn.reply(_STATUS[event.reason], event.stats, event.text))
        self._end(turn)
        if len(event.left_out) > self._left_out:
            self._left_out = len(event.left_out)
            self.left_out.emit(self._left_out)

    def _fail(self, turn: Turn, event: Failed) -> None:
        self._buffer.flush()
        if turn.spoken:
            self._replace(turn.reply("partial"))
        self._end(turn)
        if not isinstance(event.error, Cancelled):
            self.failed.emit(event.error.sentence, event.error.detail)

    def _apply_late(self, event: Event) -> None:
        """Figures of a stopped reply; its text stays as the person left it."""
        if not isinstance(event, Finished | Failed):
            return
        reply_id = self._stopped.pop(event.request_id, None)
        reply = next((m for m in self._messages if m.id == reply_id), None)
        if reply is not None and isinstance(event, Finished):
            self._replace(replace(reply, stats=event.stats))
            if not self.busy:
                self._set_live(turns.after(self._last_reply()))

    def _replace(self, reply: StoredMessage) -> None:
        """Save a reply as it ended, and show it in place of what was streamed, or as new if nothing was."""
        self._store.finish_message(reply)
        at = next((i for i, m in enumerate(self._messages) if m.id == reply.id), None)
        if at is None:
            self._messages.append(reply)
            self.message_added.emit(reply)
        else:
            self._messages[at] = reply
        self.message_finished.emit(reply)

    def _end(self, turn: Turn) -> None:
        self._buffer.discard()
        self._saving.stop()
        self._turn = None
        last = self._last_reply()
        live = turns.after(last)
        if last is not None and last.id == turn.reply_id and last.stats is None:
            live = replace(turn.live(), phase="idle")
        self._set_live(live)

    def _set_live(self, live: LiveTurn) -> None:
        self._live = live
        self.turn_changed.emit(live)

    def _last_reply(self) -> StoredMessage | None:
        return next((m for m in reversed(self._messages) if m.role == "assistant"), None)


def _sound(text: str) -> str:
    """Text without unpaired surrogates, which Qt can hold and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
