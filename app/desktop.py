"""Builds the window's parts in order, runs them, and takes them down in order."""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app import collector, i18n, qt_platform
from app.assistants import Assistants
from app.chats import Chats
from app.conductor import Conductor, Program
from app.crash import CrashGuard, CrashReport, fault_sentence
from app.cuda_offer import CudaOffer
from app.declarations import REBUILDS, UPDATES_FROM
from app.engine_bridge import EngineBridge, WorkerFactory
from app.experiments import Experiments
from app.first_model import FirstModel
from app.i18n import translate
from app.live import Notice
from app.logging_setup import start_logging
from app.migrations import StoreError, StoreUnknown
from app.model_shelf import ModelShelf
from app.options import window_options
from app.presence import Presence
from app.remote_servers import RemoteServers
from app.search import Search
from app.serving import Serving
from app.settings import Settings
from app.single_instance import SingleInstance
from app.store import open_store
from app.terminal_signals import TerminalSignals
from app.theme import Theme
from app.update_check import UpdateCheck
from app.views.main_window import MainWindow
from app.views.refusal_dialog import RefusalDialog
from engine import EngineConfig, Paths, Worker, default_paths
from engine.explain.version import program_version
from engine.remote.servers import FILE as SERVERS

log = logging.getLogger(__name__)

ERROR_EXIT: Final = 2
DESKTOP_FILE: Final = "io.github.loquat_chat.Loquat"  # as packaging/linux names it: it gives the window its icon
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
        self._app = app
        self.settings = Settings(paths.config / "settings.json")
        i18n.install(app, self.settings.get("language"))
        self.assistants = Assistants(paths.config / "assistants.json")
        self.store, store_notice = open_store(paths.database)
        self.search = Search(paths.database)
        self.bridge = EngineBridge(make_worker)
        self.chats = Chats(self.store, self.bridge, self.settings)
        self.chats.model_changed.connect(collector.model_changed)
        self.first_model = FirstModel(self.chats, self.settings)
        self.shelf = ModelShelf(self.chats, self.bridge.keys)
        self.experiments = Experiments(self.bridge)
        self.serving = Serving(self.bridge)
        self.servers = RemoteServers(paths.config / SERVERS, self.bridge.keys)
        self.bridge.arrived.connect(self.experiments.apply, Qt.ConnectionType.QueuedConnection)
        self.theme = Theme(app, self.settings.get("theme"), self.settings.look())
        self._program = Program(
            self.chats,
            self.store,
            self.settings,
            self.search,
            self.assistants,
            self.experiments,
            self.servers,
            self.serving,
            self.shelf,
            self.theme,
            paths.cache,
        )
        self.window, self.conductor = self._make_window()
        self.presence = Presence(self.chats, self.settings, self.theme, self.raise_window, None)
        self._attend()
        self._rebuild = QTimer()
        self._rebuild.setSingleShot(True)
        self._rebuild.timeout.connect(self._make_anew)
        self.settings.changed.connect(self._setting_changed)
        self.updates = UpdateCheck(self.settings, UPDATES_FROM, program_version(), self._show_page)
        self.updates.notice.connect(self.chats.notice)
        self.cuda = CudaOffer(paths, self.chats.notice.emit)
        self._first_paint: FirstPaint | None = None
        troubles = (self.settings.trouble, self.assistants.trouble, self.servers.trouble, store_notice)
        self._start_notices = [sentence for sentence in troubles if sentence]

    def _make_window(self) -> tuple[MainWindow, Conductor]:
        window = MainWindow(self.theme)
        return window, Conductor(window, self._program)

    def _attend(self) -> None:
        self.presence.attend(self.window)
        self.window.show_offer(self.first_model.offer)
        self.first_model.offered.connect(self.window.show_offer)
        self.presence.link_activated.connect(self.conductor.dialogs.show_link)
        self.conductor.quick_ask_requested.connect(self.presence.toggle_quick_ask)
        self.conductor.quit_requested.connect(self.quit)

    def _setting_changed(self, name: str) -> None:
        """Take over what every word or size depends on; the window is made anew when the dialog's own event is over."""
        if name == "language":
            i18n.install(self._app, self.settings.get("language"))
            self.theme.refresh()
        if name in REBUILDS:
            self._rebuild.start(0)

    def _make_anew(self) -> None:
        """Make the window in the language, the sizes and the font of now; what is written in it stays."""
        before, inspected = self.window, self.window.inspector_shown
        edits, composes = before.chat.open_edits(), before.composer.editor is before.focusWidget()
        read, place = before.chat.place(), self.conductor.dialogs.settings_place()
        self.settings.set("window_geometry", before.geometry_to_keep())
        self.conductor.transfers.close()
        self.conductor.inspection.close()
        self.window, self.conductor = self._make_window()
        self._attend()
        if before.isVisible():
            self.window.show()
        self.window.show_inspector(inspected)
        self.window.chat.resume_place(read)
        self.window.chat.resume_edits(edits)
        if composes:
            self.window.composer.focus_editor()
        if place is not None:
            self.conductor.dialogs.show_settings(place)
        before.hide()
        before.deleteLater()

    def show(self, model: str | None = None, new: bool = False) -> None:
        """Put the window on the screen, then load the model: importing torch would hold up the first picture."""
        self.chats.restore(new)
        for sentence in self._start_notices:
            self.chats.notice.emit(Notice(sentence))
        self._first_paint = FirstPaint(self.window, lambda: self.first_model.begin(model))
        self.window.show()
        self.updates.begin()
        self.cuda.begin()

    def raise_window(self) -> None:
        """Bring the window to the front."""
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()

    def _show_page(self, address: str) -> None:
        self.conductor.dialogs.show_link(address)

    def quit(self) -> None:
        """End the program: the window first, so that Qt does not draw what it had begun on a surface that is gone."""
        self.settings.set("window_geometry", self.window.geometry_to_keep())
        self.window.hide()
        QTimer.singleShot(0, self._app.quit)

    def show_crash(self, report: CrashReport) -> None:
        """Show a fault in the program over the window of now."""
        self.conductor.dialogs.show_crash(report)

    def close(self) -> bool:
        """Stop, save, end the worker, close the store; whether the worker's thread ended."""
        if self._first_paint is not None:
            self._first_paint.cancel()
        self._rebuild.stop()
        self.updates.close()
        self.cuda.close()
        self.presence.close()
        self.conductor.transfers.close()
        self.shelf.close()
        self.first_model.close()
        self.chats.shutdown()
        self.conductor.inspection.close()  # which draws, and reads, what the end of an answer changes
        self.servers.close()
        self.serving.close()
        ended = self.bridge.close()
        self.search.close()
        if not self.store.close():
            log.error("not everything could be saved")
        self.settings.save()
        self.assistants.save()
        return ended


class FirstPaint(QObject):
    """Calls a function once, when the window has been painted for the first time."""

    def __init__(self, window: QWidget, then: Callable[[], None]) -> None:
        super().__init__()  # not the window's: the model is loaded even if that is made anew before it was painted
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(then)
        self._timer.start(PAINT_PATIENCE_MS)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the paint event; what was painted is on the screen when the event loop comes round again."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._timer.start(0)
        return False

    def cancel(self) -> None:
        """Do not call any more."""
        self._timer.stop()


def run(
    arguments: Sequence[str],
    make_worker: WorkerFactory | None = None,
    attend: Callable[[Desktop], QObject] | None = None,
) -> int:
    """Open the window and run until it is closed; the exit code.

    Args:
        arguments: Of the command line; a first instance that runs already gets them as they are.
        make_worker: Makes the worker; None takes the engine's own.
        attend: Makes, once the window is shown, what goes along with it until it is closed.
    """
    trouble = qt_platform.trouble(os.environ)
    if trouble:
        print(trouble, file=sys.stderr)
        return ERROR_EXIT
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    paths = default_paths()
    logs = start_logging(paths.logs)
    app = QApplication(["loquat"])
    app.setApplicationName("loquat")
    app.setApplicationDisplayName("Loquat")
    app.setDesktopFileName(DESKTOP_FILE)
    i18n.install(app, i18n.SYSTEM)  # until the settings are read, and where they cannot be
    # `Presence` says when: the small window and the tray may outlive the large one.
    app.setQuitOnLastWindowClosed(False)
    try:
        return _begin(app, paths, arguments, make_worker or _engine_worker(paths), attend)
    except StoreError as error:
        log.error("%s: %s", error.sentence, error.detail)
        return _refuse(app, error.sentence, paths.database if isinstance(error, StoreUnknown) else None)
    except OSError as error:
        sentence = translate("desktop", "Loquat cannot keep its files in {folder}: {reason}.")
        return _refuse(app, sentence.format(folder=paths.data, reason=error.strerror))
    except Exception:  # a fault: nobody who starts the program from a menu would hear of it
        log.exception("a fault kept the window from coming")
        return _refuse(app, fault_sentence(), logs.file)
    finally:
        logs.stop()


def _engine_worker(paths: Paths) -> WorkerFactory:
    return lambda emit: Worker(emit, EngineConfig(), paths)


def _begin(
    app: QApplication,
    paths: Paths,
    arguments: Sequence[str],
    make_worker: WorkerFactory,
    attend: Callable[[Desktop], QObject] | None,
) -> int:
    """Be the first instance, or hand the arguments over to it.

    Raises:
        StoreError: The conversations cannot be opened.
        OSError: The data folder cannot be written.
    """
    options, _ = window_options().parse_known_args(arguments)
    instance = SingleInstance(paths.data)
    if not instance.claim():
        if instance.hand_over(arguments):
            return 0
        if not instance.claim():  # the one before may just have ended
            sentence = translate(
                "desktop", "Loquat is running already, but does not answer. Please close it and try again."
            )
            return _refuse(app, sentence)
    try:
        return _run_first(app, Desktop(app, paths, make_worker), instance, options, attend)
    finally:
        instance.release()


def _run_first(
    app: QApplication,
    desktop: Desktop,
    instance: SingleInstance,
    options: Namespace,
    attend: Callable[[Desktop], QObject] | None,
) -> int:
    guard = CrashGuard(desktop.chats.save_now)
    guard.report.connect(desktop.show_crash)
    desktop.chats.bug_found.connect(guard.engine_bug)
    instance.activated.connect(lambda later: _activate(desktop, later))
    signals = TerminalSignals()
    signals.asked_to_quit.connect(desktop.quit)
    collecting = collector.Collector()
    guard.install()
    try:
        desktop.show(options.model, options.new)
        if options.toggle:
            desktop.presence.toggle_quick_ask()
        beside = attend(desktop) if attend is not None else None
        code = app.exec()
        del beside  # before the window that it knows
    finally:
        ended = desktop.close()
        guard.uninstall()
        signals.close()
        collecting.close()
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
    if options.toggle:
        desktop.presence.toggle_quick_ask()
        return
    desktop.raise_window()
    if options.new:
        desktop.chats.new()
    if options.model:
        desktop.chats.load_model(options.model)


def _refuse(app: QApplication, sentence: str, file: Path | None = None) -> int:
    """Say why there will be no window: in the terminal, and on the screen, since a launcher shows no terminal."""
    print(sentence, file=sys.stderr)
    RefusalDialog(Theme(app, "system"), sentence, file).exec()
    return ERROR_EXIT
