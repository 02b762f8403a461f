"""The answer in progress: what the engine says of it goes into the branch and the store, and is told piece by piece."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app import turn as turns
from app.branch import Branch
from app.live import LiveTurn
from app.records import Status, StoredMessage
from app.requests import Requests
from app.store import Store
from app.stream_buffer import StreamBuffer
from app.turn import Turn
from engine.chat import ChatRequest, RequestHandle
from engine.errors import Cancelled
from engine.events import Event, Failed, Finished, FinishReason, PrefillProgress, TextDelta
from engine.explain.trace import to_json

SAVE_INTERVAL_MS: Final = 1000  # a killed program loses at most this much of a reply


class Answer(QObject):
    """At most one turn of a conversation at a time.

    Args:
        branch: Where replies go.
        requests: Makes the request of a turn.
        store: Keeps replies while they grow and as they ended.
        ask: Hands a request to the engine.
    """

    message_added = Signal(object)  # StoredMessage
    message_resumed = Signal(object)  # StoredMessage
    text_appended = Signal(str, str)  # message id, text
    message_finished = Signal(object)  # StoredMessage
    turn_changed = Signal(object)  # LiveTurn
    thread_changed = Signal()
    ended = Signal(bool)  # whether the turn ended well
    failed = Signal(str, str)  # sentence, detail
    left_out = Signal(int)
    traced = Signal(str, object)  # message id, TurnTrace

    def __init__(
        self,
        branch: Branch,
        requests: Requests,
        store: Store,
        ask: Callable[[ChatRequest], RequestHandle],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._branch = branch
        self._requests = requests
        self._store = store
        self._ask = ask
        self._turn: Turn | None = None
        self._unfinished = ""
        self._stopped: dict[str, str] = {}  # request id -> reply id, until the engine sent the figures
        self._buffer = StreamBuffer(self)
        self._buffer.flushed.connect(self._show)
        self._saving = QTimer(self)
        self._saving.setSingleShot(True)
        self._saving.setInterval(SAVE_INTERVAL_MS)
        self._saving.timeout.connect(self.save_partial)
        self._live = turns.after(branch.last("assistant"))

    @property
    def busy(self) -> bool:
        """Whether a question waits or is being answered."""
        return self._turn is not None

    @property
    def turn(self) -> Turn | None:
        """The turn in progress."""
        return self._turn

    @property
    def live(self) -> LiveTurn:
        """The turn in progress, or the figures of the last one."""
        return self._live

    @property
    def writing(self) -> str:
        """The id of the reply that is being written; empty while none is."""
        return self._turn.reply_id if self._turn is not None else ""

    @property
    def unfinished(self) -> str:
        """The id of the reply that failed to go on; empty if the last turn was none of that kind, or went well."""
        return self._unfinished

    @property
    def left_out_count(self) -> int:
        """How many messages at the beginning of the branch were not read for the last answer that is complete."""
        reply = self._branch.last("assistant", but=self.writing)
        return reply.left_out if reply is not None else 0

    def begin(self, submitted_at: float, begun: StoredMessage | None = None) -> None:
        """Answer the last question, or go on with the last reply, as soon as there is a model.

        Args:
            submitted_at: `time.perf_counter()` in seconds when the person asked for it.
            begun: The reply to go on with; None answers anew.
        """
        self._unfinished = ""
        options = self._requests.options()
        conversation_id = self._requests.conversation.id
        turn = Turn(conversation_id, self._branch.leaf_id, submitted_at, self._live.context_used)
        if begun is not None:
            turn.begun, turn.reply_id = begun, begun.id
        self._turn = turn
        if options.model:
            self._send(turn)
        self._set_live(turn.live())

    def show_last_figures(self) -> None:
        """Another branch is shown, and with it other figures."""
        self._set_live(turns.after(self._branch.last("assistant")))

    def model_ready(self) -> None:
        """Send the question that waits for the model, if there is one."""
        turn = self._turn
        if turn is not None and turn.handle is None:
            turn.loaded_at = time.perf_counter()
            self._send(turn)

    def stop(self, status: Status) -> None:
        """End the turn now, whatever it does; what was said stays. The engine follows within a token or a chunk."""
        turn = self._turn
        if turn is None:
            return
        if turn.handle is not None:
            turn.handle.cancel()
        self._buffer.flush()
        if turn.spoken:
            self._stopped[turn.request_id] = turn.reply_id
            self._keep(turn.reply(status))
        self._end(turn, well=False)

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
                turn.read(event)
                self._set_live(turn.live())
            case TextDelta():
                self._grow(turn, event)
            case Finished():
                self._finish(turn, event)
            case Failed():
                self._fail(turn, event)

    def _send(self, turn: Turn) -> None:
        turn.handle = self._ask(self._requests.of_turn(turn))

    def _grow(self, turn: Turn, delta: TextDelta) -> None:
        first = not turn.pieces
        silent = not turn.spoken
        turn.grow(delta)
        if silent and delta.text:
            self._appear(turn)
        elif not self._saving.isActive():
            self._saving.start()
        if first:
            self._set_live(turn.live())
        self._buffer.append(delta.text)

    def _appear(self, turn: Turn) -> None:
        """Show the reply without its new text, which follows."""
        reply = turn.reply("partial", content="")
        if turn.begun is None:
            self._branch.add(reply)
            self.message_added.emit(reply)
        else:
            self._branch.draw(reply)
            self.message_resumed.emit(reply)
        self.save_partial()

    def _show(self, text: str) -> None:
        turn = self._turn
        if turn is None:
            return
        if text:
            turn.shown += text
            self._branch.draw(turn.reply("partial", content=turn.shown))
            self.text_appended.emit(turn.reply_id, text)
        self._set_live(turn.live())

    def _finish(self, turn: Turn, event: Finished) -> None:
        self._buffer.flush()
        turn.token_ids = list(event.token_ids)
        before = self.left_out_count
        if event.text or event.reason is not FinishReason.CANCELLED:
            reply = turn.reply(turns.STATUS[event.reason], event.stats, event.text)
            self._keep_measured(reply, event)
        self._end(turn, well=event.reason is not FinishReason.CANCELLED)
        if self.left_out_count > before:
            self.left_out.emit(self.left_out_count)

    def _fail(self, turn: Turn, event: Failed) -> None:
        self._buffer.flush()
        if turn.spoken:
            self._keep(turn.reply("partial", event.error.stats))
        self._give_up(turn)
        if not isinstance(event.error, Cancelled):
            self.failed.emit(event.error.sentence, event.error.detail)

    def _give_up(self, turn: Turn) -> None:
        self._unfinished = turn.begun.id if turn.begun is not None else ""
        self._end(turn, well=False)

    def _apply_late(self, event: Event) -> None:
        """Figures of a stopped reply; its text stays as the person left it."""
        if not isinstance(event, Finished | Failed):
            return
        reply = self._branch.get(self._stopped.pop(event.request_id, ""))
        # A reply that goes on again will have other figures.
        if reply is not None and isinstance(event, Finished) and reply.id != self.writing:
            self._keep_measured(replace(reply, stats=event.stats), event)
            if not self.busy:
                self.show_last_figures()

    def _keep_measured(self, reply: StoredMessage, event: Finished) -> None:
        # What was not read are the first messages, whichever branch is shown now.
        self._keep(replace(reply, left_out=self._requests.unread(event.left_out)))
        if event.trace is not None:
            self._store.save_trace(reply.id, to_json(event.trace))
            self.traced.emit(reply.id, event.trace)

    def _keep(self, reply: StoredMessage) -> None:
        """Save a reply as it ended; if its branch is shown, in place of what was streamed, or as new if nothing was."""
        self._store.finish_message(reply)
        if self._branch.keep(reply):
            self.message_added.emit(reply)
        self.message_finished.emit(reply)

    def _end(self, turn: Turn, *, well: bool) -> None:
        self._buffer.discard()
        self._saving.stop()
        self._turn = None
        if self._branch.restore():
            self.thread_changed.emit()
        last = self._branch.last("assistant")
        live = turns.after(last)
        if last is not None and last.id == turn.reply_id and last.stats is None:
            live = replace(turn.live(), phase="idle")
        self._set_live(live)
        self.ended.emit(well)

    def _set_live(self, live: LiveTurn) -> None:
        self._live = live
        self.turn_changed.emit(live)
