"""With and without the cache: what it is worth, by generating the same tokens both ways.

Without it every token computes the whole sequence again, as `use_cache=False` does in transformers: the time per token
grows with the sequence, where with the cache it stays nearly flat.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from typing import Final

import torch
from torch import Tensor

from engine.chat import ChatRequest, RequestHandle
from engine.errors import Cancelled, ContextFull
from engine.events import Compared, CompareProgress
from engine.explain.comparison import Candidate, Comparison, Step
from engine.explain.facts import model_facts
from engine.explain.trace import ModelFacts
from engine.generate import prefill_all
from engine.kv_cache import KVCache
from engine.loader import LoadedModel
from engine.turn import check_fits

TOKENS: Final = 32
_MOST_S: Final = 60.0  # without the cache; a long conversation ends earlier than TOKENS
_CANDIDATES: Final = 5
_DETAILED: Final = 2  # the prompt, then one token


def compare(
    model: LoadedModel, request: ChatRequest, handle: RequestHandle, tokens: int = TOKENS, most_s: float = _MOST_S
) -> Iterator[CompareProgress | Compared]:
    """Generate some tokens with the cache and the same without; kept caches are neither read nor changed.

    Args:
        model: With no turn in progress.
        request: Whose conversation is answered; the likeliest token is always taken.
        handle: Cancels.
        tokens: How many.
        most_s: Seconds after which the run without the cache ends early.

    Yields:
        Each token when it is there, then what they showed.

    Raises:
        BadRequest: There is nothing to answer.
        ContextFull: There is no room for the tokens.
        Cancelled: `handle` was cancelled.
    """
    check_fits(model, request)
    prompt = model.prompt.encode(request)
    if len(prompt) + tokens > model.runner.context_limit:
        raise ContextFull("This chat leaves no room for the experiment; try it in a shorter one.")
    yield from _Experiment(model, prompt, handle, tokens).run(most_s)


class _Experiment:
    def __init__(self, model: LoadedModel, prompt: Sequence[int], handle: RequestHandle, tokens: int) -> None:
        self._model = model
        self._prompt = list(prompt)
        self._handle = handle
        self._tokens = tokens
        self._facts = model_facts(model)

    def run(self, most_s: float) -> Iterator[CompareProgress | Compared]:
        reply, cached_ms, steps = yield from self._with()
        fresh, fresh_ms = yield from self._without(reply, most_s)
        comparison = Comparison(
            prompt_tokens=len(self._prompt),
            prefill=steps[0],
            step=steps[-1],
            cached_ms=tuple(cached_ms),
            fresh_ms=tuple(fresh_ms),
            equal=fresh == reply[: len(fresh)],
            text=self._model.prompt.tokenizer.decode(reply),
        )
        yield Compared(self._handle.id, comparison)

    def _with(self) -> Generator[CompareProgress, None, tuple[list[int], list[float], list[Step]]]:
        """The tokens with the cache, their milliseconds, and the first passes in detail."""
        cache = self._model.store.fresh()
        reply, times, steps = list[int](), list[float](), list[Step]()
        for index in range(self._tokens):
            read = reply[-1:] or self._prompt
            logits, seconds = self._timed(cache, read)
            if index < _DETAILED:
                steps.append(self._step(cache, len(read), seconds, logits))
            reply.append(int(logits.argmax()))
            times.append(1000 * seconds)
            yield self._progress(True, index, seconds)
        return reply, times, steps

    def _without(
        self, reply: Sequence[int], most_s: float
    ) -> Generator[CompareProgress, None, tuple[list[int], list[float]]]:
        """The same tokens, each computed from the whole sequence."""
        began, made, times = time.perf_counter(), list[int](), list[float]()
        for index in range(len(reply)):
            if made and time.perf_counter() - began > most_s:
                break
            logits, seconds = self._timed(self._model.store.fresh(), [*self._prompt, *reply[:index]])
            made.append(int(logits.argmax()))
            times.append(1000 * seconds)
            yield self._progress(False, index, seconds)
        return made, times

    def _progress(self, cached: bool, index: int, seconds: float) -> CompareProgress:
        return CompareProgress(self._handle.id, cached, index, self._tokens, 1000 * seconds)

    def _timed(self, cache: KVCache, ids: Sequence[int]) -> tuple[Tensor, float]:
        """Logits after `ids` behind what the cache holds, and the seconds that took.

        Raises:
            Cancelled: The person cancelled.
        """
        began = time.perf_counter()
        logits = prefill_all(cache, ids, self._model.pacer, lambda: self._handle.cancelled)
        if logits is None:
            raise Cancelled
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
