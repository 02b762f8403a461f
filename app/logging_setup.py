"""One rotating log file: what happened, never what was said. Questions, answers and titles are not logged."""

from __future__ import annotations

import faulthandler
import logging
import logging.handlers
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

FILE_NAME: Final = "loquat.log"
MAX_BYTES: Final = 1_000_000
BACKUPS: Final = 3
LEVEL_VARIABLE: Final = "LOQUAT_LOG"  # e.g. DEBUG

_QT_LEVELS: Final = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
qt_log = logging.getLogger("qt")


@dataclass(frozen=True, slots=True)
class LogSetup:
    """What `start_logging` put in place; `stop` takes it away again.

    Attributes:
        file: The log; None if the folder cannot be written, then warnings go to standard error.
    """

    file: Path | None
    stop: Callable[[], None]


class _File(logging.handlers.RotatingFileHandler):
    """Says once that the disk takes no more, and goes on: no record is worth a stack of errors on the terminal."""

    _failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        """Told of what went wrong while a record was written."""
        error = sys.exception()
        if isinstance(error, OSError):
            self._say_once(error)
        else:
            super().handleError(record)

    def close(self) -> None:
        """Let go of the file, with what could not be written to it."""
        try:
            super().close()
        except OSError as error:
            self._say_once(error)

    def _say_once(self, error: OSError) -> None:
        if not self._failed:
            print(f"The log {self.baseFilename} cannot be written: {error.strerror}.", file=sys.stderr)
        self._failed = True


def start_logging(folder: Path) -> LogSetup:
    """Log to a rotating file in `folder`, Qt's own messages included; a hard crash leaves its stacks beside it."""
    handler, file = _make_handler(folder)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level_before = root.level
    root.addHandler(handler)
    root.setLevel(_level())
    qt_handler_before = qInstallMessageHandler(_log_qt_message)
    faults = _watch_for_faults(folder) if file else None

    def stop() -> None:
        qInstallMessageHandler(qt_handler_before)
        root.removeHandler(handler)
        root.setLevel(level_before)
        handler.close()
        if faults:
            faulthandler.disable()
            faults.close()

    return LogSetup(file, stop)


def _make_handler(folder: Path) -> tuple[logging.Handler, Path | None]:
    file = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _File(file, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    except OSError as error:
        print(f"The log {file} cannot be written: {error.strerror}.", file=sys.stderr)
        fallback = logging.StreamHandler()
        fallback.setLevel(logging.WARNING)
        return fallback, None
    return handler, file


def _level() -> int:
    named = logging.getLevelNamesMapping().get(os.environ.get(LEVEL_VARIABLE, "").upper())
    return logging.INFO if named is None else named


def _watch_for_faults(folder: Path) -> IO[str]:
    file = (folder / "faults.log").open("a", encoding="utf-8")
    faulthandler.enable(file)
    return file


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    qt_log.log(_QT_LEVELS[kind], "%s: %s", context.category, message)
    if kind is QtMsgType.QtFatalMsg:
        print(message, file=sys.stderr)  # Qt aborts after this, the person at the terminal should see why
