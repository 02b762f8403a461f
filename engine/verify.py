"""The proof that reuse changes nothing: a conversation answered with kept caches and without, under greedy decoding.

Every question of the conversation is answered twice, in order: once with whatever its prefix finds in memory or on
disk, once with everything computed afresh. Replies that the conversation has stay as they are, so each turn is a proof
of its own; a question without one gets the reply that was just computed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.errors import BadRequest, Cancelled
from engine.events import ChatEvent, Finished, FinishReason

REPLY_TOKENS: Final = 48
BUILT_IN: Final = (
    Message("system", "You are a helpful assistant who answers in a few plain sentences."),
    Message("user", "Why does a ship made of steel float?"),
    Message("user", "And why does it sink when water gets in?"),
    Message("user", 'Say that in Chinese, please: 谢谢! 🚢 Then show me "density" as a line of Python.'),
    Message("user", "Now explain it to a child of six, in three sentences, with an example from the bathtub."),
)


class Answers(Protocol):
    """What a conversation is asked of: the engine."""

    def stream(self, request: ChatRequest, handle: RequestHandle | None = None) -> Iterator[ChatEvent]:
        """The events of an answer."""
        ...

    def forget(self, conversation_id: str) -> None:
        """Drop a conversation's cache from memory and disk."""
        ...


@dataclass(frozen=True, slots=True)
class TurnProof:
    """One question, answered twice.

    Attributes:
        turn: Which question, from 1.
        prompt_tokens, cached_tokens: Of the run with reuse.
        kept, fresh: The ids of both answers.
        kept_ttft_s, fresh_ttft_s: To the first token.
        kept_s, fresh_s: To the last token.
    """

    turn: int
    prompt_tokens: int
    cached_tokens: int
    kept: tuple[int, ...]
    fresh: tuple[int, ...]
    kept_ttft_s: float
    fresh_ttft_s: float
    kept_s: float
    fresh_s: float

    @property
    def equal(self) -> bool:
        """Whether both answers are the same tokens."""
        return self.kept == self.fresh

    @property
    def first_difference(self) -> int | None:
        """Which token of the answers, from 1, is the first that differs or that one of them lacks."""
        if self.equal:
            return None
        pairs = zip(self.kept, self.fresh, strict=False)
        shorter = min(len(self.kept), len(self.fresh))
        return next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), shorter + 1)


@dataclass(frozen=True, slots=True)
class Proof:
    """What a whole conversation showed."""

    turns: tuple[TurnProof, ...]

    @property
    def equal(self) -> bool:
        """Whether every turn was equal."""
        return all(turn.equal for turn in self.turns)

    @property
    def tokens(self) -> int:
        """Tokens of all answers with reuse."""
        return sum(len(turn.kept) for turn in self.turns)

    @property
    def equal_tokens(self) -> int:
        """Of them, those before the first difference in their answer."""
        firsts = [(turn.first_difference, len(turn.kept)) for turn in self.turns]
        return sum(length if first is None else first - 1 for first, length in firsts)

    @property
    def kept_s(self) -> float:
        """Seconds of all answers with reuse."""
        return sum(turn.kept_s for turn in self.turns)

    @property
    def fresh_s(self) -> float:
        """Seconds of all answers computed afresh."""
        return sum(turn.fresh_s for turn in self.turns)

    @property
    def sentence(self) -> str:
        """For people: whether it held, and both times."""
        times = f"{self.kept_s:.1f} s with kept caches, {self.fresh_s:.1f} s without"
        if self.equal:
            answers = f"All {len(self.turns)} answers are the same with kept caches and without"
            return f"{answers} ({self.tokens} tokens): {times}."
        wrong = next(turn for turn in self.turns if not turn.equal)
        place = f"answer {wrong.turn} from token {wrong.first_difference} on"
        return f"Kept caches changed an answer ({place}); please report this. {times[0].upper()}{times[1:]}."


def verify(
    engine: Answers,
    messages: Sequence[Message] = BUILT_IN,
    handle: RequestHandle | None = None,
    *,
    started_on: str = "",
    reply_tokens: int = REPLY_TOKENS,
) -> Generator[TurnProof, None, Proof]:
    """Answer every question of a conversation with and without reuse.

    The conversation's own cache is read from, never changed: the proof runs under an identity of its own, which is
    forgotten in the end.

    Args:
        engine: With a model loaded.
        messages: The conversation, with the replies it has.
        handle: Cancels.
        started_on: As in its requests.
        reply_tokens: Longest answer to each question.

    Yields:
        Each turn when it is done.

    Raises:
        BadRequest: There is no question in it.
        Cancelled: `handle` was cancelled.
    """
    if all(message.role != "user" for message in messages):
        raise BadRequest("There is no question in this chat yet, so nothing to verify.")
    handle = handle or RequestHandle("verify")
    identity = f"verify {handle.id}"
    history: list[Message] = []
    turns: list[TurnProof] = []
    try:
        for message, following in zip(messages, [*messages[1:], None], strict=True):
            history.append(message)
            if message.role != "user":
                continue
            request = ChatRequest(identity, tuple(history), _greedy(reply_tokens), identity, started_on)
            kept, fresh = (_answer(engine, request, handle, reuse) for reuse in (True, False))
            turns.append(_proof(len(turns) + 1, kept, fresh))
            yield turns[-1]
            if following is None or following.role != "assistant":
                history.append(Message("assistant", kept.text, kept.token_ids))
    finally:
        engine.forget(identity)
    return Proof(tuple(turns))


def _greedy(tokens: int) -> SamplingParams:
    return SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, max_tokens=tokens)


def _answer(engine: Answers, request: ChatRequest, handle: RequestHandle, reuse: bool) -> Finished:
    """Ask now; TTFT counts from here.

    Raises:
        Cancelled: The person cancelled.
    """
    now = ChatRequest(
        request.id, request.messages, request.params, request.conversation_id, request.started_on, reuse=reuse
    )
    *_, last = engine.stream(now, handle)
    if not isinstance(last, Finished) or last.reason is FinishReason.CANCELLED:
        raise Cancelled
    return last


def _proof(turn: int, kept: Finished, fresh: Finished) -> TurnProof:
    return TurnProof(
        turn=turn,
        prompt_tokens=kept.stats.prompt_tokens,
        cached_tokens=kept.stats.cached_tokens,
        kept=kept.token_ids,
        fresh=fresh.token_ids,
        kept_ttft_s=kept.stats.ttft_s or 0.0,
        fresh_ttft_s=fresh.stats.ttft_s or 0.0,
        kept_s=kept.stats.total_s,
        fresh_s=fresh.stats.total_s,
    )
