"""What must not happen while the window is driven, and the trail of actions that led there."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
import traceback
from collections import deque
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler

TRAIL_FILE = "trail.txt"
TRAIL_LENGTH = 25
BEAT_MS = 100
EXPECTED_LOG = re.compile(r"app\.model_jobs: a model command ended with")  # of one that was given up
EXPECTED_QT = re.compile(r"^This plugin does not support |propagateSizeHints")  # the offscreen platform


class Watch(logging.Handler):
    """Collects the faults of this process: takes its hooks of exceptions, its log and Qt's messages.

    Attributes:
        faults: What happened, each with its detail and the last actions.
        count: Of the actions.
    """

    def __init__(self, home: Path, blocked_s: float) -> None:
        super().__init__(logging.WARNING)
        self.faults: list[dict[str, object]] = []
        self.count = 0
        self._blocked_s = blocked_s
        self._trail: deque[str] = deque(maxlen=TRAIL_LENGTH)
        self._file = (home / TRAIL_FILE).open("w", encoding="utf-8", errors="replace", buffering=1)
        sys.excepthook = self.caught
        threading.excepthook = lambda args: self.caught(args.exc_type, args.exc_value, args.exc_traceback)
        sys.unraisablehook = lambda args: self.caught(args.exc_type, args.exc_value, args.exc_traceback)
        logging.getLogger().addHandler(self)
        qInstallMessageHandler(self._qt_said)
        self._beat_at = time.monotonic()
        self._beat = QTimer(interval=BEAT_MS)
        self._beat.timeout.connect(self._look_at_the_clock)
        self._beat.start()

    def did(self, action: str) -> None:
        """Note an action; it is in the file before it is done, in case it is the last one."""
        self.count += 1
        self.add(action)

    def add(self, detail: str) -> None:
        """Note what an action chose."""
        self._trail.append(detail)
        print(detail.replace("\n", " "), file=self._file)

    def fault(self, what: str, detail: str = "") -> None:
        """Note a fault; from any thread."""
        self.faults.append({"what": what, "detail": detail, "trail": list(self._trail)})

    def caught(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Note an exception that nobody caught."""
        told = "".join(traceback.format_exception(kind, error, trace))
        print(told, file=sys.stderr, flush=True)  # in case it is the last that is heard of this process
        self.fault(repr(error), told)

    def emit(self, record: logging.LogRecord) -> None:
        """Note what was logged."""
        line = f"{record.name}: {record.getMessage()}"
        if not EXPECTED_LOG.search(line):
            stack = traceback.format_exception(*record.exc_info) if record.exc_info else traceback.format_stack(limit=9)
            self.fault(f"logged: {record.levelname} {line}", "".join(stack))

    def _qt_said(self, kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and not EXPECTED_QT.search(message):
            self.fault(f"Qt: {message}", "".join(traceback.format_stack(limit=9)))

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if now - self._beat_at > self._blocked_s:
            self.fault(f"the event loop was blocked for {now - self._beat_at:.1f} s")
        self._beat_at = now
