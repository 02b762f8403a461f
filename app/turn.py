"""One turn as it grows: what the events of one request add up to. No Qt, no clock, no disk."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.live import LiveTurn
from app.records import Status, StoredMessage, new_id
from app.said import said
from app.thinking import ThinkingSplitter
from engine.chat import Message, Overflow, RequestHandle
from engine.config import SamplingParams
from engine.events import FinishReason, PrefillProgress, TextDelta
from engine.stats import TurnStats, decode_rate

STATUS: Final[dict[FinishReason, Status]] = {
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
        overflow: What to do when the conversation outgrows the context.
        end_ids: Tokens of that model that end a reply.
        varies: Whether another answer to the same question shall differ even if the first was greedy: the person chose
            no manner of answering, so the same words once more would be of no use.
    """

    params: SamplingParams
    system_prompt: str
    model: str
    overflow: Overflow = "drop_oldest"
    end_ids: frozenset[int] = frozenset()
    varies: bool = False


class ThinkingClock:
    """How long a reply's thinking takes, by the times of its tokens."""

    def __init__(self) -> None:
        self._splitter = ThinkingSplitter()
        self._began: float | None = None
        self._latest = 0.0
        self._over = 0.0  # seconds of thinking that has ended

    def feed(self, text: str, at: float) -> None:
        """Take text that came at a time, in seconds."""
        self._splitter.feed(text)
        self._latest = at
        if self._splitter.thinking and self._began is None:
            self._began = at
        elif self._began is not None and not self._splitter.thinking:
            self._over, self._began = self.seconds, None

    @property
    def seconds(self) -> float:
        """Of thinking so far; 0 where there was none."""
        return self._over + (self._latest - self._began if self._began is not None else 0.0)


@dataclass(slots=True)
class Turn:
    """From Enter to the end of the reply.

    Attributes:
        parent_id: The question that is answered; None where an answer begins the chat, as in some that were imported.
        submitted_at: `time.perf_counter()` in seconds when the person pressed Enter.
        model: The name of the model that answers; known once the request is on its way.
        handle: Cancels the request; None while it waits for the model.
        loaded_at: `time.perf_counter()` in seconds when the model that it waited for was ready; None if it did not, or
            does still.
        prefill_from: `time.perf_counter()` when prefill began, in seconds; None until it has.
        token_times: `time.perf_counter()` of each token, in seconds.
        first_text_at: The same of the first text that was no token of this machine; None while there is none.
        begun: The reply that goes on; None for a new one. What comes is added to its text and ids.
        base_ids: Of the ids of `begun`, those that stay in front; None where they mean nothing to this model.
    """

    conversation_id: str
    parent_id: str | None
    submitted_at: float
    context_before: int | None = 0
    request_id: str = field(default_factory=new_id)
    reply_id: str = field(default_factory=new_id)
    created_at: float = field(default_factory=time.time)
    model: str = ""
    handle: RequestHandle | None = None
    loaded_at: float | None = None
    prefill: PrefillProgress | None = None
    prefill_from: float | None = None
    pieces: list[str] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    token_times: list[float] = field(default_factory=list)
    first_text_at: float | None = None
    shown: str = ""
    begun: StoredMessage | None = None
    base_ids: tuple[int, ...] | None = ()
    thinking: ThinkingClock = field(default_factory=ThinkingClock)

    def begin(self, model: str, end_ids: Collection[int]) -> None:
        """Take note of who answers, which decides whether the ids of a reply that goes on can be gone on with."""
        self.model = model
        if self.begun is not None:
            self.base_ids = kept_ids(self.begun, model, end_ids)

    def read(self, progress: PrefillProgress) -> None:
        """Take how far the prompt has been read."""
        self.prefill = progress
        if self.prefill_from is None and progress.at:
            self.prefill_from = progress.at

    def grow(self, delta: TextDelta) -> None:
        """Add a token."""
        if self.begun is not None and not self.token_ids:
            self.thinking.feed(self.begun.content, delta.at)
        self.thinking.feed(delta.text, delta.at)
        self.pieces.append(delta.text)
        if self.first_text_at is None and delta.text and not self.token_ids and not delta.token_ids:
            self.first_text_at = delta.at
        self.token_ids.extend(delta.token_ids)
        self.token_times.extend([delta.at] * len(delta.token_ids))

    @property
    def text(self) -> str:
        """All new text so far."""
        return "".join(self.pieces)

    @property
    def spoken(self) -> bool:
        """Whether any new text has come."""
        return any(self.pieces)

    def reply(self, status: Status, stats: TurnStats | None = None, content: str | None = None) -> StoredMessage:
        """The reply as it stands; `content` replaces the new text so far."""
        new = self.text if content is None else content
        before = self.begun or StoredMessage(
            self.conversation_id, "assistant", "", self.reply_id, self.parent_id, created_at=self.created_at
        )
        thought = (before.thinking_s or 0.0) + self.thinking.seconds
        return replace(
            before,
            content=before.content + new,
            token_ids=self._ids(),
            status=status,
            model=self.model,
            stats=stats,
            thinking_s=thought or None,
        )

    def _ids(self) -> tuple[int, ...] | None:
        """The ids of the reply; None where they are not known: a server sends text alone."""
        if self.base_ids is None or (self.spoken and not self.token_ids):
            return None
        return (*self.base_ids, *self.token_ids)

    def live(self) -> LiveTurn:
        """The figures so far."""
        if self.prefill is None and not self.token_ids:
            return LiveTurn("queued", context_used=self.context_before)
        progress = self.prefill or PrefillProgress(self.request_id, 0, 0, 0)
        by_server = self.spoken and not self.token_ids
        first = self.token_times[0] if self.token_times else self.first_text_at
        return LiveTurn(
            phase="decode" if first is not None else "prefill",
            message_id=self.reply_id if self.spoken else "",
            cached=progress.cached,
            prefill_done=progress.done,
            prefill_total=progress.total,
            completion_tokens=len(self.token_ids),
            ttft_s=None if first is None else first - self.submitted_at,
            tokens_per_s=decode_rate(self.token_times),
            context_used=None if by_server else progress.cached + progress.done + len(self.token_ids),
            note=progress.note,
        )


def after(reply: StoredMessage | None) -> LiveTurn:
    """The figures that stay on view when a turn is over: those of the last reply."""
    if reply is None:
        return LiveTurn()
    if reply.stats is None:
        return LiveTurn(context_used=None)
    stats = reply.stats
    counted = stats.reported("prompt_tokens", "completion_tokens")
    return LiveTurn(
        message_id=reply.id,
        cached=stats.cached_tokens,
        prefill_done=stats.prefill_tokens,
        prefill_total=stats.prefill_tokens,
        completion_tokens=stats.completion_tokens,
        ttft_s=stats.ttft_s,
        tokens_per_s=stats.decode_tokens_per_s,
        context_used=stats.prompt_tokens + stats.completion_tokens if counted else None,
        reuse_known=stats.reported("cached_tokens", "prefill_tokens"),
        pieces_per_s=stats.pieces_per_s,
    )


def prompt_messages(system_prompt: str, thread: Sequence[StoredMessage], model: str) -> tuple[Message, ...]:
    """A thread as the engine takes it.

    Questions that got no answer are joined with the next one, because templates want user and assistant in turn.
    A reply brings its token ids only to the model that generated them: to another they mean other words.
    """
    made: list[Message] = [Message("system", system_prompt)] if system_prompt else []
    for group in _groups(thread):
        text = "\n\n".join(said(stored) for stored in group)
        made.append(Message(group[0].role, text, group[0].token_ids if group[0].model == model else None))
    return tuple(made)


def kept_ids(reply: StoredMessage, model: str, end_ids: Collection[int]) -> tuple[int, ...] | None:
    """Ids with which a model can go on with a reply: all but the end token; None where it made none of them."""
    if reply.model != model or reply.token_ids is None:
        return None
    end = len(reply.token_ids)
    while end and reply.token_ids[end - 1] in end_ids:
        end -= 1
    return reply.token_ids[:end]


def count_left_out(system_prompt: str, thread: Sequence[StoredMessage], left_out: Sequence[int]) -> int:
    """How many messages of a thread are those of its `prompt_messages` that have these indices."""
    groups = list(_groups(thread))
    first = 1 if system_prompt else 0
    return sum(len(groups[index - first]) for index in left_out if first <= index < first + len(groups))


def _groups(thread: Sequence[StoredMessage]) -> Iterator[list[StoredMessage]]:
    """The messages of a thread that become one message of a prompt."""
    group: list[StoredMessage] = []
    for stored in thread:
        if group and not group[-1].role == stored.role == "user":
            yield group
            group = []
        group.append(stored)
    if group:
        yield group
