"""What held up a token, by what the machine did meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.explain import words
from engine.explain.figures import ratio
from engine.explain.trace import Stall, StallCause, Usage

_MOST_OF_IT: Final = 0.5  # of a gap: then it explains the gap
_PART_OF_IT: Final = 0.3  # of a gap: withheld time, which is counted in coarse steps
_FEW_PAGES: Final = 16
_OTHERS: Final = 0.25  # of all processors
_IDLE: Final = 0.2  # processor seconds a second, below which nothing is being computed
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
    # Copying it keeps one thread busy.
    if not seen.grown or seen.cpu_s < _IDLE * seen.gap_s:
        return _NOTHING
    return StallCause.CACHE_GROWTH, words.growth_detail(seen.grown)


def _waited(seen: Evidence) -> _Found:
    """Another program had the processors, or there was something else to wait for."""
    idle = seen.cpu_s < _IDLE * seen.gap_s
    share = ratio(seen.window.others_cpu_s, (seen.window.wall_s or 0.0) * (seen.window.cores or 0))
    if share is not None and _crowded(seen, share, idle):
        return StallCause.OTHER_PROCESS, words.other_process_detail(min(1.0, share), seen.window.cores or 0)
    return (StallCause.SLEPT, words.slept_detail(1000 * seen.cpu_s)) if idle else _NOTHING


def _crowded(seen: Evidence, share: float, idle: bool) -> bool:
    """Whether the engine would have computed had others not.

    Its own thread may have waited for a processor, or one that helps it, for which it then waits busily.
    """
    if (seen.window.waited_s or 0.0) >= _PART_OF_IT * seen.gap_s:
        return True
    own = ratio(seen.window.cpu_s, (seen.window.wall_s or 0.0) * (seen.window.cores or 0)) or 0.0
    return share >= _OTHERS and share + own >= _FULL and (not idle or seen.window.waited_s is None)
