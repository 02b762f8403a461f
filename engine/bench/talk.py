"""A conversation as the benchmarks hold it: questions of a known length, greedy replies, one figure a turn."""

from __future__ import annotations

import itertools
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.bench.text import passage
from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.engine import Engine
from engine.events import Finished, FinishReason, PrefillProgress
from engine.tokenizer import Tokenizer

_CANCEL_AFTER: Final = 0.25  # of the prefill


def greedy(tokens: int) -> SamplingParams:
    """Greedy decoding of at most so many tokens."""
    return SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, max_tokens=tokens)


def request_for(
    messages: Sequence[Message], conversation: str, tokens: int = 1, reuse: bool = True, speculate: bool = True
) -> ChatRequest:
    """A request that counts as submitted now."""
    name = f"bench-{uuid.uuid4().hex}"
    return ChatRequest(name, tuple(messages), greedy(tokens), conversation, reuse=reuse, speculate=speculate)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A prefill that was cancelled.

    Attributes:
        stop_s: From the cancellation to the last event.
        read: Tokens that were read before it.
    """

    stop_s: float
    read: int


class Talk:
    """Asks an engine.

    Args:
        engine: With a model loaded.
        tokenizer: The model's.
    """

    def __init__(self, engine: Engine, tokenizer: Tokenizer) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._seeds = itertools.count(1)

    def question(self, tokens: int) -> Message:
        """A question of about so many tokens that was not asked before."""
        return Message("user", passage(self._tokenizer, tokens, next(self._seeds)))

    def ask(self, messages: Sequence[Message], conversation: str, tokens: int = 1, reuse: bool = True) -> Finished:
        """One turn."""
        return _last(self._engine.stream(request_for(messages, conversation, tokens, reuse)))

    def step_ms(self, messages: Sequence[Message], conversation: str, tokens: int) -> float:
        """Milliseconds of one decode step after these messages: the median of a reply without drafted tokens."""
        itl = _last(self._engine.stream(request_for(messages, conversation, tokens, speculate=False))).stats.itl_ms
        return itl.p50 if itl else 0.0

    def rewrite(self, messages: Sequence[Message], tokens: int, speculate: bool) -> Finished:
        """One turn of a conversation that has no cache of its own, with prompt-lookup decoding or without."""
        return _last(self._engine.stream(request_for(messages, "", tokens, reuse=False, speculate=speculate)))

    def ttft(self, messages: Sequence[Message], conversation: str, reuse: bool = True) -> float:
        """Milliseconds to the first token of one turn."""
        return 1000 * (self.ask(messages, conversation, reuse=reuse).stats.ttft_s or 0.0)

    def converse(self, conversation: str, turns: int, question: int, reply: int) -> tuple[Message, ...]:
        """Some turns of a new conversation: every question with its reply."""
        messages: list[Message] = []
        for _ in range(turns):
            messages.append(self.question(question))
            done = self.ask(messages, conversation, reply)
            messages.append(Message("assistant", done.text, done.token_ids))
        return tuple(messages)

    def cancel(self, messages: Sequence[Message], conversation: str, delay_s: float) -> Cancelled | None:
        """Cancel a request in the midst of its prefill; None if that was over sooner."""
        request = request_for(messages, conversation)
        handle, moments, timer = RequestHandle(request.id), [], None

        def stop() -> None:
            moments.append(time.perf_counter())
            handle.cancel()

        for event in self._engine.stream(request, handle):
            if timer is None and isinstance(event, PrefillProgress) and event.done > _CANCEL_AFTER * event.total:
                timer = threading.Timer(delay_s, stop)
                timer.start()
        ended = time.perf_counter()
        if timer is None:
            return None
        timer.join()
        if not isinstance(event, Finished) or event.reason is not FinishReason.CANCELLED:
            return None
        return Cancelled(ended - moments[0], event.stats.prefill_tokens)


def _last(events: Iterator[object]) -> Finished:
    *_, last = events
    if not isinstance(last, Finished):
        raise TypeError(f"a turn ends with Finished, not {last!r}")
    return last
