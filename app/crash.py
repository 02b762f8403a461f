"""Faults in the program: everything is saved first, then a report goes to whoever shows it."""

from __future__ import annotations

import logging
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, qVersion

from app.i18n import translate
from engine.errors import EngineError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What the crash dialog shows.

    Attributes:
        sentence: What happened, for the person.
        environment: Versions and platform, one a line; no path, no name of the person.
        traceback: Where it happened.
        saved: Whether everything is on the disk.
    """

    sentence: str
    environment: str
    traceback: str
    saved: bool

    @property
    def text(self) -> str:
        """All of it, to copy."""
        return f"{self.sentence}\n\n{self.environment}\n\n{self.traceback}"


class CrashGuard(QObject):
    """Catches what nobody caught: in the main thread, in Qt's slots, in other threads.

    Made in the window's thread, where `report` is emitted, one at a time; a fault in saving or showing is only logged.

    Args:
        save: Saves everything now; whether it is on the disk.
    """

    report = Signal(object)  # CrashReport
    _caught = Signal(str, str)  # sentence, traceback, from any thread

    def __init__(self, save: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._save = save
        self._handling = False
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        self._caught.connect(self._handle, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take over the exception hooks."""
        sys.excepthook = self._main_hook
        threading.excepthook = self._thread_hook
        sys.unraisablehook = self._unraisable_hook

    def uninstall(self) -> None:
        """Give the hooks back."""
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before

    def engine_bug(self, error: EngineError) -> None:
        """Report a fault that the engine caught and told as an event."""
        log.error("fault in the engine: %s", error.detail)
        self._caught.emit(error.sentence, error.detail)

    def _main_hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._before[0](kind, error, trace)  # so that the terminal shows it too
        if not issubclass(kind, KeyboardInterrupt):
            self._caught_exception(kind, error, trace)

    def _thread_hook(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._caught_exception(args.exc_type, args.exc_value, args.exc_traceback)

    def _unraisable_hook(self, args: sys.UnraisableHookArgs) -> None:
        # Comes from destructors, at any moment, also while Python ends: for the log only.
        log.error("unraisable: %s", args.err_msg or "", exc_info=args.exc_value)

    def _caught_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        log.error("nobody caught this", exc_info=(kind, error, trace))
        # Frames without their values: those could hold the person's words.
        text = "".join(traceback.format_exception(kind, error, trace))
        self._caught.emit(fault_sentence(), text)

    def _handle(self, sentence: str, trace: str) -> None:
        if self._handling:
            return
        self._handling = True
        try:
            self.report.emit(CrashReport(sentence, environment(), trace, self._save_all()))
        finally:
            self._handling = False

    def _save_all(self) -> bool:
        try:
            return self._save()
        except Exception:
            log.exception("saving after a fault failed")
            return False


def fault_sentence() -> str:
    """What the person is told first of any fault."""
    return translate("crash", "Something went wrong inside Loquat.")


def environment() -> str:
    """Versions and platform, without importing what is not loaded yet."""
    lines = [f"{name} {_version(name)}" for name in ("loquat-chat", "PySide6-Essentials", "torch", "transformers")]
    return "\n".join([*lines, f"Qt {qVersion()}", f"Python {platform.python_version()}", platform.platform()])


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
