"""How long work of the window takes, told so that a busy machine does not make a test fail."""

from __future__ import annotations

import time
from collections.abc import Callable


def least_s(action: Callable[[], object], times: int = 5) -> float:
    """CPU seconds of this thread, the least of several runs: neither other programs nor a garbage collection count."""
    taken = []
    for _ in range(times):
        begun = time.thread_time()
        action()
        taken.append(time.thread_time() - begun)
    return min(taken)
