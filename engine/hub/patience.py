"""How long to wait for a hub, and how often to ask again."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from math import ceil
from typing import Final

from engine.chat import RequestHandle
from engine.events import LoadStage
from engine.hub.values import HubFailure
from engine.models.progress import Step, stop_if_cancelled

_POLL_S: Final = 0.1
# So much has to come for a try to count as one that helped; a server that sends a byte at a time is given up.
_PROGRESS_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds, in seconds.

    Attributes:
        connect_s: For a connection to be made.
        read_s: Without a byte.
        tries: In a row that bring nothing.
        first_wait_s: Before the second try; twice as long before each further one.
        longest_wait_s: Between two tries.
        longest_pause_s: That a hub may ask for; beyond it the person is told instead.
    """

    connect_s: float = 15.0
    read_s: float = 30.0
    tries: int = 5
    first_wait_s: float = 1.0
    longest_wait_s: float = 8.0
    longest_pause_s: float = 90.0


class Trouble(Exception):
    """Something that another try may mend.

    Attributes:
        failure: What to tell the person if it does not.
        pause_s: How long the hub asks to wait; None where it does not say.
        reached: Whether there was a connection to it.
    """

    def __init__(self, failure: HubFailure, pause_s: float | None = None, *, reached: bool = True) -> None:
        super().__init__(failure.sentence)
        self.failure = failure
        self.pause_s = pause_s
        self.reached = reached


class Tries:
    """Counts tries that brought nothing, and waits between them."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failed = 0

    def wait(self, trouble: Trouble, brought: int, handle: RequestHandle) -> Generator[Step, None, None]:
        """Wait before the next try.

        Args:
            trouble: Why there has to be one.
            brought: Bytes that came nevertheless.
            handle: Cancels.

        Raises:
            HubFailure: It was the last try, or the hub asks for too long a pause.
            Cancelled: `handle` was cancelled.
        """
        self._failed = 0 if brought >= _PROGRESS_BYTES else self._failed + 1
        if self._failed >= self._patience.tries:
            raise trouble.failure from trouble
        seconds = self._seconds(trouble)
        until = time.monotonic() + seconds
        yield Step(LoadStage.DOWNLOAD, 0, 0, _waiting(trouble, ceil(seconds)))
        while (left := until - time.monotonic()) > 0:
            stop_if_cancelled(handle)
            time.sleep(min(left, _POLL_S))

    def _seconds(self, trouble: Trouble) -> float:
        if trouble.pause_s is None:
            return min(self._patience.longest_wait_s, self._patience.first_wait_s * 2.0 ** max(0, self._failed - 1))
        if trouble.pause_s > self._patience.longest_pause_s:
            raise trouble.failure from trouble
        return trouble.pause_s


def _waiting(trouble: Trouble, seconds: int) -> str:
    if trouble.reached:
        return f"The hub does not give it now; trying again in {seconds} s"
    return f"The hub cannot be reached; trying again in {seconds} s"
