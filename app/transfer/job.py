"""An export or an import on a thread of its own: how far it is, how to stop it, and what came of it."""

from __future__ import annotations

import errno
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal

from app.i18n import translate
from app.transfer.result import TransferResult
from engine.errors import Cancelled, EngineError

log = logging.getLogger(__name__)

TICK_S: Final = 0.05
CLOSE_TIMEOUT_S: Final = 5.0


class Control:
    """What a job's work calls again and again: raises `Cancelled` once the person gave it up."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._cancelled = threading.Event()
        self._told_at = 0.0

    def cancel(self) -> None:
        """Have the next `tick` raise."""
        self._cancelled.set()

    def tick(self, done: int, total: int) -> None:
        """Say how far the work is.

        Raises:
            Cancelled: It is not wanted any more.
        """
        if self._cancelled.is_set():
            raise Cancelled
        now = time.monotonic()
        if done >= total or now - self._told_at >= TICK_S:
            self._told_at = now
            self._tell(done, total)


class TransferJob(QObject):
    """Runs some work once; everything is told in the window's thread.

    Args:
        path: The file or folder that it is about.
        work: Called on the thread; what it returns is told. It must leave nothing behind when it raises.
    """

    progress = Signal(object, object)  # int done, int total: bytes of an import, conversations of an export
    finished = Signal(object)  # TransferResult, once
    _ticked = Signal(object, object)
    _done = Signal(object)

    def __init__(self, path: Path, work: Callable[[Control], TransferResult], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._work = work
        self._control = Control(self._ticked.emit)
        self._running = False
        self._thread = threading.Thread(target=self._run, name="loquat-transfer", daemon=True)
        self._ticked.connect(self.progress, Qt.ConnectionType.QueuedConnection)
        self._done.connect(self._finish, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether `finished` is still to come."""
        return self._running

    def start(self) -> None:
        """Begin; returns at once."""
        self._running = True
        self._thread.start()

    def cancel(self) -> None:
        """Give it up; `finished` comes when nothing is left of it."""
        self._control.cancel()

    def close(self) -> bool:
        """Give it up and wait for the thread; whether it ended in time. Before the store is closed."""
        self.cancel()
        if self._thread.is_alive():
            self._thread.join(CLOSE_TIMEOUT_S)
        return not self._thread.is_alive()

    def _finish(self, result: TransferResult) -> None:
        self._running = False
        self.finished.emit(result)

    def _run(self) -> None:
        fault = translate("transfer", "A fault in Loquat ended this. Nothing was changed.")
        result = TransferResult(self._path, problem=fault)
        try:
            result = self._attempt()
        finally:
            self._done.emit(result)  # a fault goes on to the crash report, but must not leave the window waiting

    def _attempt(self) -> TransferResult:
        try:
            return self._work(self._control)
        except Cancelled:
            return TransferResult(self._path, cancelled=True)
        except EngineError as error:
            log.info("a transfer failed: %s", error.detail or type(error).__name__)
            return TransferResult(self._path, problem=error.sentence)
        except (OSError, sqlite3.Error) as error:
            log.warning("a transfer failed: %s: %s", type(error).__name__, error)
            return TransferResult(self._path, problem=_sentence(error))


def _sentence(error: Exception) -> str:
    full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    if full or getattr(error, "errno", 0) == errno.ENOSPC:
        return translate("transfer", "There is not enough room on the disk. Nothing was changed.")
    if isinstance(error, OSError):
        return translate("transfer", "The file cannot be read or written. Please check its folder and try again.")
    return translate("transfer", "The chats cannot be read or written at the moment. Nothing was changed.")
