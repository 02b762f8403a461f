"""How long the answer that is written takes the window to draw, and how often. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class DrawingTime:
    """Of one answer.

    Attributes:
        seconds: Spent so far.
        times: How many times text of it was put on the screen.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.times = 0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Count what is done inside."""
        begun = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - begun
