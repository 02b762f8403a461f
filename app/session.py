"""One conversation's state machine: takes what the person does and what the engine says, and tells what changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app import turn as turns
from app.live import LiveTurn
from app.records import Conversation, Status, StoredMessage, Version, title_from
from app.store import Store
from app.stream_buffer import StreamBuffer
from app.tree import MessageTree
from app.turn import Turn, TurnOptions
from engine.chat import ChatRequest, Message, RequestHandle
from engine.errors import Cancelled
from engine.events import Event, Failed, Finished, FinishReason, PrefillProgress, TextDelta

SAVE_INTERVAL_MS: Final = 1000  # a killed program loses at most this much of a reply


class Session(QObject):
    """One conversation.

    A reply that streams is part of `messages()` with the text shown so far; `text_appended` brings the rest. After
    Stop, `message_finished` comes at once with what is there, and once more when the engine has sent the figures.

    Args:
        tree: All its messages, from the store; empty for a new conversation.
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
        tree: MessageTree,
        store: Store,
        ask: Callable[[ChatRequest], RequestHandle],
        options: Callable[[], TurnOptions],
        *,
        stored: bool = True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._conversation = conversation
        self._tree = tree
        self._messages = tree.thread()
        self._behind: str | None = None  # the leaf that an answer in progress takes the place of
        self._store = store
        self._ask = ask
        self._options = options
        self._stored = stored
        self._turn: Turn | None = None
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

    def versions(self) -> dict[str, Version]:
        """Of the messages shown, those that have more than one version, by id."""
        found = {message.id: self._tree.version(message.id) for message in self._messages}
        return {message_id: version for message_id, version in found.items() if version.of > 1}

    @property
    def left_out_count(self) -> int:
        """How many messages at the beginning of the branch were not read for the last answer that is complete."""
        writing = self._turn.reply_id if self._turn is not None else ""
        replies = (m for m in reversed(self._messages) if m.role == "assistant" and m.id != writing)
        return next((reply.left_out for reply in replies), 0)

    def send(self, text: str) -> bool:
        """Ask a question; whether it was taken. If not, `refused` says why and the text should stay in the composer."""
        submitted_at = time.perf_counter()
        text = turns.sound(text)
        if not self._may_ask(text):
            return False
        self._add_question(text)
        self._begin(submitted_at)
        return True

    def edit(self, question_id: str, text: str) -> bool:
        """Ask a question in other words; whether it was taken. What was said before stays beside it as a version."""
        submitted_at = time.perf_counter()
        text = turns.sound(text)
        at = self._index(question_id)
        if at is None or not self._may_ask(text):
            return False
        self._cut(at)
        self._behind = None  # the new question stays whatever becomes of its answer
        self._add_question(text)
        self._begin(submitted_at)
        return True

    def regenerate(self, reply_id: str) -> bool:
        """Answer a question once more; whether it began. The answer that was there stays beside it as a version."""
        submitted_at = time.perf_counter()
        at = self._index(reply_id)
        if at is None or not self._may_change():
            return False
        self._cut(at)
        self._begin(submitted_at)
        return True

    def draft(self, text: str) -> ChatRequest:
        """The request that a question would be, to be read ahead while it is still being written."""
        options = self._options()
        asked = StoredMessage(self._conversation.id, "user", turns.sound(text))
        system_prompt = self._conversation.system_prompt if self._stored else options.system_prompt
        messages = turns.prompt_messages(system_prompt, [*self._messages, asked], options.model)
        return self._request(asked.id, messages, options, time.perf_counter())

    def prompt(self) -> tuple[Message, ...]:
        """What was said so far, as the engine takes it."""
        return turns.prompt_messages(self._conversation.system_prompt, self._messages, self._options().model)

    def retry(self) -> None:
        """Ask the last question again; an unfinished reply to it stays in the tree, beside the new one."""
        submitted_at = time.perf_counter()
        last = next((i for i in reversed(range(len(self._messages))) if self._messages[i].role == "user"), None)
        if self.busy or last is None:
            return
        if last + 1 < len(self._messages):
            self._cut(last + 1)
        self._begin(submitted_at)

    def show_version(self, message_id: str, step: int) -> bool:
        """Show the version of a message so many steps on, with what follows it; whether there is one."""
        wanted = self._tree.neighbour(message_id, step) if self._index(message_id) is not None else None
        if wanted is None or not self._may_change():
            return False
        self._tree.show(wanted)
        self._show_branch()
        return True

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
            self._keep(reply)
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

    def _may_ask(self, text: str) -> bool:
        if not text.strip():
            self.refused.emit("There is nothing to send yet. Please type a question.")
            return False
        return self._may_change()

    def _may_change(self) -> bool:
        if self.busy:
            self.refused.emit("The answer is still being written. Please wait for it, or press Stop.")
        return not self.busy

    def _index(self, message_id: str) -> int | None:
        return next((i for i, message in enumerate(self._messages) if message.id == message_id), None)

    def _cut(self, at: int) -> None:
        """Show the branch only as far as the message with this index, which something new takes the place of."""
        self._behind = self._tree.leaf_id
        del self._messages[at:]
        self._tree.end_at(self._messages[-1].id if self._messages else None)
        self.thread_changed.emit()

    def _show_branch(self) -> None:
        """Show the tree's branch and remember it."""
        self._messages = self._tree.thread()
        if self._tree.leaf_id is not None:
            self._store.show_branch(self._conversation.id, self._tree.leaf_id)
        self.thread_changed.emit()
        self._set_live(turns.after(self._last_reply()))

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
        self._tree.add(question)
        self._messages.append(question)
        self.message_added.emit(question)
        self.conversation_changed.emit(changed)

    def _begin(self, submitted_at: float) -> None:
        options = self._options()
        turn = Turn(
            conversation_id=self._conversation.id,
            parent_id=self._messages[-1].id,
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
        options = self._options()
        turn.model = options.model
        messages = turns.prompt_messages(self._conversation.system_prompt, self._messages, turn.model)
        turn.handle = self._ask(self._request(turn.request_id, messages, options, turn.submitted_at))

    def _request(
        self, request_id: str, messages: tuple[Message, ...], options: TurnOptions, submitted_at: float
    ) -> ChatRequest:
        return ChatRequest(
            id=request_id,
            messages=messages,
            params=options.params,
            conversation_id=self._conversation.id,
            started_on=self._conversation.started_on,
            overflow=options.overflow,
            submitted_at=submitted_at,
        )

    def _grow(self, turn: Turn, delta: TextDelta) -> None:
        first = not turn.token_ids
        silent = not turn.spoken
        turn.grow(delta)
        if silent and delta.text:
            self._messages.append(turn.reply("partial", content=""))
            self._tree.add(self._messages[-1])
            self._behind = None
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
        before = self.left_out_count
        if event.text or event.reason is not FinishReason.CANCELLED:
            reply = turn.reply(turns.STATUS[event.reason], event.stats, event.text)
            self._keep(replace(reply, left_out=self._unread(event)))
        self._end(turn)
        if self.left_out_count > before:
            self.left_out.emit(self.left_out_count)

    def _fail(self, turn: Turn, event: Failed) -> None:
        self._buffer.flush()
        if turn.spoken:
            self._keep(turn.reply("partial"))
        self._end(turn)
        if not isinstance(event.error, Cancelled):
            self.failed.emit(event.error.sentence, event.error.detail)

    def _apply_late(self, event: Event) -> None:
        """Figures of a stopped reply; its text stays as the person left it."""
        if not isinstance(event, Finished | Failed):
            return
        reply = self._tree.get(self._stopped.pop(event.request_id, ""))
        if reply is not None and isinstance(event, Finished):
            self._keep(replace(reply, stats=event.stats, left_out=self._unread(event)))
            if not self.busy:
                self._set_live(turns.after(self._last_reply()))

    def _unread(self, event: Finished) -> int:
        """How many messages of the branch an answer was made without: the first ones, whichever branch is shown now."""
        return turns.count_left_out(self._conversation.system_prompt, self._messages, event.left_out)

    def _keep(self, reply: StoredMessage) -> None:
        """Save a reply as it ended; if its branch is shown, in place of what was streamed, or as new if nothing was."""
        self._store.finish_message(reply)
        at = self._index(reply.id)
        if at is not None:
            self._messages[at] = reply
        if self._tree.get(reply.id) is not None:
            self._tree.update(reply)
        else:
            self._tree.add(reply)
            self._behind = None
            self._messages.append(reply)
            self.message_added.emit(reply)
        self.message_finished.emit(reply)

    def _end(self, turn: Turn) -> None:
        self._buffer.discard()
        self._saving.stop()
        self._turn = None
        self._restore_branch()
        last = self._last_reply()
        live = turns.after(last)
        if last is not None and last.id == turn.reply_id and last.stats is None:
            live = replace(turn.live(), phase="idle")
        self._set_live(live)

    def _restore_branch(self) -> None:
        """Where a new answer got no word, show again what it would have taken the place of."""
        before, self._behind = self._behind, None
        if before is not None:
            self._tree.end_at(before)
            self._messages = self._tree.thread()
            self.thread_changed.emit()

    def _set_live(self, live: LiveTurn) -> None:
        self._live = live
        self.turn_changed.emit(live)

    def _last_reply(self) -> StoredMessage | None:
        return next((m for m in reversed(self._messages) if m.role == "assistant"), None)
