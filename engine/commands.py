"""The worker's queue: commands in order, and at most one idle command, which gives way to everything else."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.chat import RequestHandle
from engine.events import Event


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One piece of work: its handle, and the events that doing it yields."""

    handle: RequestHandle
    run: Callable[[], Iterator[Event]]


class CommandQueue:
    """Filled by any thread, emptied by one. A command that was got is running until the next is asked for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Command] = deque()
        self._idle: Command | None = None
        self._running: Command | None = None
        self._running_idle = False
        self._closed = False

    def put(self, command: Command) -> None:
        """Add a command; an idle one that waits or runs is cancelled."""
        with self._changed:
            self._drop_idle()
            self._waiting.append(command)
            if self._closed:
                command.handle.cancel()
            self._changed.notify()

    def put_idle(self, command: Command) -> None:
        """Set what to do when nothing else is to be done, in place of what was set before."""
        with self._changed:
            self._drop_idle()
            if not self._closed:
                self._idle = command
                self._changed.notify()

    def get(self) -> Command | None:
        """Wait for the next command; None once the queue is closed and empty."""
        with self._changed:
            self._running = None
            self._changed.wait_for(lambda: self._waiting or self._idle or self._closed)
            self._running_idle = not self._waiting
            if self._waiting:
                self._running = self._waiting.popleft()
            else:
                self._running, self._idle = self._idle, None
            return self._running

    def close(self) -> None:
        """Cancel what runs and what waits; each command still gets to say so, then `get` gives None."""
        with self._changed:
            self._closed = True
            self._drop_idle()
            for command in (self._running, *self._waiting):
                if command is not None:
                    command.handle.cancel()
            self._changed.notify()

    def _drop_idle(self) -> None:
        self._idle = None
        if self._running is not None and self._running_idle:
            self._running.handle.cancel()
