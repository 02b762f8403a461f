"""The engine's side of the explanations: what outlives a turn, and what each turn's trace is completed with."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from engine.chat import ChatRequest, Message
from engine.events import ModelInfo
from engine.explain.facts import memory_state, model_facts
from engine.explain.history import Histories, Past
from engine.explain.prefix import Facts, find_break
from engine.explain.recorder import Around, Outcome, Recorder
from engine.explain.segments import prompt_segments
from engine.explain.trace import BreakReason, ModelFacts, PrefixBreak, Segment
from engine.kv_cache import KVCache
from engine.loader import LoadedModel


class Explainer:
    """Belongs to an engine and goes with it.

    Args:
        clock: The engine's, in seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._loads: deque[tuple[float, float]] = deque(maxlen=8)  # from when there was no model until there was one
        self._absent_since: float | None = -math.inf  # None while a model is loaded
        self._histories = Histories()
        self._facts: tuple[ModelInfo, ModelFacts] | None = None  # not of the model: that would keep its weights
        self._turns = 0

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """Notes that a model is being loaded in this block; what a question waited before for one counts as well."""
        began = self._absent_since = self._clock() if self._absent_since is None else self._absent_since
        yield
        self._loads.append((began, self._clock()))
        self._absent_since = None
        self._turns = 0

    def unloaded(self) -> None:
        """There is no model any more."""
        if self._absent_since is None:
            self._absent_since = self._clock()

    def begin(self, model: LoadedModel, request: ChatRequest) -> Recorder:
        """What takes notes of a turn and makes its trace."""
        held = model.store.tokens_of(request.conversation_id) if request.reuse else ()
        return Recorder(
            request.submitted_at,
            self._load_overlap,
            model.runner.kv_bytes_per_token,
            self._clock,
            lambda outcome, cache: self._around(model, request, held, outcome, cache),
        )

    def forget(self, conversation: str) -> None:
        """The conversation was deleted."""
        self._histories.forget(conversation)

    def _around(
        self, model: LoadedModel, request: ChatRequest, held: Sequence[int], outcome: Outcome, cache: KVCache
    ) -> Around:
        segments = prompt_segments(
            model.prompt,
            request.messages,
            outcome.left_out,
            started_on=request.started_on,
            prompt=len(outcome.prompt),
            cached=outcome.cached,
            computed=outcome.computed,
            limit=model.runner.context_limit,
            continued=request.continue_reply,
        )
        facts = dataclasses.replace(self._model_facts(model), turns_before=self._turns)
        prefix = PrefixBreak(BreakReason.NO_REUSE)
        if request.reuse:
            prefix = self._prefix(model, request, held, outcome, segments)
            self._remember(model, request, outcome, cache)
        self._turns += 1
        return Around(facts, memory_state(model, cache.nbytes if request.reuse else 0), segments, prefix)

    def _prefix(
        self,
        model: LoadedModel,
        request: ChatRequest,
        held: Sequence[int],
        outcome: Outcome,
        segments: tuple[Segment, ...],
    ) -> PrefixBreak:
        conversation = request.conversation_id
        facts = Facts(
            messages=request.messages,
            left_out=outcome.left_out,
            prompt=outcome.prompt,
            kept=outcome.cached,
            segments=segments,
            past=self._histories.past(conversation),
            held=held,
            model=_identity(model),
            other_model=model.store.elsewhere(conversation),
            croppable=model.runner.croppable,
            seen=lambda index, message: self._histories.seen(conversation, index, message),
            took_over=_took_over(self._histories.past(conversation), model),
        )
        return find_break(facts, lambda token_id: model.prompt.tokenizer.decode_all([token_id]))

    def _remember(self, model: LoadedModel, request: ChatRequest, outcome: Outcome, cache: KVCache) -> None:
        messages, reply = request.messages, Message("assistant", outcome.text, outcome.reply)
        if request.continue_reply:
            begun = messages[-1]
            messages, ids = messages[:-1], (*model.prompt.reply_ids(begun), *outcome.reply)
            reply = Message("assistant", begun.content + outcome.text, ids)
        past = Past((*messages, reply), outcome.left_out, _identity(model), cache.ids, model.info.compiling)
        self._histories.remember(request.conversation_id, past)

    def _model_facts(self, model: LoadedModel) -> ModelFacts:
        if self._facts is None or self._facts[0] is not model.info:
            self._facts = model.info, model_facts(model)
        return self._facts[1]

    def _load_overlap(self, start: float, end: float) -> float:
        return sum(max(0.0, min(end, ended) - max(start, began)) for began, ended in self._loads)


def _took_over(past: Past | None, model: LoadedModel) -> bool:
    """Whether the last turn was answered by what answered until this model's kernels were compiled."""
    same = past is not None and past.model.startswith(f"{model.info.name} ")
    return past is not None and same and past.interim and not model.info.compiling


def _identity(model: LoadedModel) -> str:
    return f"{model.info.name} {model.runner.cache_format}"
