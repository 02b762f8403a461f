"""Reads the log of turns beside the window's thread, and makes of it there what is wanted; the latest wish wins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.store import Store
from app.turn_log import LoggedTurn, read_turns
from engine.errors import EngineError

CLOSE_TIMEOUT_S: Final = 2.0
_SAVED_S: Final = 5.0  # a turn that has just ended is waited for, but no longer: the disk may be full
_PIECE_S: Final = 0.1

Make = Callable[[tuple[LoggedTurn, ...]], object]


class _Reading(QObject):
    """One reading on a thread of its own; belongs to nobody who might be gone when it ends."""

    ended = Signal(int, object, object)  # number, what was made or None, an EngineError or None

    def __init__(self, number: int, store: Store, labels: Mapping[str, str], make: Make = tuple) -> None:
        super().__init__()
        self.number = number
        self._store = store
        self._labels = dict(labels)
        self._make = make
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turn-log", daemon=True)

    @property
    def going(self) -> bool:
        """Whether its thread has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Do not begin what has not begun; what is read or written already is brought to its end, which is near."""
        self._stop.set()

    def wait(self) -> None:
        """Wait for its thread, not for ever."""
        self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        self._wait_for_writer()
        if self._stop.is_set():
            return
        try:
            self.ended.emit(self.number, self._make(read_turns(self._store.path, labels=self._labels)), None)
        except EngineError as error:
            self.ended.emit(self.number, None, error)

    def _wait_for_writer(self) -> None:
        for _ in range(round(_SAVED_S / _PIECE_S)):
            if self._stop.is_set() or self._store.flush(_PIECE_S):
                return


class TurnReader(QObject):
    """Tells what came of the latest wish; one that is overtaken by another, or given up, is told of no more."""

    made = Signal(object)  # what was made of the turns
    failed = Signal(str, str)  # sentence, detail

    def __init__(self, store: Store, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._asked = 0
        self._latest: _Reading | None = None
        self._readings: list[_Reading] = []

    def ask(self, labels: Mapping[str, str], make: Make = tuple) -> None:
        """Begin to read; returns at once.

        Args:
            labels: What people call the models, by their names.
            make: Called on the thread with the turns, oldest first. What it raises as an EngineError is told.
        """
        self.cancel()
        self._asked += 1
        self._latest = reading = _Reading(self._asked, self._store, labels, make)
        reading.ended.connect(self._ended)
        self._readings = [*(each for each in self._readings if each.going), reading]
        reading.start()

    def cancel(self) -> None:
        """Tell nothing of what is being read."""
        if self._latest is not None:
            self._latest.stop()
            self._latest = None

    def close(self) -> bool:
        """Give it up and wait for what still goes on; whether it ended in time. Before the store is closed."""
        self.cancel()
        for reading in self._readings:
            reading.wait()
        return not any(reading.going for reading in self._readings)

    def _ended(self, number: int, made: object, error: EngineError | None) -> None:
        if self._latest is None or number != self._latest.number:  # it was on its way here when it was given up
            return
        self._latest = None
        if error is None:
            self.made.emit(made)
        else:
            self.failed.emit(error.sentence, error.detail)
