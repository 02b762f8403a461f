"""Builds the window's parts in order, runs them, and takes them down in order."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.chats import Chats
from app.conductor import Conductor
from app.crash import CrashGuard
from app.engine_bridge import EngineBridge, WorkerFactory
from app.live import Notice
from app.logging_setup import start_logging
from app.migrations import StoreError
from app.options import window_options
from app.settings import Settings
from app.single_instance import SingleInstance
from app.store import open_store
from app.terminal_signals import TerminalSignals
from app.theme import Theme
from app.views.main_window import MainWindow
from engine import EngineConfig, Paths, Worker, default_paths

log = logging.getLogger(__name__)

ERROR_EXIT: Final = 2
SWITCH_INTERVAL_S: Final = 0.0005  # measured: the longest GUI gap in a prefill falls from 53 to 11 ms
PAINT_PATIENCE_MS: Final = 1000  # a window that starts minimised is never painted


class Desktop:
    """Everything behind one window, in the order in which it is needed.

    Args:
        make_worker: Makes the engine's worker.

    Raises:
        StoreError: The conversations cannot be opened.
    """

    def __init__(self, app: QApplication, paths: Paths, make_worker: WorkerFactory) -> None:
        self.settings = Settings(paths.config / "settings.json")
        self.store, store_notice = open_store(paths.database)
        self.bridge = EngineBridge(make_worker)
        self.chats = Chats(self.store, self.bridge, self.settings)
        self.theme = Theme(app, self.settings.get("theme"))
        self.window, self.conductor = self._make_window()
        self._first_paint: FirstPaint | None = None
        self._start_notices = [sentence for sentence in (self.settings.trouble, store_notice) if sentence]

    def _make_window(self) -> tuple[MainWindow, Conductor]:
        window = MainWindow(self.theme)
        return window, Conductor(window, self.chats, self.settings, self.theme)

    def show(self, model: str | None = None, new: bool = False) -> None:
        """Put the window on the screen, then load the model: importing torch would hold up the first picture."""
        self.chats.restore(new)
        for sentence in self._start_notices:
            self.chats.notice.emit(Notice(sentence))
        self._first_paint = FirstPaint(self.window, lambda: self.chats.load_model(model))
        self.window.show()

    def raise_window(self) -> None:
        """Bring the window to the front."""
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()

    def close(self) -> bool:
        """Stop, save, end the worker, close the store; whether the worker's thread ended."""
        if self._first_paint is not None:
            self._first_paint.cancel()
        self.chats.shutdown()
        ended = self.bridge.close()
        if not self.store.close():
            log.error("not everything could be saved")
        self.settings.save()
        return ended


class FirstPaint(QObject):
    """Calls a function once, when the window has been painted for the first time."""

    def __init__(self, window: QWidget, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(then)
        self._timer.start(PAINT_PATIENCE_MS)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the paint event; what was painted is on the screen when the event loop comes round again."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            self._timer.start(0)
        return False

    def cancel(self) -> None:
        """Do not call any more."""
        self._timer.stop()


def run(arguments: Sequence[str], model: str | None, new: bool, make_worker: WorkerFactory | None = None) -> int:
    """Open the window and run until it is closed; the exit code.

    Args:
        arguments: As they were given, for the first instance if this is the second.
        model: The model to load; None for the default one.
        new: Begin a new chat instead of opening the last one.
        make_worker: Makes the worker; None takes the engine's own.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    paths = default_paths()
    logs = start_logging(paths.logs)
    app = QApplication(["loquat"])
    app.setApplicationName("loquat")
    app.setApplicationDisplayName("Loquat")
    app.setDesktopFileName("loquat")
    try:
        instance = SingleInstance(paths.data)
        if not instance.claim():
            return _hand_over(instance, arguments)
        try:
            desktop = Desktop(app, paths, make_worker or _engine_worker(paths))
            return _run_first(app, desktop, instance, model, new)
        finally:
            instance.release()
    except StoreError as error:
        log.error("%s: %s", error.sentence, error.detail)
        return _refuse(error.sentence)
    except OSError as error:
        return _refuse(f"Loquat cannot keep its files in {paths.data}: {error.strerror}.")
    finally:
        logs.stop()


def _engine_worker(paths: Paths) -> WorkerFactory:
    return lambda emit: Worker(emit, EngineConfig(), paths)


def _run_first(app: QApplication, desktop: Desktop, instance: SingleInstance, model: str | None, new: bool) -> int:
    guard = CrashGuard(desktop.chats.save_now)
    guard.report.connect(desktop.conductor.dialogs.show_crash)
    desktop.chats.bug_found.connect(guard.engine_bug)
    instance.activated.connect(lambda later: _activate(desktop, later))
    signals = TerminalSignals()
    signals.asked_to_quit.connect(app.quit)
    guard.install()
    try:
        desktop.show(model, new)
        code = app.exec()
    finally:
        ended = desktop.close()
        guard.uninstall()
        signals.close()
    if not ended:
        # A step of the worker that cannot be interrupted, such as an import, must not hold up the end; all is saved.
        log.info("the engine did not end in time")
        instance.release()
        logging.shutdown()
        os._exit(code)
    return code


def _activate(desktop: Desktop, arguments: list[str]) -> None:
    """Do what a second start asked for."""
    options, _ = window_options().parse_known_args(arguments)
    desktop.raise_window()
    if options.new:
        desktop.chats.new()
    if options.model:
        desktop.chats.load_model(options.model)


def _hand_over(instance: SingleInstance, arguments: Sequence[str]) -> int:
    if instance.hand_over(arguments):
        return 0
    print("Loquat is running already, but does not answer. Please close it and try again.", file=sys.stderr)
    return ERROR_EXIT


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    QMessageBox.critical(None, "Loquat", sentence)
    return ERROR_EXIT
