"""`python -m tests.monkey.one HOME` drives one window in this process and writes a JSON line of what came of it."""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import time
from pathlib import Path
from random import Random

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.monkey.actions import ACTIONS
from tests.monkey.database import broken
from tests.monkey.scene import Scene
from tests.monkey.watch import Watch

PAUSES_MS = (0, 1, 5, 20, 60)
MOST_FAULTS = 3  # what comes after them comes of them


def main() -> None:
    """Act until the time is over, close the window, look at what it left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--blocked-s", type=float, required=True)
    parser.add_argument("--hang-s", type=float, required=True)
    options = parser.parse_args()
    app = QApplication(["monkey"])
    app.setQuitOnLastWindowClosed(False)
    watch = Watch(options.home, options.blocked_s)
    scene = Scene(app, options.home, Random(options.seed), watch)
    _act(scene, watch, options)
    _still_alive(options.hang_s)
    scene.restart()
    scene.close()
    for trouble in broken(scene.paths.database):
        watch.fault(trouble)
    print(json.dumps({"seed": options.seed, "actions": watch.count, "faults": watch.faults}), flush=True)
    os._exit(0)  # what Python and Qt do to each other at the end of a process is not the window's


def _act(scene: Scene, watch: Watch, options: argparse.Namespace) -> None:
    end = time.monotonic() + options.seconds
    while time.monotonic() < end and len(watch.faults) < MOST_FAULTS:
        _still_alive(options.hang_s)
        (name,) = scene.random.choices(tuple(ACTIONS), [action.weight for action in ACTIONS.values()])
        watch.did(name)
        try:
            ACTIONS[name].run(scene)
        except Exception:
            watch.caught(*sys.exc_info())
        scene.leave_dialogs()
        QTest.qWait(scene.random.choice(PAUSES_MS))


def _still_alive(hang_s: float) -> None:
    """From now on: all stacks and the end, if this is not called again in time, even if the interpreter is locked."""
    faulthandler.dump_traceback_later(hang_s, exit=True)


if __name__ == "__main__":
    faulthandler.enable()
    main()
