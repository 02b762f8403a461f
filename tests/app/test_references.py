"""PySide6's calls take references to None and True that they do not own; see app/__init__.py."""

from __future__ import annotations

import subprocess
import sys

CALLS = 300_000
SCRIPT = f"""
import app
from PySide6.QtCore import QObject, QTimer, Signal

class Source(QObject):
    told = Signal()

source, timer = Source(), QTimer()
for _ in range({CALLS}):
    timer.setInterval(5)
    source.told.emit()
print("alive")
"""


def test_many_calls_do_not_use_up_none_and_true() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout == "alive\n", done.stderr
