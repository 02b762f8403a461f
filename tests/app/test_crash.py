from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import qWarning

from app.crash import CrashGuard, environment
from app.logging_setup import start_logging
from engine.errors import EngineError

CHILD = textwrap.dedent(
    """
    import sys, threading
    from PySide6.QtCore import QCoreApplication, QTimer
    from app.crash import CrashGuard

    core = QCoreApplication([])
    order = []
    guard = CrashGuard(lambda: order.append("saved") or True)

    def shown(report):
        order.append("shown")
        print(order, report.saved, report.sentence, "deep" in report.traceback, "Python 3" in report.environment)
        core.quit()

    def deep():
        raise ZeroDivisionError("in a slot")

    guard.report.connect(shown)
    guard.install()
    if sys.argv[1] == "slot":
        QTimer.singleShot(0, deep)
    else:
        threading.Thread(target=deep).start()
    core.exec()
    guard.uninstall()
    """
)


@pytest.mark.parametrize("where", ["slot", "thread"])
def test_a_fault_is_saved_first_and_then_reported(where):
    done = subprocess.run([sys.executable, "-c", CHILD, where], check=False, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['saved', 'shown'] True Something went wrong inside Loquat. True True"
    assert done.returncode == 0


@pytest.mark.expects_log("fault in the engine: Traceback here")
def test_a_fault_of_the_engine_is_reported_with_its_own_traceback(qtbot):
    guard = CrashGuard(lambda: True)
    with qtbot.waitSignal(guard.report) as told:
        guard.engine_bug(EngineError("The answer broke off.", "Traceback here"))
    (report,) = told.args
    assert (report.sentence, report.traceback, report.saved) == ("The answer broke off.", "Traceback here", True)
    assert report.text.startswith("The answer broke off.\n\nloquat-chat ")
    assert environment() in report.text


@pytest.mark.expects_log("saving after a fault failed")
@pytest.mark.expects_log("fault in the engine")
def test_a_fault_while_saving_is_told_as_not_saved(qtbot):
    def broken():
        raise OSError("disk on fire")

    guard = CrashGuard(broken)
    with qtbot.waitSignal(guard.report) as told:
        guard.engine_bug(EngineError("It broke."))
    assert told.args[0].saved is False


@pytest.mark.expects_log("fault in the engine")
def test_a_fault_while_one_is_shown_opens_no_second_dialog(qtbot):
    guard = CrashGuard(lambda: True)
    shown = []

    def show(report):
        shown.append(report)
        guard._handle("again", "")

    guard.report.connect(show)
    guard.engine_bug(EngineError("It broke."))
    qtbot.waitUntil(lambda: bool(shown))
    assert len(shown) == 1


def test_uninstalling_gives_the_hooks_back(qtbot):
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    guard = CrashGuard(lambda: True)
    guard.install()
    assert sys.excepthook != before[0]
    guard.uninstall()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


@pytest.mark.expects_log("careful")
@pytest.mark.expects_log("qt")
def test_the_log_takes_pythons_and_qts_messages(tmp_path):
    setup = start_logging(tmp_path / "logs")
    logging.getLogger("app.x").warning("careful")
    qWarning("a word from Qt")
    setup.stop()
    logging.getLogger("app.x").warning("careful, but too late")
    text = setup.file.read_text("utf-8")
    assert "WARNING MainThread app.x: careful" in text
    assert "WARNING MainThread qt: default: a word from Qt" in text
    assert "too late" not in text


def test_a_file_in_the_way_of_the_log_folder_is_no_reason_not_to_start(tmp_path):
    (tmp_path / "logs").write_text("in the way")
    setup = start_logging(tmp_path / "logs")
    assert setup.file is None
    setup.stop()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the disk that is always full is Linux's")
@pytest.mark.expects_log("too much")
def test_a_full_disk_is_said_once_and_fills_no_terminal(tmp_path, capfd):
    file = tmp_path / "loquat.log"
    file.symlink_to("/dev/full")
    setup = start_logging(tmp_path)
    for _ in range(3):
        logging.getLogger("app.x").warning("too much")
    setup.stop()
    assert capfd.readouterr().err == f"The log {file} cannot be written: {os.strerror(errno.ENOSPC)}.\n"
