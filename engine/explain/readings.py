"""What the machine says of itself at a moment: processor time, page faults, withheld time. Read in some 50 us.

Everything is a counter since some past moment, so only differences mean anything. Linux tells all of it; where a
system does not tell something it stays None.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil

from engine.explain.figures import seconds_between
from engine.explain.trace import Usage

if sys.platform != "win32":
    import resource

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PROC: Final = Path("/proc")
_CPU_LIMITS: Final = (Path("/sys/fs/cgroup/cpu.stat"), Path("/sys/fs/cgroup/cpu/cpu.stat"))  # cgroup 2, then 1


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one moment.

    Attributes:
        at: `time.perf_counter()` in seconds.
        cpu_s: Processor seconds of this process, all threads.
        busy_s: Processor seconds of all processes, on the processors this one may use.
        stolen_s: Processor seconds that the hypervisor gave to others.
        waited_s: Seconds for which the thread that reads was ready to run and had no processor.
        major_faults: Pages of this process that were read from disk.
        switches: Times another process took the place of one of its threads.
        swapped_in: Bytes read back from swap, for all processes.
        throttled_s: Seconds for which the container's limit withheld processors.
        collections: Garbage collections, and seconds in them.
        collections_s: Seconds.
    """

    at: float
    cpu_s: float
    busy_s: float | None = None
    stolen_s: float | None = None
    waited_s: float | None = None
    major_faults: int | None = None
    switches: int | None = None
    swapped_in: int | None = None
    throttled_s: float | None = None
    collections: int = 0
    collections_s: float = 0.0


class Collections:
    """Counts garbage collections, of any thread, while it is entered: each holds up every other thread's Python."""

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self._began: float | None = None

    def __enter__(self) -> Self:
        gc.callbacks.append(self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        elif self._began is not None:
            self.count += 1
            self.seconds += time.perf_counter() - self._began
            self._began = None


class Meter:
    """Reads the counters.

    Args:
        collections: Counts garbage collections; None leaves them at zero.
        proc: The proc file system, elsewhere in tests.
        limits: Files that may tell of a container's processor limit; the first that can be read counts.
    """

    def __init__(
        self, collections: Collections | None = None, proc: Path = _PROC, limits: Iterable[Path] = _CPU_LIMITS
    ) -> None:
        self._collections = collections
        self._stat, self._vmstat = proc / "stat", proc / "vmstat"
        self._schedule = proc / "thread-self" / "schedstat"
        self._limit = next((path for path in limits if _text(path)), None)
        self._processors = _usable_processors()
        self._linux = bool(_text(self._stat))

    @property
    def cores(self) -> int:
        """Processors that this process may use."""
        return len(self._processors)

    def read(self) -> Reading:
        """All counters, now."""
        busy, stolen = self._busy()
        faults, switches = own_faults()
        counted = self._collections
        return Reading(
            at=time.perf_counter(),
            cpu_s=time.process_time(),
            busy_s=busy,
            stolen_s=stolen,
            waited_s=self._waited(),
            major_faults=faults,
            switches=switches,
            swapped_in=self._swapped_in(),
            throttled_s=self._throttled(),
            collections=counted.count if counted else 0,
            collections_s=counted.seconds if counted else 0.0,
        )

    def _busy(self) -> tuple[float | None, float | None]:
        """Seconds of work, and of time given to other machines, summed over the processors that may be used."""
        if not self._linux:
            times = psutil.cpu_times()
            return times.user + times.system, None
        busy = stolen = 0
        for line in _text(self._stat).splitlines()[1:]:
            name, *counts = line.split()
            if not name.startswith("cpu"):
                break
            if int(name[3:]) in self._processors:
                user, nice, system, _idle, _wait, irq, soft, steal = map(int, counts[:8])
                busy += user + nice + system + irq + soft
                stolen += steal
        return busy / _TICKS_PER_S, stolen / _TICKS_PER_S

    def _swapped_in(self) -> int | None:
        pages = _counter(_text(self._vmstat), "pswpin") if self._linux else None
        return None if pages is None else pages * _PAGE

    def _waited(self) -> float | None:
        counts = _text(self._schedule).split()
        return int(counts[1]) / 1e9 if len(counts) > 1 else None

    def _throttled(self) -> float | None:
        if self._limit is None:
            return None
        text = _text(self._limit)
        micro, nano = _counter(text, "throttled_usec"), _counter(text, "throttled_time")
        return micro / 1e6 if micro is not None else nano / 1e9 if nano is not None else None


def own_faults() -> tuple[int | None, int | None]:
    """Major page faults of this process, and how often another took its place; None where the system does not tell."""
    if sys.platform == "win32":
        return None, None
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_majflt, own.ru_nivcsw


def usage(phase: str, before: Reading, after: Reading, cores: int) -> Usage:
    """What happened between two readings."""
    own = seconds_between(before.cpu_s, after.cpu_s)
    busy = seconds_between(before.busy_s, after.busy_s)
    return Usage(
        phase=phase,
        wall_s=seconds_between(before.at, after.at),
        cores=cores,
        cpu_s=own,
        others_cpu_s=None if own is None or busy is None else max(0.0, busy - own),
        waited_s=seconds_between(before.waited_s, after.waited_s),
        major_faults=_difference(before.major_faults, after.major_faults),
        swapped_in_bytes=_difference(before.swapped_in, after.swapped_in),
        switches=_difference(before.switches, after.switches),
        throttled_s=seconds_between(before.throttled_s, after.throttled_s),
        stolen_s=seconds_between(before.stolen_s, after.stolen_s),
        collections=_difference(before.collections, after.collections),
        collections_s=seconds_between(before.collections_s, after.collections_s),
    )


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before


def _usable_processors() -> frozenset[int]:
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _text(path: Path) -> str:
    """A small file of the kernel's, empty where there is none."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _counter(text: str, name: str) -> int | None:
    """The number behind a name in lines of "name number"."""
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.strip().isdecimal():
            return int(value)
    return None
