"""A virtual X screen with a window manager, the real program on it, and the hands and eyes of a person."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from engine.paths import OVERRIDE, Paths

ROOT = Path(__file__).parent.parent.parent
TOOLS = ("Xvfb", "openbox", "xdotool", "import")
POLL_S = 0.05
DOUBLE_CLICK_S = 0.5  # more than the 0.4 s within which Qt takes two clicks for one


def missing_tools() -> list[str]:
    """Programs that this machine lacks; all of them come from Debian's xvfb, openbox, xdotool and imagemagick."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Ask again and again until the answer is true, and return it; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(POLL_S)
    return answer


def stop(process: subprocess.Popen[Any]) -> None:
    """End a helper program and wait for its end."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answer_once(home: Paths) -> None:
    """Answer in the terminal, which waits for the CPU kernels: compiled, they are there for every later start."""
    command = [sys.executable, "-m", "app", "chat", "--prompt", "Hello", "--max-tokens", "1"]
    environ = {**os.environ, OVERRIDE: str(home.data.parent)}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Screen:
    """An Xvfb display of its own with openbox; also a context manager."""

    def __init__(self, logs: Path, size: str = "1440x900") -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._clicked = 0.0
        self._log = (logs / "screen.log").open("wb")
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"]
        self._server = subprocess.Popen(command, stdout=self._log, stderr=self._log, pass_fds=(write,))
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()  # written once the server takes clients; empty if it died
        assert number, f"Xvfb did not start: {(logs / 'screen.log').read_text()}"
        self.environ = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
        self.environ.update(DISPLAY=f":{number}", QT_QPA_PLATFORM="xcb", XDG_SESSION_TYPE="x11")
        self._manager = subprocess.Popen(["openbox"], env=self.environ, stdout=self._log, stderr=self._log)
        wait_until(lambda: self.tool("xdotool", "get_num_desktops").returncode == 0, 20, "the window manager")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop(self._manager)
        stop(self._server)
        self._log.close()

    def tool(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run an X program on this screen."""
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False, timeout=60)

    def press(self, *keys: str) -> None:
        """Press keys, for example "Return" or "alt+F4"."""
        done = self.tool("xdotool", "key", "--clearmodifiers", *keys)
        assert done.returncode == 0, done.stderr

    def type(self, text: str) -> None:
        """Type text, key by key, into whatever has the focus."""
        done = self.tool("xdotool", "type", "--delay", "15", text)
        assert done.returncode == 0, done.stderr

    def point_at(self, x: int, y: int) -> None:
        """Move the mouse there, and wait until it is."""
        # From beside it: --sync waits for the mouse to move, for 15 s where it stands there already.
        done = self.tool("xdotool", "mousemove", str(x + 1), str(y), "mousemove", "--sync", str(x), str(y))
        assert done.returncode == 0, done.stderr

    def click(self, x: int, y: int, times: int = 1, button: int = 1) -> None:
        """Move the mouse there and press a button of it, later than would make the click before a double one."""
        self.point_at(x, y)
        time.sleep(max(0.0, self._clicked + DOUBLE_CLICK_S - time.monotonic()))
        done = self.tool("xdotool", "click", "--repeat", str(times), "--delay", "60", str(button))
        assert done.returncode == 0, done.stderr
        self._clicked = time.monotonic()

    def picture(self, path: Path, window: str = "root") -> Path:
        """Save what is on the screen, or in one window, as a PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        done = self.tool("import", "-window", window, str(path))
        assert done.returncode == 0, done.stderr
        return path


class Program:
    """`loquat` as its own process on a screen, with a home."""

    def __init__(self, screen: Screen, home: Paths, logs: Path) -> None:
        self.screen = screen
        self.home = home
        self.log = logs / "loquat.log"
        self.environ = {**screen.environ, OVERRIDE: str(home.data.parent)}
        with self.log.open("ab") as log:
            self.process = self._start(log)

    def _start(self, log: BinaryIO) -> subprocess.Popen[Any]:
        return subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=self.environ, stdout=log, stderr=log)

    def alive(self) -> bool:
        """Whether it runs; fails with its output if it ended by itself."""
        assert self.process.poll() is None, f"loquat ended with {self.process.returncode}:\n{self.log.read_text()}"
        return True

    def window(self, seconds: float = 30) -> str:
        """The id of its window once it is on the screen and has the focus."""

        def find() -> str:
            self.alive()
            found = self.screen.tool(
                "xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid), "--name", ".+"
            )
            return next(iter(found.stdout.split()), "")

        identifier = str(wait_until(find, seconds, "the window"))
        done = self.screen.tool("xdotool", "windowactivate", "--sync", identifier)
        assert done.returncode == 0, done.stderr
        return identifier

    def messages(self) -> list[sqlite3.Row]:
        """What the database holds now, in the order of its making; nothing while there is no database."""
        return self.rows("SELECT * FROM message ORDER BY key")

    def rows(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """What the database answers now; nothing while there is none."""
        if not self.home.database.exists():
            return []
        db = sqlite3.connect(f"{self.home.database.as_uri()}?mode=ro", uri=True, timeout=5)
        db.row_factory = sqlite3.Row
        try:
            return db.execute(statement, values).fetchall()
        except sqlite3.OperationalError:  # made, but without its tables yet
            return []
        finally:
            db.close()

    def replies(self, status: str) -> list[sqlite3.Row]:
        """The answers in the database with that status and some text."""
        self.alive()
        return [
            row for row in self.messages() if row["role"] == "assistant" and row["status"] == status and row["content"]
        ]

    def close(self) -> int:
        """Close the window as a person does; the exit code."""
        self.screen.press("alt+F4")
        return self.process.wait(30)

    def kill(self) -> None:
        """End it with no chance to tidy up; also where a test failed half-way."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
