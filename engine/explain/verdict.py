"""What a turn was bound by, and what would help: one sentence with numbers, from its trace and the machine's profile.

Time is accounted for first. Whatever should not have been (waiting, a broken prefix, swapping, other programs) is named
if it took a quarter of the turn; if nothing did, the longer of prefill and decode is, with what limits it: reading
memory, computing, or the overhead of each step. Pure; what is not known is said to be not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.explain import words
from engine.explain.figures import gaps_ms, is_stall, ratio, usual_gap_ms, wall_s
from engine.explain.profile import MachineProfile
from engine.explain.served import PATH
from engine.explain.trace import BreakReason, Phases, StallCause, TurnTrace, Usage

_NOTABLE: Final = 0.25  # of the turn
_BANDWIDTH_BOUND: Final = 0.6  # of what the machine can read: no step gets all of it
_MANY_FAULTS: Final = 256  # pages, 1 MB
_BUSY: Final = 0.15  # of all processors, used by others while there was none to spare
_FULL: Final = 0.85
_IDLE: Final = 0.2  # processor seconds a second, below which nothing is being computed
_BITS: Final = {"float32": 32.0, "float16": 16.0, "bfloat16": 16.0, "int8": 8.5, "nf4": 4.5, "int4": 5.0}
_NOT_BROKEN: Final = (BreakReason.NONE, BreakReason.FIRST_TURN, BreakReason.NO_REUSE, BreakReason.NOT_KNOWN)


class VerdictKind(StrEnum):
    """What a turn was bound by."""

    NOT_KNOWN = "not_known"
    QUEUE = "queue"
    LOAD = "load"
    COLD_START = "cold_start"
    PREFIX_LOSS = "prefix_loss"
    PREFILL = "prefill"  # computing the prompt
    BANDWIDTH = "bandwidth"  # reading memory for each token
    OVERHEAD = "overhead"  # whatever a step takes beyond reading memory
    SWAP = "swap"
    OTHER_PROCESS = "other_process"
    THROTTLED = "throttled"
    SERVER = "server"  # whatever goes on elsewhere
    STALLS = "stalls"  # of any other cause, or of none that is known


@dataclass(frozen=True, slots=True)
class Number:
    """A figure behind a sentence.

    Attributes:
        name: What it is, e.g. "bytes_per_token".
        value: In `unit`.
        unit: "bytes", "bytes/s", "s", "ms", "tokens", "tokens/s", "pages" or "share".
    """

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a turn was bound by.

    Attributes:
        kind: For symbols and colours.
        sentence: One sentence with numbers.
        help: What would make it faster; empty where nothing needs to be done.
        numbers: What the sentences say, and some more.
    """

    kind: VerdictKind
    sentence: str
    help: str = ""
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Something that should not have been, and the seconds it took."""

    seconds: float
    verdict: Callable[[float], Verdict]


def verdict(trace: TurnTrace, profile: MachineProfile | None = None) -> Verdict:
    """What the turn was bound by.

    Args:
        trace: Of the turn.
        profile: Of the machine with this model; without it bounds by memory and overhead cannot be told apart.
    """
    wall = wall_s(trace)
    if not wall:
        return Verdict(VerdictKind.NOT_KNOWN, words.nothing_known(), words.nothing_known_help())
    worst = max(_troubles(trace), key=lambda trouble: trouble.seconds, default=None)
    if worst and worst.seconds >= _NOTABLE * wall:
        return worst.verdict(worst.seconds / wall)
    if trace.model.path == PATH:
        return _served_verdict(trace)
    prefill, decode = _usual_prefill(trace.phases), trace.phases.decode or 0.0
    if prefill >= decode:
        return _prefill_verdict(trace, profile)
    return _decode_verdict(trace, profile)


def _usual_prefill(phases: Phases) -> float:
    return (phases.template or 0.0) + (phases.prefill or 0.0) + (phases.first_token or 0.0)


def _troubles(trace: TurnTrace) -> Iterator[_Trouble]:
    phases = trace.phases
    yield _Trouble(phases.queue or 0.0, lambda share: _queue(phases.queue or 0.0, share))
    yield _Trouble(phases.load or 0.0, lambda share: _load(phases.load or 0.0, share))
    lost_s = _lost_s(trace)
    yield _Trouble(lost_s, lambda share: _prefix_loss(trace, lost_s, share))
    yield from _paging(trace)
    others_s = _others_s(trace) + _stalled_s(trace, (StallCause.OTHER_PROCESS,))
    yield _Trouble(others_s, lambda share: _others(trace, others_s, share))
    withheld_s = _withheld_s(trace)
    yield _Trouble(withheld_s, lambda share: _throttled(withheld_s, share))
    yield from _stalls(trace)


def _queue(seconds: float, share: float) -> Verdict:
    numbers = (Number("queue", seconds, "s"), Number("share", share, "share"))
    return Verdict(VerdictKind.QUEUE, words.queue(seconds, share), words.queue_help(), numbers)


def _load(seconds: float, share: float) -> Verdict:
    numbers = (Number("load", seconds, "s"), Number("share", share, "share"))
    return Verdict(VerdictKind.LOAD, words.load(seconds, share), words.load_help(), numbers)


def _lost_s(trace: TurnTrace) -> float:
    """Seconds of prefill for tokens that had been computed before."""
    if trace.prefix.reason in _NOT_BROKEN or trace.computed_tokens <= 0:
        return 0.0
    return (trace.phases.prefill or 0.0) * max(0.0, min(1.0, trace.prefix.lost / trace.computed_tokens))


def _prefix_loss(trace: TurnTrace, seconds: float, share: float) -> Verdict:
    lost = max(0, min(trace.prefix.lost, trace.computed_tokens))
    numbers = (Number("lost", lost, "tokens"), Number("seconds", seconds, "s"), Number("share", share, "share"))
    return Verdict(
        VerdictKind.PREFIX_LOSS,
        words.prefix_loss(lost, seconds, share),
        words.prefix_loss_help(trace.prefix.reason),
        numbers,
    )


def _paging(trace: TurnTrace) -> Iterator[_Trouble]:
    """Reading pages from disk: back from swap, or weights that were not in memory yet."""
    faulty = [use for use in trace.usage if (use.major_faults or 0) >= _MANY_FAULTS]
    faults = sum(use.major_faults or 0 for use in faulty)
    swapped = sum(max(0, use.swapped_in_bytes or 0) for use in faulty)
    seconds = sum(_waited_s(use, trace.model.threads) for use in faulty)
    seconds = max(seconds, _stalled_s(trace, (StallCause.SWAPPING,)))
    numbers = (Number("faults", faults, "pages"), Number("swapped", swapped, "bytes"), Number("seconds", seconds, "s"))
    if trace.model.turns_before == 0 and not swapped:
        yield _Trouble(
            seconds,
            lambda share: Verdict(
                VerdictKind.COLD_START, words.cold_start(faults, seconds, share), words.cold_start_help(), numbers
            ),
        )
    else:
        yield _Trouble(
            seconds,
            lambda share: Verdict(VerdictKind.SWAP, words.swap(faults, seconds, share), words.swap_help(), numbers),
        )


def _waited_s(use: Usage, threads: int) -> float:
    """Seconds of a phase in which the engine's threads computed nothing."""
    if use.wall_s is None or use.cpu_s is None or use.wall_s <= 0:
        return 0.0
    return use.wall_s * max(0.0, 1 - use.cpu_s / (use.wall_s * max(1, threads)))


def _others_s(trace: TurnTrace) -> float:
    """Seconds by which other programs made the turn longer."""
    late = sum(max(0.0, stall.gap_ms) for stall in trace.stalls) / 1000  # each is counted by its own cause
    return sum(_others_in(use, late if use.phase == "decode" else 0.0) for use in trace.usage)


def _others_in(use: Usage, late_s: float) -> float:
    """Of one phase: the engine's thread waited for a processor, or, busily, for a helper that had none."""
    wall, waited = max(0.0, (use.wall_s or 0.0) - late_s), use.waited_s
    room = (use.wall_s or 0.0) * (use.cores or 0)
    share, own = ratio(use.others_cpu_s, room), ratio(use.cpu_s, room)
    if share is None or own is None or share < _BUSY:
        return 0.0
    computing = (use.cpu_s or 0.0) >= _IDLE * (use.wall_s or 0.0) or waited is None
    helpers = wall * min(1.0, share) if computing and share + own >= _FULL else 0.0
    return max(helpers, min(wall, waited or 0.0))


def _others(trace: TurnTrace, seconds: float, share: float) -> Verdict:
    used = sum(use.others_cpu_s or 0.0 for use in trace.usage)
    room = sum((use.wall_s or 0.0) * (use.cores or 0) for use in trace.usage)
    part = min(1.0, ratio(used, room) or 0.0)
    numbers = (Number("others", part, "share"), Number("seconds", seconds, "s"), Number("share", share, "share"))
    return Verdict(VerdictKind.OTHER_PROCESS, words.others(part, seconds), words.others_help(), numbers)


def _withheld_s(trace: TurnTrace) -> float:
    """Seconds of processor time that a limit or the host withheld."""
    stolen = sum((use.stolen_s or 0.0) / max(1, use.cores or 1) for use in trace.usage)
    return max(0.0, sum(use.throttled_s or 0.0 for use in trace.usage) + stolen)


def _throttled(seconds: float, share: float) -> Verdict:
    numbers = (Number("withheld", seconds, "s"), Number("share", share, "share"))
    return Verdict(VerdictKind.THROTTLED, words.throttled(seconds, share), words.throttled_help(), numbers)


def _stalled_s(trace: TurnTrace, causes: tuple[StallCause | None, ...]) -> float:
    return sum(max(0.0, stall.gap_ms) for stall in trace.stalls if stall.cause in causes) / 1000


def _stalls(trace: TurnTrace) -> Iterator[_Trouble]:
    """Late tokens by cause, for the causes that nothing above counts."""
    for cause in sorted({stall.cause for stall in trace.stalls}, key=str):
        if cause not in (StallCause.OTHER_PROCESS, StallCause.SWAPPING, StallCause.THROTTLED):
            yield _Trouble(_stalled_s(trace, (cause,)), _stall_verdict(trace, cause))


def _stall_verdict(trace: TurnTrace, cause: StallCause | None) -> Callable[[float], Verdict]:
    of = [stall for stall in trace.stalls if stall.cause == cause]
    longest = max(of, key=lambda stall: stall.gap_ms)

    def made(share: float) -> Verdict:
        numbers = (Number("stalls", len(of), "tokens"), Number("longest", longest.gap_ms, "ms"))
        sentence = words.stalls(len(of), longest.gap_ms, share)
        return Verdict(VerdictKind.STALLS, sentence, longest.detail or words.cause_not_known(), numbers)

    return made


def _served_verdict(trace: TurnTrace) -> Verdict:
    """What is seen from here of a turn on a server."""
    waited, wrote = trace.phases.first_token or 0.0, trace.phases.decode or 0.0
    numbers = (Number("waited", waited, "s"), Number("wrote", wrote, "s"))
    return Verdict(VerdictKind.SERVER, words.served(waited, wrote), words.served_help(), numbers)


def _prefill_verdict(trace: TurnTrace, profile: MachineProfile | None) -> Verdict:
    tokens, seconds = trace.computed_tokens, trace.phases.prefill
    rate = ratio(tokens or None, seconds)
    if rate is None or seconds is None:
        return Verdict(VerdictKind.NOT_KNOWN, words.nothing_known(), words.nothing_known_help())
    numbers = [Number("computed", tokens, "tokens"), Number("seconds", seconds, "s"), Number("rate", rate, "tokens/s")]
    best = ratio(profile.matrix_rate, 2 * trace.model.linear_parameters) if profile else None
    if best is None:
        sentence = words.prefill(tokens, seconds, rate)
    else:
        numbers.append(Number("best_rate", best, "tokens/s"))
        sentence = words.prefill_of(tokens, seconds, rate, best)
    return Verdict(VerdictKind.PREFILL, sentence, words.prefill_help(trace.cached_tokens), tuple(numbers))


def _decode_verdict(trace: TurnTrace, profile: MachineProfile | None) -> Verdict:
    gaps = gaps_ms(trace)
    step_ms = usual_gap_ms(
        [gap for gap in gaps if not is_stall(gap, usual_gap_ms(gaps, trace.accepted))], trace.accepted
    )
    weights, cache = trace.model.weight_bytes_per_token, _cache_bytes(trace)
    achieved = ratio(weights + cache, (step_ms or 0.0) / 1000) if weights > 0 else None
    if step_ms is None or achieved is None:
        return Verdict(VerdictKind.NOT_KNOWN, words.too_short(), words.nothing_known_help())
    numbers: tuple[Number, ...] = (
        Number("bytes_per_token", weights + cache, "bytes"),
        Number("step", step_ms, "ms"),
        Number("achieved", achieved, "bytes/s"),
    )
    possible = profile.read_bandwidth(weights) if profile else None
    if not possible:
        return Verdict(VerdictKind.NOT_KNOWN, words.decode(weights + cache, achieved), words.not_measured(), numbers)
    numbers = (*numbers, Number("possible", possible, "bytes/s"))
    if achieved >= _BANDWIDTH_BOUND * possible:
        sentence = words.bandwidth(weights + cache, achieved, max(achieved, possible))
        return Verdict(VerdictKind.BANDWIDTH, sentence, _bandwidth_help(trace, cache), numbers)
    reading_ms = 1000 * (weights + cache) / possible
    numbers = (*numbers, Number("reading", reading_ms, "ms"))
    if trace.model.path in ("kernels", "graph"):
        sentence, advice = words.step_work(step_ms, reading_ms), words.step_work_help()
    else:
        sentence, advice = words.overhead(step_ms, reading_ms), words.overhead_help(trace.model.device)
    return Verdict(VerdictKind.OVERHEAD, sentence, advice, numbers)


def _cache_bytes(trace: TurnTrace) -> int:
    """Bytes of keys and values that a step of this reply reads, at its middle."""
    return max(0, (trace.prompt_tokens + trace.generated_tokens // 2) * trace.model.kv_bytes_per_token)


def _bandwidth_help(trace: TurnTrace, cache: int) -> str:
    weights, bits = trace.model.weight_bytes_per_token, _BITS.get(trace.model.dtype, 0.0)
    if cache > weights:
        return words.cache_is_read(cache / (weights + cache))
    four = _BITS["int4" if trace.model.device == "cpu" else "nf4"]
    if bits > four + 1:
        return words.fewer_bits((weights + cache) / (weights * four / bits + cache))
    return words.few_bits_already()
