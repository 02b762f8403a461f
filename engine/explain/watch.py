"""Watches a reply being decoded, at the cost of a few microseconds a token.

The counters of the machine are read four times a second and whenever a token came late, so that what happened in the
gap can be told from what happened before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from engine.explain.figures import STALL_MS, stalled
from engine.explain.readings import Meter, Reading, own_faults, usage
from engine.explain.stalls import Evidence, explain
from engine.explain.trace import Stall
from engine.kv_cache import KVCache

_EVERY_S: Final = 0.25
_SUSPECT: Final = 2.0  # times the mean; what is a stall is decided when the median is known
_JUMP: Final = 2.0  # times what the new tokens take: then the cache has moved


class GrowthWatch:
    """Notices when a cache has moved to a larger place, rather than grown by what its tokens take."""

    def __init__(self, cache: KVCache, bytes_per_token: int) -> None:
        self._cache = cache
        self._each = bytes_per_token
        self._tokens, self._nbytes = len(cache.ids), cache.nbytes
        self.moves = 0

    def look(self) -> int:
        """Bytes the cache has now if it moved since the last look, else 0."""
        tokens, nbytes = len(self._cache.ids), self._cache.nbytes
        expected = _JUMP * self._each * max(1, tokens - self._tokens)
        moved = nbytes - self._nbytes > expected
        self._tokens, self._nbytes = tokens, nbytes
        self.moves += moved
        return nbytes if moved else 0


class DecodeWatch:
    """Told of every token of a reply.

    Args:
        meter: Reads the machine's counters.
        growth: Of the conversation's cache.
        clock: The turn's, in seconds.
    """

    def __init__(self, meter: Meter, growth: GrowthWatch, clock: Callable[[], float]) -> None:
        self._meter = meter
        self._growth = growth
        self._clock = clock
        self._evidence: list[Evidence] = []
        self._reading: Reading = meter.read()
        self._count = 0
        self._usual_s = 0.0  # the sum of the gaps that were as usual, and how many there were
        self._usual = 0
        self._last = self._away = 0.0
        self._cpu, self._faults = time.process_time(), own_faults()[0]

    def token(self, at: float) -> None:
        """A token was sampled."""
        gap = at - self._last
        if self._count and self._suspicious(gap):
            self._note(gap)
        else:
            if self._count:
                self._usual_s += gap
                self._usual += 1
            if time.perf_counter() - self._reading.at > _EVERY_S:
                self._reading = self._meter.read()
                self._growth.look()
        self._count += 1
        self._last = at
        self._cpu, self._faults = time.process_time(), own_faults()[0]

    def resumed(self) -> None:
        """The engine is asked for the next token."""
        self._away = self._clock() - self._last

    def stalls(self, gaps_ms: Sequence[float], free: int) -> tuple[Stall, ...]:
        """The stalls among the gaps, each with its cause where one is known; `free` as in `usual_gap_ms`."""
        known = {evidence.index: evidence for evidence in self._evidence}
        return tuple(
            explain(known[index]) if index in known else Stall(index, gaps_ms[index - 1])
            for index in stalled(gaps_ms, free)
        )

    def _suspicious(self, gap: float) -> bool:
        return gap * 1000 > STALL_MS and (self._usual < 3 or gap * self._usual > _SUSPECT * self._usual_s)

    def _note(self, gap: float) -> None:
        now, faults = self._meter.read(), own_faults()[0]
        self._evidence.append(
            Evidence(
                index=self._count,
                gap_s=gap,
                away_s=self._away,
                cpu_s=max(0.0, now.cpu_s - self._cpu),
                faults=None if faults is None or self._faults is None else faults - self._faults,
                grown=self._growth.look(),
                window=usage("decode", self._reading, now, self._meter.cores),
            )
        )
        self._reading = now
