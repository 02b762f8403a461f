"""What an open inspector costs: decode of the real model in the real window, with it and without, in alternating runs.

`python -m tests.bench.inspector_cost [--pairs N] [--tokens N]`; the model is the default one of LOQUAT_HOME, which is
not written to but for one chat. Offscreen if no QT_QPA_PLATFORM is set.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen:size=1600x1000")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

import app  # noqa: F401 - guards PySide6's references before it is imported
from app.desktop import Desktop
from engine import EngineConfig, Worker, default_paths

QUESTION = "Write a long story about a ship, a storm and a lighthouse. Tell every detail."


def wait(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Let the window live until a condition holds."""
    loop, poll = QEventLoop(), QTimer()
    poll.timeout.connect(lambda: condition() and loop.quit())
    poll.start(20)
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()
    assert condition(), "not in time"


def run(desktop: Desktop, shown: bool) -> float:
    """Decode tokens per second of one answer."""
    desktop.window.show_inspector(shown)
    desktop.conductor.new_chat()
    session = desktop.chats.current
    assert session is not None
    session.send(QUESTION)
    wait(lambda: not session.busy and session.messages()[-1].stats is not None)
    stats = session.messages()[-1].stats
    assert stats is not None and stats.decode_tokens_per_s is not None
    return stats.decode_tokens_per_s


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=400)
    options = parser.parse_args()
    application, paths = QApplication(["loquat"]), default_paths()
    desktop = Desktop(application, paths, lambda emit: Worker(emit, EngineConfig(), paths, wait_for_kernels=True))
    for name, value in {"temperature": 0.0, "max_tokens": options.tokens, "auto_title": False}.items():
        desktop.settings.set(name, value)
    desktop.show(new=True)
    desktop.window.resize(1440, 900)
    wait(lambda: desktop.chats.model.phase == "ready")
    for shown in (True, False):  # the machine is measured, the kernels are warm
        run(desktop, shown)
    closed, opened = [], []
    for number in range(options.pairs):
        order = ((closed, False), (opened, True)) if number % 2 else ((opened, True), (closed, False))
        for rates, shown in order:
            rates.append(run(desktop, shown))
    ratios = [b / a for a, b in zip(closed, opened, strict=True)]
    print(f"closed {statistics.median(closed):.1f} tok/s, open {statistics.median(opened):.1f} tok/s")
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    print(f"open / closed: median of {options.pairs} pairs {statistics.median(ratios):.3f}, {spread}")
    desktop.window.close()
    desktop.close()


if __name__ == "__main__":
    main()
