"""How fast something goes and how long it still takes: over the last few seconds, so that a pause is seen soon."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from engine.events import LoadStage
from engine.models.progress import Step, megabytes

_WINDOW_S: Final = 8.0
_SHORTEST_S: Final = 0.5  # below it a rate is chance
_EVERY_S: Final = 0.2  # between two reports


class Meter:
    """Turns bytes into reports.

    Args:
        label: What is downloaded.
        total: Bytes in all.
        clock: Seconds that only grow.
    """

    def __init__(self, label: str, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._total = total
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()
        self._told = float("-inf")

    def begin(self, done: int) -> None:
        """What is done up to here says nothing about the rate: it was here already, or waited for."""
        self._marks.clear()
        self._marks.append((self._clock(), done))

    def due(self) -> bool:
        """Whether it is time for another report."""
        return self._clock() - self._told >= _EVERY_S

    def step(self, done: int) -> Step:
        """The report at so many bytes."""
        now = self._told = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _WINDOW_S:
            self._marks.popleft()
        rate = self._rate()
        left = (self._total - done) / rate if rate else None
        return Step(LoadStage.DOWNLOAD, done, self._total, self._sentence(done, rate, left), rate, left)

    def _rate(self) -> float | None:
        (first, before), (last, after) = self._marks[0], self._marks[-1]
        return (after - before) / (last - first) if last - first >= _SHORTEST_S else None

    def _sentence(self, done: int, rate: float | None, left: float | None) -> str:
        far = f"Downloading {self._label}: {megabytes(done)} of {megabytes(self._total)}"
        if rate is None or left is None:
            return far
        return f"{far}, {rate / 1e6:.1f} MB/s, {duration(left)} left"


def duration(seconds: float) -> str:
    """For people: "40 s", "12 min", "3 h 5 min"."""
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
