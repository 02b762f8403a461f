"""How much memory the machine has, and how much of it is free: read when it is asked for."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil

from engine.memory import Machine

# Where Linux says how much a container may take (cgroup 2 and 1); psutil knows the whole machine only.
_CONTAINER_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
_LOOK_S: Final = 0.005


def measure_machine(kind: str, limits: tuple[Path, ...] = _CONTAINER_LIMITS) -> Machine:
    """The memory of a device of this machine, now.

    Args:
        kind: "cpu", "cuda" or "mps"; the last shares the RAM.
        limits: Files that may hold a container's limit.
    """
    return _gpu() if kind == "cuda" else _ram(kind, limits)


def stated_machine(kind: str, total: int) -> Machine:
    """A machine that is only spoken of; what the program itself takes is measured here."""
    return Machine(kind, total, None, 0 if kind == "cuda" else resident())


def resident() -> int:
    """Bytes of RAM that this process holds now."""
    return int(psutil.Process().memory_info().rss)


def peak_resident() -> int:
    """The most RAM that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage would count what the parent held before it started this process
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # macOS counts bytes


def _ram(kind: str, limits: tuple[Path, ...]) -> Machine:
    memory, own = psutil.virtual_memory(), resident()
    most = min([int(memory.total), *filter(None, map(_container_limit, limits))])
    return Machine(kind, most, min(int(memory.available) + own, most), own)


def _container_limit(path: Path) -> int | None:
    """Bytes, or None where there is no such file or no limit in it."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _gpu() -> Machine:
    import torch

    free, total = torch.cuda.mem_get_info()
    return Machine("cuda", total, free + torch.cuda.memory_reserved(), 0)


class PeakSampler:
    """Watches how much RAM this process holds while a block runs.

    Attributes:
        peak: The most that was seen, in bytes; what comes and goes between two looks, 5 ms apart, is not.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-sampler", daemon=True)

    def __enter__(self) -> Self:
        self.peak = resident()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            self.peak = max(self.peak, resident())
