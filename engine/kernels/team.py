"""The threads that run a step together.

Numba's own thread pools do not suit a desktop program: the one that is always there (workqueue) polls while it idles
and ends the process if two threads use it, the others need libraries that many machines lack. These threads block on
a lock between steps, which costs nothing, and run compiled code that holds no interpreter lock.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

Part = Callable[[int, int], None]
"""What one thread does, given its number and how many there are."""


@dataclass(slots=True)
class _Helper:
    """One thread besides the caller's. The locks are used as signals: released by the one side, taken by the other."""

    wake: threading.Lock = field(default_factory=threading.Lock)
    done: threading.Lock = field(default_factory=threading.Lock)
    part: Part | None = None
    number: int = 0
    threads: int = 1
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.wake.acquire()
        self.done.acquire()

    def loop(self) -> None:
        """Run parts until woken without one."""
        while True:
            self.wake.acquire()
            if self.part is None:
                return
            try:
                self.part(self.number, self.threads)
            except BaseException as error:  # the caller's thread raises it
                self.error = error
            self.part = None
            self.done.release()

    def begin(self, part: Part) -> None:
        """Wake the thread up for a part."""
        self.part, self.error = part, None
        self.wake.release()

    def end(self) -> None:
        """Wait until the part is done; raise what it raised."""
        self.done.acquire()
        if self.error is not None:
            raise self.error


def _stop(helpers: list[_Helper]) -> None:
    for helper in helpers:
        helper.wake.release()


class Team:
    """The calling thread and `threads - 1` others, which are started with the first run and end with the team.

    Args:
        threads: At least 1.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._helpers: list[_Helper] = []

    def run(self, part: Part) -> None:
        """Run `part` on every thread at once; returns when all have ended. Not to be called from two threads."""
        self._start()
        for helper in self._helpers:
            helper.begin(part)
        try:
            part(0, self.threads)
        finally:
            for helper in self._helpers:
                helper.end()

    def _start(self) -> None:
        if len(self._helpers) == self.threads - 1:
            return
        self._helpers = [_Helper(number=number, threads=self.threads) for number in range(1, self.threads)]
        for helper in self._helpers:
            threading.Thread(target=helper.loop, name=f"kernels-{helper.number}", daemon=True).start()
        weakref.finalize(self, _stop, self._helpers)
