"""What rendering a chat template may cost: steps, bytes and processor time, counted while it goes on. Torch-free."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jinja2.utils import Namespace

# A step takes about a microsecond. The longest templates of large chats take a tenth of these.
STEPS: Final = 500_000
STEPS_PER_CHARACTER: Final = 4
BYTES: Final = 64_000_000
BYTES_PER_CHARACTER: Final = 64
SECONDS: Final = 1.0
SECONDS_PER_CHARACTER: Final = 2e-7
_NODES_PER_STEP: Final = 2
_CHARACTERS_PER_STEP: Final = 4096
_STEPS_BETWEEN_LOOKS: Final = 8
_BYTES_PER_ITEM: Final = 32  # of a list or dict, besides the pointer


class TooCostly(RuntimeError):
    """A template needs more time or memory than one may."""

    def __init__(self) -> None:
        super().__init__("it needs more time or memory than a template may")


class Budget:
    """Counts what one rendering takes; every count raises once too much was taken.

    Steps and bytes are the same in every run, so that a chat is not refused only because the machine is busy. The
    processor time of the thread, which bounds what a step was charged too little for, leaves ample room.

    Args:
        characters: Size of what the template is given; a long chat may cost more.

    Raises:
        TooCostly: From every method, once a limit is reached.
    """

    def __init__(self, characters: int = 0) -> None:
        self._steps = STEPS + STEPS_PER_CHARACTER * characters
        self._bytes = BYTES + BYTES_PER_CHARACTER * characters
        self._until = time.thread_time() + SECONDS + SECONDS_PER_CHARACTER * characters
        self._look_at = self._steps

    def step(self, count: int = 1) -> None:
        """Something was done that takes about `count` microseconds."""
        self._steps -= count
        if self._steps > self._look_at:
            return
        self._look_at = self._steps - _STEPS_BETWEEN_LOOKS
        if self._steps < 0 or time.thread_time() > self._until:
            self._steps = self._look_at = -1
            raise TooCostly

    def take(self, nbytes: int) -> None:
        """So many bytes are about to be made, or were; what is let go again is not given back."""
        self._bytes -= nbytes
        if self._bytes < 0:
            raise TooCostly

    def made(self, value: Any) -> Any:  # noqa: ANN401 - whatever a template can hold
        """Count a new value's own bytes, without what it refers to; returns it."""
        if isinstance(value, str):
            self.take(sys.getsizeof(value))
        elif isinstance(value, list | tuple | dict):
            self.take(sys.getsizeof(value) + _BYTES_PER_ITEM * len(value))
        return value

    def read(self, *values: Any) -> int:  # noqa: ANN401 - whatever a template can hold
        """Everything below these values is about to be gone through, each part as often as it is referred to.

        Returns:
            Bytes that they would take as one text.
        """
        nodes, characters = self._walk(values)
        self.step(characters // _CHARACTERS_PER_STEP)
        return 4 * characters + _BYTES_PER_ITEM * nodes

    def built(self, value: Any) -> Any:  # noqa: ANN401 - whatever a template can hold
        """Count a new list, tuple or dict with all that is below it, so that none grows by reference to itself."""
        self._walk((value,))
        return self.made(value)

    def _walk(self, values: Iterable[Any]) -> tuple[int, int]:
        """Nodes and characters below some values; a value that is met twice counts twice."""
        waiting = list(values)
        nodes, characters = len(waiting), 0
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                characters += len(value)
                continue
            count, parts = _parts(value)
            if count:
                self.step(1 + count // _NODES_PER_STEP)  # before they wait: what holds itself would fill memory so
                nodes += count
                waiting += parts
        return nodes, characters


def _parts(value: Any) -> tuple[int, Iterable[Any]]:  # noqa: ANN401 - whatever a template can hold
    """How many values another one holds, and those of them that may hold or be something."""
    if isinstance(value, Mapping):
        return 2 * len(value), itertools.chain(value, value.values())
    if isinstance(value, list | tuple):
        return len(value), value
    if isinstance(value, range):
        return len(value), ()
    if isinstance(value, Namespace):
        return 1 + len(attributes(value)), attributes(value).values()
    return 0, ()


def attributes(namespace: Namespace) -> dict[str, Any]:
    """What a template put into a namespace."""
    held: dict[str, Any] = object.__getattribute__(namespace, "_Namespace__attrs")
    return held
