"""The engine: one model, its tokenizer and its caches. No threads here; the worker gives it one."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.chat import ChatRequest, RequestHandle
from engine.config import EngineConfig
from engine.detokenizer import Detokenizer, StopStrings
from engine.device import DeviceChoice, choose_device
from engine.errors import ContextFull, ModelNotFound
from engine.events import ChatEvent, Finished, FinishReason, ModelInfo, PrefillProgress, TextDelta
from engine.generate import ChunkPacer, decode, prefill
from engine.kv_cache import KVCache
from engine.kv_store import KVStore
from engine.loader import load_runner
from engine.prompt import PromptBuilder, load_prompt_builder
from engine.runner import AnyRunner
from engine.sampler import Sampler
from engine.stats import TurnStamps, turn_stats

if TYPE_CHECKING:
    from engine.models.registry import ModelEntry

_KV_BUDGET = 2 * 1024**3

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything that belongs to one model and goes with it."""

    info: ModelInfo
    runner: AnyRunner
    prompt: PromptBuilder
    store: KVStore
    pacer: ChunkPacer


class Engine:
    """Answers chat requests with one model at a time.

    Args:
        config: Device, dtype, threads and limits.
        clock: Monotonic seconds, the same clock that stamps `ChatRequest.submitted_at`.
    """

    def __init__(self, config: EngineConfig, clock: Clock = time.perf_counter) -> None:
        self._config = config
        self._clock = clock
        self._model: LoadedModel | None = None

    def load(self, entry: ModelEntry) -> ModelInfo:
        """Load a model in place of the one that is loaded.

        Raises:
            EngineError: The device, the tokenizer or the weights are not to be had; no model is loaded then.
        """
        self.unload()
        began = self._clock()
        choice = choose_device(self._config)
        torch.set_num_threads(choice.threads)
        prompt = load_prompt_builder(entry.folder)
        runner = load_runner(entry.folder, choice, self._config)
        info = _describe(entry, runner, choice, self._clock() - began)
        self._model = LoadedModel(
            info, runner, prompt, KVStore(runner, _KV_BUDGET), ChunkPacer(self._config.prefill_chunk)
        )
        return info

    def unload(self) -> None:
        """Give the model's memory back."""
        self._model = None

    def stream(self, request: ChatRequest, handle: RequestHandle | None = None) -> Iterator[ChatEvent]:
        """Answer a request: prefill progress, a delta per token, and `Finished` as the last event.

        A cancelled request ends with `Finished` too, and leaves the cache valid.

        Raises:
            ModelNotFound: No model is loaded.
            BadRequest: There is nothing to answer.
            ContextFull: The prompt leaves no room for a reply.
        """
        if self._model is None:
            raise ModelNotFound("No model is loaded; choose one first.")
        yield from _Turn(self._model, request, handle or RequestHandle(request.id), self._clock).run()


class _Turn:
    """One request on its way through template, prefill and decode."""

    def __init__(self, model: LoadedModel, request: ChatRequest, handle: RequestHandle, clock: Clock) -> None:
        self._model = model
        self._request = request
        self._handle = handle
        self._clock = clock
        self._times: list[float] = []
        self._ids: list[int] = []
        self._texts: list[str] = []

    def run(self) -> Iterator[ChatEvent]:
        started = self._clock()
        prompt = self._prompt_ids()
        templated = self._clock()
        cache = self._model.store.checkout(self._request.conversation_id)
        rest = cache.reuse(prompt)
        cached = len(prompt) - len(rest)
        logits = yield from self._prefill(cache, rest, cached)
        read = len(cache.ids) - cached
        prefilled = self._clock()
        reason = FinishReason.CANCELLED
        if logits is not None:
            reason = yield from self._decode(cache, logits, prompt)
        self._model.store.trim()
        stamps = TurnStamps(self._request.submitted_at, started, templated, prefilled, tuple(self._times))
        stats = turn_stats(stamps, prompt=len(prompt), cached=cached, prefilled=read, kv_bytes=cache.nbytes)
        yield Finished(self._request.id, reason, "".join(self._texts), tuple(self._ids), stats)

    def _prompt_ids(self) -> list[int]:
        ids = self._model.prompt.encode(self._request)
        limit = self._model.runner.context_limit
        if len(ids) >= limit:
            raise ContextFull(
                f"This conversation has {len(ids):,} tokens, but the model can hold {limit:,}; "
                "shorten the message or start a new chat."
            )
        return ids

    def _prefill(self, cache: KVCache, rest: list[int], cached: int) -> Generator[ChatEvent, None, Tensor | None]:
        yield PrefillProgress(self._request.id, cached, 0, len(rest))
        steps = prefill(cache, rest, self._model.pacer, lambda: self._handle.cancelled)
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                logits: Tensor | None = end.value
                return logits
            yield PrefillProgress(self._request.id, cached, done, len(rest))

    def _decode(self, cache: KVCache, logits: Tensor, prompt: list[int]) -> Generator[ChatEvent, None, FinishReason]:
        tokenizer, runner = self._model.prompt.tokenizer, self._model.runner
        sampler = Sampler(self._request.params, runner.vocab_size, prompt)
        detokenizer, stops = Detokenizer(tokenizer.decode), StopStrings(self._request.params.stop)
        room = runner.context_limit - len(prompt)
        limit = min(self._request.params.max_tokens or room, room)
        reason = FinishReason.LENGTH
        for token_id in decode(cache, logits, sampler, limit, lambda: self._handle.cancelled):
            at = self._clock()
            ended = token_id in tokenizer.end_ids
            text = "" if ended else stops.push(detokenizer.push(token_id))
            yield self._delta(text, token_id, at)
            if ended or stops.hit:
                reason = FinishReason.END if ended else FinishReason.STOP
                break
        yield from self._rest(detokenizer, stops)
        cancelled = reason is FinishReason.LENGTH and self._handle.cancelled and len(self._ids) < limit
        return FinishReason.CANCELLED if cancelled else reason

    def _delta(self, text: str, token_id: int, at: float) -> TextDelta:
        self._times.append(at)
        self._ids.append(token_id)
        self._texts.append(text)
        return TextDelta(self._request.id, text, (token_id,), at)

    def _rest(self, detokenizer: Detokenizer, stops: StopStrings) -> Iterator[ChatEvent]:
        """What was held back while it could still change."""
        text = stops.push(detokenizer.flush()) + stops.flush()
        if text:
            self._texts.append(text)
            yield TextDelta(self._request.id, text, (), self._clock())


def _describe(entry: ModelEntry, runner: AnyRunner, choice: DeviceChoice, load_s: float) -> ModelInfo:
    return ModelInfo(
        name=entry.name,
        label=entry.label,
        architecture=entry.architecture,
        parameters=entry.parameters,
        context_limit=runner.context_limit,
        device=choice.device.type,
        device_reason=choice.reason,
        dtype=str(choice.dtype).removeprefix("torch."),
        threads=choice.threads,
        weight_bytes=runner.weight_bytes,
        kv_bytes_per_token=runner.kv_bytes_per_token,
        load_s=load_s,
    )
