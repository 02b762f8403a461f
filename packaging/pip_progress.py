"""What pip is doing, in one line for the person, read from pip's output and the environment's folder.

Standard library only; works with pip's plain output of any version and, for bytes, with `--progress-bar raw`.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable


class Progress:
    """Reads pip's output as it grows and says in one line which package is at work, n of m, and the seconds.

    Attributes:
        started: `time.monotonic()` when the installation began.
        installed: Lists the environment's `.dist-info` folders: pip names the packages it is about to install, in
            order, and then falls silent; that one is done shows when its folder appears.
    """

    def __init__(self, started: float, installed: Callable[[], list[str]]) -> None:
        self.started = started
        self.installed = installed
        self.had = set(installed())
        self.package = ""
        self.seen = 0
        self.megabytes = ""
        self.to_install: list[str] = []
        self.terminal = sys.stderr.isatty()
        self.shown = ""
        self.shown_at = float("-inf")

    def feed(self, line: str) -> None:
        """Take one line of pip's output."""
        if match := re.match(r"Progress (\d+) of (\d+)", line):
            done, total = (int(number) / 1e6 for number in match.groups())
            self.megabytes = f" {done:.0f} of {total:.0f} MB" if total >= 1 else ""
        elif match := re.match(r"\s*(?:Collecting|Downloading|Using cached|Processing)\s+(\S+)", line):
            self.package = re.split(r"[=<>!~;\[]|-\d", match[1].rpartition("/")[2])[0]
            self.seen += line.startswith("Collecting")
            self.megabytes = ""
        elif line.startswith("Installing collected packages:"):
            self.to_install = line.partition(":")[2].replace(",", " ").split()

    def text(self) -> str:
        """The state in a few words, without the seconds."""
        if not self.to_install:
            found = f": {counted(self.seen)} so far" if self.seen else ""
            return f"Finding and downloading{found}{self.package and f', {self.package}'}{self.megabytes}"
        fresh = {_plain(name.split("-")[0]) for name in set(self.installed()) - self.had}
        done = sum(_plain(name) in fresh for name in self.to_install)
        total = len(self.to_install)
        name = next((name for name in self.to_install if _plain(name) not in fresh), "last steps")
        return f"Installing {min(done + 1, total)} of {total}: {name}"

    def show(self) -> None:
        """Rewrite the line on a terminal; elsewhere add one when something changed, every few seconds at most."""
        text, now = self.text(), time.monotonic()
        if self.terminal:
            line = f"{text}, {now - self.started:.0f} s"
            print(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", file=sys.stderr, flush=True)
        elif text != self.shown and now - self.shown_at >= 3:
            print(f"{text}, {now - self.started:.0f} s", file=sys.stderr, flush=True)
            self.shown, self.shown_at = text, now

    def end(self) -> None:
        """Leave the terminal's line empty."""
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def counted(packages: int) -> str:
    """A number of packages in words."""
    return f"{packages} package{'s' * (packages != 1)}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
