"""Measures how long the window's thread cannot respond: the gaps between ticks of a 5 ms timer, by phase."""

from __future__ import annotations

import faulthandler
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

from PySide6.QtCore import QObject, Qt, QTimer

from engine.stats import percentile

INTERVAL_MS: Final = 5


@dataclass(frozen=True, slots=True)
class Gaps:
    """Milliseconds between two ticks in one phase; about 5 when nothing is in the way."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float


class GuiProbe(QObject):
    """Ticks in the thread it was made in.

    Args:
        dump_to: Where the stacks of all threads are written when a gap lasts longer than `dump_after_s` seconds, even
            if the interpreter lock is held; None writes nothing.
        clock: Seconds. `time.thread_time` tells what the thread itself worked between two ticks, which other programs
            on a busy machine do not make longer.
    """

    def __init__(
        self,
        dump_to: IO[str] | None = None,
        dump_after_s: float = 0.1,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(parent)
        self._gaps: defaultdict[str, list[float]] = defaultdict(list)
        self._clock = clock
        self._phase = ""
        self._phase_at_tick = ""
        self._last = 0.0
        self._dump_to = dump_to
        self._dump_after_s = dump_after_s
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._tick)

    def start(self, phase: str) -> None:
        """Begin to measure."""
        self._phase = self._phase_at_tick = phase
        self._last = self._clock()
        self._timer.start()

    def mark(self, phase: str) -> None:
        """From the next tick on, gaps belong to this phase; the one in progress still belongs to the one before."""
        self._phase = phase

    def stop(self) -> None:
        """Measure no more."""
        self._timer.stop()
        if self._dump_to is not None:
            faulthandler.cancel_dump_traceback_later()

    def gaps(self) -> dict[str, Gaps]:
        """The gaps of each phase, in the order in which the phases came first."""
        return {phase: _summary(values) for phase, values in self._gaps.items()}

    def longest(self) -> tuple[str, float]:
        """The phase with the longest gap, and the gap in milliseconds; ("", 0.0) before the first tick."""
        return max(
            ((phase, max(values)) for phase, values in self._gaps.items()), key=lambda x: x[1], default=("", 0.0)
        )

    def _tick(self) -> None:
        now = self._clock()
        self._gaps[self._phase_at_tick].append(1000.0 * (now - self._last))
        self._last = now
        self._phase_at_tick = self._phase
        if self._dump_to is not None:
            faulthandler.dump_traceback_later(self._dump_after_s, file=self._dump_to)


def _summary(values: list[float]) -> Gaps:
    p50, p95, p99 = (percentile(values, fraction) for fraction in (0.5, 0.95, 0.99))
    return Gaps(len(values), p50, p95, p99, max(values))
