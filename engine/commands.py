"""The worker's queue: commands in order, requests of other programs behind them, and idle work behind everything.

A request of another program is interrupted between two tokens for what the person asks, and goes on afterwards. Several
of them take turns, so that a short one does not wait for the end of a long one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from engine.chat import RequestHandle
from engine.events import Event


class Idle(IntEnum):
    """Kinds of work for when nothing else is to be done; a smaller one goes first."""

    PREVIEW = 0  # a moment
    AHEAD = 1
    TITLE = 2
    PROFILE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One piece of work.

    Attributes:
        handle: Cancels it.
        run: Does it, and yields its events.
        emit: Who is told of them; None for whoever is told of all others.
        served: It is a request of another program, and gives way to what the person asks.
        between: It may be done while a served one is interrupted; what changes the model may not.
        key: Whose KV cache a served one uses. Of two with the same one, the second begins when the first has ended.
    """

    handle: RequestHandle
    run: Callable[[], Iterator[Event]]
    emit: Callable[[Event], None] | None = None
    served: bool = False
    between: bool = True
    key: str = ""


class CommandQueue:
    """Filled by any thread, emptied by one. A command that was got is running until the next is asked for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Command] = deque()
        self._served: deque[Command] = deque()
        self._begun: set[Command] = set()  # of the served ones that wait, those that have had a turn
        self._inner: Command | None = None  # runs while `_running`, a served one, is interrupted
        self._idle: dict[Idle, Command] = {}
        self._running: Command | None = None
        self._running_kind: Idle | None = None
        self._closed = False

    def put(self, command: Command) -> None:
        """Add a command; reading ahead that waits or runs is cancelled, for there will be something else to read.

        One that cannot be done between cancels all served ones.
        """
        with self._changed:
            self._drop(Idle.AHEAD)
            (self._served if command.served else self._waiting).append(command)
            if not command.between:
                self._cancel_served()
            if self._closed:
                command.handle.cancel()
            self._changed.notify()

    def put_idle(self, command: Command, kind: Idle = Idle.AHEAD) -> None:
        """Set what to do when nothing else is to be done, in place of what was set before of the same kind."""
        with self._changed:
            self._drop(kind)
            self._set_idle(command, kind)

    def put_back(self, command: Command, kind: Idle) -> None:
        """Set idle work that had to give way once more, unless other work of its kind has come since."""
        with self._changed:
            if kind not in self._idle:
                self._set_idle(command, kind)

    def take(self, kind: Idle) -> Command | None:
        """Idle work of one kind that waits, to be done in the middle of what runs; None if there is none."""
        with self._changed:
            return self._idle.pop(kind, None)

    def pressed(self) -> bool:
        """Whether something waits that must not wait for idle work in progress to be done."""
        with self._changed:
            ahead = self._running_kind is not Idle.AHEAD and Idle.AHEAD in self._idle
            return self._closed or bool(self._waiting or self._served) or ahead

    def urgent(self) -> Command | None:
        """What a served command that runs must be interrupted for now; None once there is nothing."""
        with self._changed:
            urgent = bool(self._waiting) and self._waiting[0].between
            self._inner = self._waiting.popleft() if urgent else None
            return self._inner

    def pass_on(self, command: Command) -> bool:
        """Let another served command have its turn, if one can; the one that runs then waits behind the others."""
        with self._changed:
            if not any(self._may_run(other, {command.key}) for other in self._served):
                return False
            self._served.append(command)
            self._begun.add(command)
            return True

    @property
    def interrupted(self) -> bool:
        """Whether some served command has begun and waits for its next turn."""
        with self._changed:
            return bool(self._begun)

    def get(self) -> Command | None:
        """Wait for the next command; None once the queue is closed and empty."""
        with self._changed:
            self._running = None
            self._changed.wait_for(lambda: self._waiting or self._served or self._idle or self._closed)
            self._running_kind = None
            if self._waiting and (self._waiting[0].between or not self._begun):
                self._running = self._waiting.popleft()
            elif self._served:
                self._running = self._next_served()
            elif self._idle:
                self._running_kind = min(self._idle)
                self._running = self._idle.pop(self._running_kind)
            return self._running

    def close(self) -> None:
        """Cancel what runs and what waits; each command still gets to say so, then `get` gives None."""
        with self._changed:
            self._closed = True
            self._idle.clear()
            for command in (self._running, self._inner, *self._waiting, *self._served):
                if command is not None:
                    command.handle.cancel()
            self._changed.notify()

    def _next_served(self) -> Command:
        """The one that has waited longest; while something waits that must not come between, one that has begun."""
        ending = bool(self._waiting)
        able = (c for c in self._served if c in self._begun or (not ending and self._may_run(c, set())))
        command = next(able)  # nothing keeps the first one back while none has begun
        self._served.remove(command)
        self._begun.discard(command)
        return command

    def _may_run(self, command: Command, keys: set[str]) -> bool:
        """Whether a served command has begun, or uses no cache of one that has."""
        used = {begun.key for begun in self._begun} | keys
        return command in self._begun or not command.key or command.key not in used

    def _cancel_served(self) -> None:
        running = [self._running] if self._running is not None and self._running.served else []
        for command in (*running, *self._served):
            command.handle.cancel()

    def _set_idle(self, command: Command, kind: Idle) -> None:
        if not self._closed:
            self._idle[kind] = command
            self._changed.notify()

    def _drop(self, kind: Idle) -> None:
        dropped = self._idle.pop(kind, None)
        running = self._running if self._running_kind is kind else None
        for command in (dropped, running):
            if command is not None:
                command.handle.cancel()
