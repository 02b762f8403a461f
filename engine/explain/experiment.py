"""With and without the cache: what it is worth, by generating the same tokens both ways.

Without it every token computes the whole sequence again, as `use_cache=False` does in transformers: the time per token
grows with the sequence, where with the cache it stays nearly flat.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.chat import ChatRequest, RequestHandle
from engine.errors import Cancelled, ContextFull
from engine.explain.comparison import Candidate, Comparison, Step
from engine.explain.facts import model_facts
from engine.explain.trace import ModelFacts
from engine.generate import prefill
from engine.kv_cache import KVCache
from engine.loader import LoadedModel

TOKENS: Final = 32
_MOST_S: Final = 60.0  # without the cache; a long conversation ends earlier than TOKENS
_CANDIDATES: Final = 5


@dataclass(frozen=True, slots=True)
class Timed:
    """One token of the experiment.

    Attributes:
        cached: Whether the cache was used.
        index: Which token of the reply, from 0.
        ms: Milliseconds it took.
    """

    cached: bool
    index: int
    ms: float


def compare(
    model: LoadedModel, request: ChatRequest, handle: RequestHandle, tokens: int = TOKENS, most_s: float = _MOST_S
) -> Generator[Timed, None, Comparison]:
    """Generate some tokens with the cache and the same without; kept caches are neither read nor changed.

    Args:
        model: With no turn in progress.
        request: Whose conversation is answered; the likeliest token is always taken.
        handle: Cancels.
        tokens: How many.
        most_s: Seconds after which the run without the cache ends early.

    Yields:
        Each token when it is there.

    Raises:
        BadRequest: There is nothing to answer.
        ContextFull: There is no room for the tokens.
        Cancelled: `handle` was cancelled.
    """
    prompt = model.prompt.encode(request)
    if len(prompt) + tokens > model.runner.context_limit:
        raise ContextFull("This conversation leaves no room for the experiment; try it in a shorter one.")
    return (yield from _Experiment(model, prompt, handle).run(tokens, most_s))


class _Experiment:
    def __init__(self, model: LoadedModel, prompt: Sequence[int], handle: RequestHandle) -> None:
        self._model = model
        self._prompt = list(prompt)
        self._handle = handle
        self._facts = model_facts(model)

    def run(self, tokens: int, most_s: float) -> Generator[Timed, None, Comparison]:
        cache = self._model.store.fresh()
        logits, seconds = self._pass(lambda: self._read(cache, self._prompt))
        first = self._step(cache, len(self._prompt), seconds, logits)
        reply, cached_ms = [int(logits.argmax())], [1000 * seconds]
        yield Timed(True, 0, cached_ms[0])
        second = first
        for index in range(1, tokens):
            last = reply[-1]
            logits, seconds = self._pass(lambda last=last: cache.decode(last))  # type: ignore[misc]
            if index == 1:
                second = self._step(cache, 1, seconds, logits)
            reply.append(int(logits.argmax()))
            cached_ms.append(1000 * seconds)
            yield Timed(True, index, cached_ms[-1])
        cache.clear()
        fresh, fresh_ms = yield from self._without(reply, most_s)
        return Comparison(
            prompt_tokens=len(self._prompt),
            prefill=first,
            step=second,
            cached_ms=tuple(cached_ms),
            fresh_ms=tuple(fresh_ms),
            equal=fresh == reply[: len(fresh)],
            text=self._model.prompt.tokenizer.decode(reply),
        )

    def _without(self, reply: Sequence[int], most_s: float) -> Generator[Timed, None, tuple[list[int], list[float]]]:
        """The same tokens, each computed from the whole sequence."""
        began, made, times = time.perf_counter(), list[int](), list[float]()
        for index in range(len(reply)):
            if made and time.perf_counter() - began > most_s:
                break
            sequence = [*self._prompt, *reply[:index]]
            logits, seconds = self._pass(lambda sequence=sequence: self._read(self._model.store.fresh(), sequence))  # type: ignore[misc]
            made.append(int(logits.argmax()))
            times.append(1000 * seconds)
            yield Timed(False, index, times[-1])
        return made, times

    def _read(self, cache: KVCache, ids: Sequence[int]) -> Tensor:
        """Logits after all of `ids`.

        Raises:
            Cancelled: The person cancelled.
        """
        steps = prefill(cache, ids, self._model.pacer, lambda: self._handle.cancelled)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                logits: Tensor | None = end.value
                break
        if logits is None:
            raise Cancelled
        return logits

    def _pass(self, action: Callable[[], Tensor]) -> tuple[Tensor, float]:
        if self._handle.cancelled:
            raise Cancelled
        began = time.perf_counter()
        logits = action()
        return logits, time.perf_counter() - began

    def _step(self, cache: KVCache, read: int, seconds: float, logits: Tensor) -> Step:
        shape = cache_shape(self._facts, len(cache.ids))
        return Step(read, seconds, shape, self._facts.layers, cache.nbytes, self._candidates(logits))

    def _candidates(self, logits: Tensor) -> tuple[Candidate, ...]:
        chances, ids = torch.softmax(logits.double(), dim=0).topk(min(_CANDIDATES, logits.numel()))
        text = self._model.prompt.tokenizer.decode_all
        pairs = zip(ids.tolist(), chances.tolist(), strict=True)
        return tuple(Candidate(token_id, text([token_id]), chance) for token_id, chance in pairs)


def cache_shape(facts: ModelFacts, tokens: int) -> tuple[int, ...]:
    """Of the keys, and of the values, of one layer; empty where the model has no such shape."""
    return (1, facts.kv_heads, tokens, facts.head_dim) if facts.layers else ()
