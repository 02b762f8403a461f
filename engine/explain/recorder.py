"""Takes notes of one turn while it runs, and makes its trace of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Protocol, Self

from engine.explain import words
from engine.explain.figures import STALL_MS, gaps_ms, seconds_between, ticks
from engine.explain.readings import Collections, Meter, Reading, usage
from engine.explain.trace import (
    TICK_MS,
    KvState,
    KvTrace,
    MemoryState,
    ModelFacts,
    Phases,
    PrefixBreak,
    Segment,
    Stall,
    StallCause,
    TurnTrace,
    Usage,
)
from engine.explain.watch import DecodeWatch, GrowthWatch
from engine.kv_cache import KVCache

_BORDERS: Final = (
    ("template", "started", "templated"),
    ("prefill", "templated", "prefilled"),
    ("decode", "prefilled", "ended"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn came to.

    Attributes:
        reason: The value of its `FinishReason`.
        prompt: Its token ids.
        cached, computed: How many of them were reused, and computed.
        reply: The ids that were generated.
        text: What they say.
        left_out: Indices of the messages that did not fit.
        drafted, accepted: Tokens of prompt-lookup decoding.
    """

    reason: str
    prompt: Sequence[int]
    cached: int
    computed: int
    reply: tuple[int, ...]
    text: str
    left_out: tuple[int, ...]
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of a turn from elsewhere."""

    model: ModelFacts = field(default_factory=ModelFacts)
    memory: MemoryState = field(default_factory=MemoryState)
    segments: tuple[Segment, ...] = ()
    prefix: PrefixBreak = field(default_factory=PrefixBreak)


class Notes(Protocol):
    """What a turn tells of itself while it runs. Entered before the first call, left after the last."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def started(self) -> None:
        """The worker took the request."""

    def templated(self) -> None:
        """The prompt's token ids are ready."""

    def opened(self, cache: KVCache, source: str, spilled: tuple[int, float]) -> None:
        """The cache was found, and is not cut yet; bytes that were written to disk for it, and seconds of that."""

    def reading(self) -> None:
        """Prefill begins to compute."""

    def chunk(self, done: int) -> None:
        """So many tokens of the prompt were computed by now."""

    def prefilled(self) -> None:
        """The prompt's logits are known."""

    def token(self, at: float) -> None:
        """A token was sampled."""

    def resumed(self) -> None:
        """The engine is asked for the next token."""

    def finished(self, outcome: Outcome) -> TurnTrace | None:
        """The reply is complete: the trace, if there is one."""


class NoNotes:
    """Takes none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to undo."""

    def started(self) -> None:
        """Nothing is noted."""

    templated = reading = prefilled = resumed = started

    def opened(self, cache: KVCache, source: str, spilled: tuple[int, float]) -> None:
        """Nothing is noted."""

    def chunk(self, done: int) -> None:
        """Nothing is noted."""

    def token(self, at: float) -> None:
        """Nothing is noted."""

    def finished(self, outcome: Outcome) -> TurnTrace | None:
        """There is no trace."""
        return None


class Recorder:
    """Notes of one turn.

    Args:
        submitted: When Enter was pressed, by `clock`.
        load_overlap: Seconds of [from, to] in which there was no model, or one was being loaded.
        bytes_per_token: That a cache grows by.
        clock: The turn's, in seconds; it may jump.
        around: Completes a trace with what is known from elsewhere.
    """

    def __init__(
        self,
        submitted: float,
        load_overlap: Callable[[float, float], float],
        bytes_per_token: int,
        clock: Callable[[], float],
        around: Callable[[Outcome, KVCache], Around],
    ) -> None:
        self._submitted = submitted
        self._load_overlap = load_overlap
        self._each = bytes_per_token
        self._clock = clock
        self._around = around
        self._collections = Collections()
        self._meter = Meter(self._collections)
        self._moments: dict[str, float] = {}
        self._readings: dict[str, Reading] = {}
        self._chunks: list[tuple[int, float]] = []
        self._times: list[float] = []
        self._kv = KvTrace()
        self._cache: KVCache | None = None
        self._growth: GrowthWatch | None = None
        self._watch: DecodeWatch | None = None

    def __enter__(self) -> Self:
        self._collections.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._collections.__exit__(kind, error, trace)

    def started(self) -> None:
        """The worker took the request."""
        self._border("started")

    def templated(self) -> None:
        """The prompt's token ids are ready."""
        self._border("templated")

    def opened(self, cache: KVCache, source: str, spilled: tuple[int, float]) -> None:
        """The cache was found, and is not cut yet; bytes that were written to disk for it, and seconds of that."""
        self._cache = cache
        self._growth = GrowthWatch(cache, self._each)
        state = KvState(len(cache.ids), cache.nbytes)
        open_s = seconds_between(self._moments.get("templated"), self._clock())
        nbytes, spill_s = spilled
        self._kv = KvTrace(state, state, source, 0, open_s, nbytes, spill_s if nbytes else None)

    def reading(self) -> None:
        """Prefill begins to compute."""
        self._moments["reading"] = self._clock()

    def chunk(self, done: int) -> None:
        """So many tokens of the prompt were computed by now."""
        self._chunks.append((done, self._clock()))
        if self._growth:
            self._growth.look()

    def prefilled(self) -> None:
        """The prompt's logits are known."""
        self._border("prefilled")
        if self._growth:
            self._watch = DecodeWatch(self._meter, self._growth, self._clock)

    def token(self, at: float) -> None:
        """A token was sampled."""
        self._times.append(at)
        if self._watch:
            self._watch.token(at)

    def resumed(self) -> None:
        """The engine is asked for the next token."""
        if self._watch:
            self._watch.resumed()

    def finished(self, outcome: Outcome) -> TurnTrace | None:
        """The reply is complete: its trace. None if no cache was ever opened."""
        self._border("ended")
        return self._trace(outcome, self._around(outcome, self._cache)) if self._cache else None

    def _trace(self, outcome: Outcome, around: Around) -> TurnTrace:
        reading = ticks(self._submitted, [self._moments["reading"]]) if "reading" in self._moments else ()
        sizes = [done - before for (before, _), (done, _) in zip([(0, 0.0), *self._chunks], self._chunks, strict=False)]
        trace = TurnTrace(
            reason=outcome.reason,
            wall_s=seconds_between(self._submitted, self._moments.get("ended")),
            phases=self._phases(),
            token_times=ticks(self._submitted, self._times),
            drafted=outcome.drafted,
            accepted=outcome.accepted,
            prompt_tokens=len(outcome.prompt),
            cached_tokens=outcome.cached,
            computed_tokens=outcome.computed,
            generated_tokens=len(outcome.reply),
            chunk_tokens=tuple(sizes),
            chunk_times=ticks(self._moments.get("reading", 0.0), [at for _, at in self._chunks]),
            prefill_from=reading[0] if reading else None,
            segments=around.segments,
            prefix=around.prefix,
            kv=self._kv_trace(),
            memory=around.memory,
            model=around.model,
            usage=self._usage(),
        )
        return _with_stalls(trace, self._watch)

    def _border(self, name: str) -> None:
        self._moments[name] = self._clock()
        self._readings[name] = self._meter.read()

    def _phases(self) -> Phases:
        at = self._moments.get
        waited = seconds_between(self._submitted, at("started"))
        load = None if waited is None else min(waited, self._load_overlap(self._submitted, self._moments["started"]))
        first = self._times[0] if self._times else at("ended")
        return Phases(
            queue=None if waited is None or load is None else waited - load,
            load=load,
            template=seconds_between(at("started"), at("templated")),
            prefill=seconds_between(at("templated"), at("prefilled")),
            first_token=seconds_between(at("prefilled"), first),
            decode=seconds_between(first, at("ended")),
        )

    def _usage(self) -> tuple[Usage, ...]:
        read, cores = self._readings, self._meter.cores
        return tuple(usage(name, read[a], read[b], cores) for name, a, b in _BORDERS if a in read and b in read)

    def _kv_trace(self) -> KvTrace:
        cache, growth = self._cache, self._growth
        if cache is None or growth is None:
            return self._kv
        growth.look()
        return dataclasses.replace(self._kv, after=KvState(len(cache.ids), cache.nbytes), growths=growth.moves)


def _with_stalls(trace: TurnTrace, watch: DecodeWatch | None) -> TurnTrace:
    """The trace with the tokens that came late: the first one, where making room took long, and those of the reply."""
    found: list[Stall] = []
    spill_ms = 1000 * (trace.kv.spill_s or 0.0)
    if trace.token_times and spill_ms > STALL_MS:
        found.append(
            Stall(0, trace.token_times[0] * TICK_MS, StallCause.SPILL, words.spill_detail(trace.kv.spilled_bytes))
        )
    if watch:
        found += watch.stalls(gaps_ms(trace), trace.accepted)
    return trace.with_stalls(tuple(found))
