#!/usr/bin/env python3
"""Takes assets/screenshot-light.png and -dark.png: the real window, the real model's answers, how they were made.

    .venv/bin/python packaging/screenshot.py [HOME_WITH_MODEL]

HOME_WITH_MODEL is a LOQUAT_HOME that has the default model; without one it is fetched into a temporary folder. Needs
Linux with Xvfb, openbox, xdotool and ImageMagick. Nothing but the words of the chats is made up: the figures of the
inspector are those of this machine while the picture was taken.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine.paths import OVERRIDE, Paths, default_paths  # noqa: E402
from tests.integration.screen import Program, Screen, answer_once, wait_until  # noqa: E402

CHATS = (
    ("Three teas for a cold day",),
    ("Packing list for Lisbon",),
    ("Photosynthesis, in short",),
    ("Why is the sky blue?",),
    ("Thank-you note to Ana",),
    (
        "What is a palindrome? Answer in one sentence.",
        "Write a Python function that checks whether a word is a palindrome.",
    ),
)
SCREEN, SIZE = "1600x1100", ("1440", "900")
ANSWER_S = 180
SETTLE_S = 2.0  # an answer is stored a moment before its last frame is drawn, and the machine is measured once


def make_home(folder: Path, theme: str, models: Path) -> Paths:
    """A fresh home with that theme and the models of another."""
    os.environ[OVERRIDE] = str(folder)
    home = default_paths()
    home.config.mkdir(parents=True)
    settings = {"theme": theme, "temperature": 0, "max_tokens": 260, "auto_title": False}
    (home.config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    home.data.mkdir(parents=True)
    home.models.symlink_to(models)
    return home


def take(screen: Screen, home: Paths, logs: Path, path: Path) -> None:
    """Hold the chats as a person would, wait for each answer, save the window's picture."""
    program = Program(screen, home, logs)
    try:
        window = program.window()
        screen.tool("xdotool", "windowsize", "--sync", window, *SIZE)
        screen.press("F12")
        asked = 0
        for chat in CHATS:
            screen.press("ctrl+n")
            for question in chat:
                asked += 1
                screen.type(question)
                screen.press("Return")
                wait_until(partial(_answered, program, asked), ANSWER_S, f"the answer to {question!r}")
                time.sleep(SETTLE_S)
        screen.picture(path, window)
        program.close()
    finally:
        program.kill()


def _answered(program: Program, number: int) -> bool:
    return len(program.replies("complete") + program.replies("length")) >= number


def main(arguments: list[str]) -> int:
    """Take both pictures; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ[OVERRIDE] = arguments[0] if arguments else str(folder / "model")
        os.environ.setdefault("LOQUAT_KERNELS", str(folder / "kernels"))
        answer_once(default_paths())  # fetches the model and compiles the kernels, where that was never done
        models = default_paths().models
        with Screen(folder, SCREEN) as screen:
            for theme in ("light", "dark"):
                target = ROOT / "assets" / f"screenshot-{theme}.png"
                take(screen, make_home(folder / theme, theme, models), folder, target)
                print(target.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
