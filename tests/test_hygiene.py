"""The guards of tests/conftest.py really fail a test that leaves something behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

UNTIDY = """
import logging, threading
import pytest
from PySide6.QtCore import QTimer, qWarning
from PySide6.QtWidgets import QWidget

KEPT = []

def test_thread():
    gate = threading.Event()
    KEPT.append(gate)
    threading.Thread(target=gate.wait, daemon=True).start()

def test_dying_thread():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()

def test_timer(qtbot):
    KEPT.append(QTimer())
    KEPT[-1].start(1000)

def test_timer_of_a_closed_window_is_fine(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    timer = QTimer(window)
    timer.start(1000)

def test_log():
    logging.getLogger("engine").warning("something odd")

def test_log_of_transformers():
    logging.getLogger("transformers.tokenization").warning("something odd")

@pytest.mark.expects_log("something .dd")
def test_declared_log_is_fine():
    logging.getLogger("engine").warning("something odd")

@pytest.mark.expects_log("something .dd")
def test_declared_log_that_is_absent():
    pass

def test_qt_warning(qtbot):
    qWarning("something odd")
"""


def test_what_is_left_behind_fails_the_test_that_left_it(tmp_path: Path) -> None:
    (tmp_path / "test_untidy.py").write_text(UNTIDY)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    command += ["-p", "tests.conftest", "-p", "no:cacheprovider", "-q", str(tmp_path / "test_untidy.py")]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    blamed = set(re.findall(r"^(?:ERROR|FAILED) .*::(\w+)", done.stdout, re.MULTILINE))
    assert blamed == {
        "test_thread",
        "test_dying_thread",
        "test_timer",
        "test_log",
        "test_log_of_transformers",
        "test_declared_log_that_is_absent",
        "test_qt_warning",
    }, done.stdout
