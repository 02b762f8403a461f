"""Whether the kernels can run on this processor, and compiling them ahead of their first use."""

from __future__ import annotations

import time

from engine.kernels.step import forward
from engine.kernels.target import TARGET


def available() -> tuple[bool, str]:
    """Whether this processor can run the kernels, and the reason in words if it cannot."""
    if TARGET.missing:
        return False, f"this processor lacks {', '.join(TARGET.missing)}"
    return True, ""


def is_compiled() -> bool:
    """Whether a pass can start without compiling first."""
    return forward.compiled


def warm_up() -> float:
    """Compile the kernels, or read them from the cache folder; from any thread.

    Returns:
        The time it took, in seconds.
    """
    start = time.perf_counter()
    forward.compile()
    return time.perf_counter() - start
