"""What held up a token, by what the machine did meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.explain import words
from engine.explain.trace import Stall, StallCause, Usage

_MOST_OF_IT: Final = 0.5  # of a gap: then it explains the gap
_PART_OF_IT: Final = 0.3  # of a gap: withheld time, which is counted in coarse steps
_FEW_PAGES: Final = 16
_OTHERS: Final = 0.25  # of all processors
_IDLE: Final = 0.25  # processor seconds a second, below which nothing is being computed
_FULL: Final = 0.9  # of all processors


@dataclass(frozen=True, slots=True)
class Evidence:
    """What happened while a token did not come.

    Attributes:
        index: Which token was late.
        gap_s: Seconds since the token before it.
        away_s: Of them, before the engine was asked for the next token.
        cpu_s: Processor seconds of this program in the gap.
        faults: Pages read from disk in the gap; None where the system does not tell.
        grown: Bytes the cache has after it moved in this time; 0 if it did not.
        window: What the machine did in the gap and a fraction of a second before it.
    """

    index: int
    gap_s: float
    away_s: float
    cpu_s: float
    faults: int | None
    grown: int
    window: Usage


def explain(seen: Evidence) -> Stall:
    """The stall with the first cause that accounts for it, the surest ones first; without one if none does."""
    for cause, detail in (_consumer(seen), _garbage(seen), _withheld(seen), _paged(seen), _grown(seen), _waited(seen)):
        if cause:
            return Stall(seen.index, 1000 * seen.gap_s, cause, detail)
    return Stall(seen.index, 1000 * seen.gap_s)


_Found = tuple[StallCause | None, str]
_NOTHING: Final[_Found] = (None, "")


def _consumer(seen: Evidence) -> _Found:
    if seen.away_s < _MOST_OF_IT * seen.gap_s:
        return _NOTHING
    return StallCause.CONSUMER, words.consumer_detail(1000 * seen.away_s)


def _garbage(seen: Evidence) -> _Found:
    seconds = seen.window.collections_s or 0.0
    if seconds < _MOST_OF_IT * seen.gap_s:
        return _NOTHING
    return StallCause.GARBAGE_COLLECTION, words.collection_detail(1000 * seconds)


def _withheld(seen: Evidence) -> _Found:
    throttled, stolen = seen.window.throttled_s or 0.0, seen.window.stolen_s or 0.0
    if throttled >= _PART_OF_IT * seen.gap_s:
        return StallCause.THROTTLED, words.throttled_detail(1000 * throttled)
    if stolen >= _PART_OF_IT * seen.gap_s:
        return StallCause.THROTTLED, words.stolen_detail(1000 * stolen)
    return _NOTHING


def _paged(seen: Evidence) -> _Found:
    if (seen.faults or 0) < _FEW_PAGES:
        return _NOTHING
    swapped = seen.window.swapped_in_bytes or 0
    return StallCause.SWAPPING, words.swapped_detail(swapped) if swapped else words.fault_detail(seen.faults or 0)


def _grown(seen: Evidence) -> _Found:
    # It is copied by one thread, which computes all the time.
    if not seen.grown or seen.cpu_s < _MOST_OF_IT * seen.gap_s:
        return _NOTHING
    return StallCause.CACHE_GROWTH, words.growth_detail(seen.grown)


def _waited(seen: Evidence) -> _Found:
    """Another program had the processors, or there was something else to wait for."""
    wall, cores, others = seen.window.wall_s or 0.0, seen.window.cores or 0, seen.window.others_cpu_s
    share = None if others is None or wall * cores <= 0 else others / (wall * cores)
    idle = seen.cpu_s < _IDLE * seen.gap_s
    full = share is not None and others is not None and others + (seen.window.cpu_s or 0.0) >= _FULL * wall * cores
    if share is not None and share >= _OTHERS and (full or not idle):
        return StallCause.OTHER_PROCESS, words.other_process_detail(min(1.0, share), cores)
    return (StallCause.SLEPT, words.slept_detail(1000 * seen.cpu_s)) if idle else _NOTHING
