#!/usr/bin/env python3
"""Makes Loquat's environment in `.venv` and runs the program or its tests in it.

    python3 packaging/bootstrap.py run [arguments of loquat]
    python3 packaging/bootstrap.py test [arguments of pytest]

Standard library only. The first call installs with visible progress; later ones only compare a stamp and start.
pip's own settings (PIP_* variables, pip.conf) hold, so mirrors, wheel folders and a CPU build of torch work as usual.
"""

from __future__ import annotations

import sys

# Before any newer syntax or import: an old Python must get a sentence, not a traceback.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "Loquat needs Python 3.11 or newer; this is %d.%d (%s). " % (sys.version_info[:2] + (sys.executable,))  # noqa: UP031, RUF005
        + "Start the script with a newer one, for example: python3.12 packaging/bootstrap.py run"
    )

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

import system_libraries
from pip_progress import Progress, counted

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "loquat-installed.json"
UNFINISHED = VENV / "loquat-unfinished"
LOG = VENV / "loquat-install.log"
LOCK = ROOT / ".venv.lock"
PROJECT = ROOT / "pyproject.toml"
TAIL_LINES = 15

HINTS = (
    ("No space left on device", "The disk is full: free a few gigabytes, then run the command again."),
    ("No module named pip", "Delete the folder .venv, then run the command again."),
    (
        "Failed to establish a new connection|name resolution|ConnectTimeout|ReadTimeout|Network is unreachable",
        "The package index cannot be reached: check the network (or pip's proxy settings), then run the command again.",
    ),
    (
        "No matching distribution found",
        "There is no such package for this Python and system: try another Python (3.11 to 3.14); check pip's index.",
    ),
)


class Trouble(Exception):
    """Something the person has to mend; its text says what and how."""


def say(text: str) -> None:
    """One line on standard error, so that the program's own output stays clean."""
    print(text, file=sys.stderr, flush=True)


# --- what stands in .venv -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stamp:
    """What a finished installation was made from; any difference means installing again."""

    project: str  # sha256 of pyproject.toml
    root: str  # an editable installation knows the path of its checkout
    python: str  # the interpreter behind .venv: an upgrade of the system's Python replaces it
    extras: list[str]
    packages: list[str] = field(default_factory=list)

    def covers(self, wanted: Stamp) -> bool:
        """Whether this installation is the wanted one and none of its packages has gone since."""
        return (
            (self.project, self.root, self.python) == (wanted.project, wanted.root, wanted.python)
            and set(self.extras) >= set(wanted.extras)
            and set(self.packages) <= set(installed_packages())
        )


def wanted_stamp(extras: list[str]) -> Stamp:
    """What the checkout asks for now."""
    digest = hashlib.sha256(PROJECT.read_bytes()).hexdigest()
    return Stamp(digest, str(ROOT), os.path.realpath(PYTHON) if PYTHON.exists() else "", extras)


def read_stamp() -> Stamp | None:
    """The last finished installation; None if there is none, or none that can be read."""
    try:
        return Stamp(**json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_stamp(extras: list[str]) -> None:
    """Call the installation finished; in one step, so that half a stamp is never read."""
    done = wanted_stamp(extras)
    text = json.dumps({**vars(done), "packages": installed_packages()}, indent=1)
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(STAMP)
    UNFINISHED.unlink()


def installed_packages() -> list[str]:
    """Names of the `.dist-info` folders in the environment, for example `torch-2.13.0.dist-info`."""
    folders = [VENV / "Lib" / "site-packages"] if os.name == "nt" else sorted(VENV.glob("lib/python3*/site-packages"))
    return sorted(entry.name for folder in folders if folder.is_dir() for entry in folder.glob("*.dist-info"))


def ready(extras: list[str]) -> bool:
    """Whether the program can start at once."""
    stamp = read_stamp()
    return stamp is not None and not UNFINISHED.exists() and PYTHON.exists() and stamp.covers(wanted_stamp(extras))


# --- installing -----------------------------------------------------------------------------------------------------


def check_python() -> None:
    """Refuse what torch and Qt have no builds for, and a Python without the venv module, each with a sentence."""
    if sys.maxsize < 2**32:
        raise Trouble("Loquat needs a 64-bit Python; this one is 32-bit. Install the 64-bit one and try again.")
    if sys.platform == "darwin" and platform.machine() != "arm64":
        raise Trouble("Loquat needs a Mac with Apple silicon and an arm64 Python: torch has no build for this one.")
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        raise Trouble(
            f"This Python lacks the venv module. On Debian and Ubuntu install it with: sudo apt install {package}"
        )


@contextlib.contextmanager
def only_one() -> Iterator[IO[str]]:
    """Hold the installation lock; a second start waits here until the first is done."""
    with LOCK.open("a+", encoding="utf-8") as handle:
        if not _try_lock(handle):
            say("Another start is installing; waiting for it.")
            while not _try_lock(handle):
                time.sleep(0.2)
        yield handle


def _try_lock(handle: IO[str]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def install(extras: list[str]) -> None:
    """Bring `.venv` to what pyproject.toml asks for, from whatever state it is in.

    Raises:
        Trouble: It did not work; the text holds the end of pip's output.
    """
    check_python()
    with only_one() as lock:
        if ready(extras):
            return
        before = read_stamp()
        extras = sorted({*extras, *(before.extras if before else [])})
        started = time.monotonic()
        if not _usable():
            make_venv(lock)
        UNFINISHED.touch()
        LOG.write_text("", encoding="utf-8")
        pip = pinned_pip()
        if pip:
            run_pip([pip], lock, started, raw=False)
        target = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
        count = run_pip(["--editable", target], lock, started, raw=bool(pip))
        write_stamp(extras)
        say(f"Installed {counted(count)} in {time.monotonic() - started:.0f} s.")


def _usable() -> bool:
    """Whether `.venv` can be built upon: made to its end, never left in mid-installation, its Python still there."""
    if UNFINISHED.exists() or not PYTHON.exists():
        return False
    stamp = read_stamp()
    if stamp and stamp.python != os.path.realpath(PYTHON):
        return False
    return subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


def make_venv(lock: IO[str]) -> None:
    """Make an empty `.venv`, in place of what is there."""
    say("Making the environment in .venv ...")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    UNFINISHED.touch()
    command = [sys.executable, "-m", "venv", str(VENV)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=holders(lock))
    if done.returncode:
        raise Trouble(f"Python could not make the environment {VENV}:\n{done.stdout}{done.stderr}")


def holders(lock: IO[str]) -> tuple[int, ...]:
    """The descriptor a child inherits: if this script is killed, the next start waits until the child has ended."""
    return () if os.name == "nt" else (lock.fileno(),)


def pinned_pip() -> str | None:
    """The project's own pin of pip, installed first: its progress lines are known."""
    dependencies = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"].get("dependencies", [])
    return next((pin for pin in dependencies if re.match(r"pip\s*==", pin)), None)


def run_pip(arguments: list[str], lock: IO[str], started: float, *, raw: bool) -> int:
    """Run `pip install` with its output in the log, and show the progress read from there; the packages installed."""
    bar = "raw" if raw else "off"  # "raw" is known from pip 24.1 on
    command = [str(PYTHON), "-m", "pip", "install", "--no-input", "--no-user", "--progress-bar", bar, *arguments]
    progress = Progress(started, installed_packages)
    with LOG.open("ab") as log, LOG.open(encoding="utf-8", errors="replace") as reader:
        reader.seek(0, os.SEEK_END)
        child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, pass_fds=holders(lock))
        try:
            _follow(child, reader, progress)
        except KeyboardInterrupt:
            child.wait()  # Ctrl-C reached pip too
            raise
        finally:
            progress.end()
    if child.returncode:
        raise Trouble(explain(LOG.read_text(encoding="utf-8", errors="replace")))
    return len(progress.to_install)


def _follow(child: subprocess.Popen[bytes], reader: IO[str], progress: Progress) -> None:
    ended = False
    partial = ""
    while not ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.2)
        ended = child.poll() is not None
        *lines, partial = (partial + reader.read()).split("\n")
        for line in lines:
            progress.feed(line)
        progress.show()


def explain(output: str) -> str:
    """What pip said at last, and what to do about it."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("Progress ")]
    tail = "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])
    hint = next(
        (advice for pattern, advice in HINTS if re.search(pattern, output)),
        "Run the command again; should it fail the same way, these lines say why.",
    )
    return f"pip could not install Loquat. It said:\n{tail}\n{hint} All of pip's output: {LOG}"


# --- starting -------------------------------------------------------------------------------------------------------


def needs_window(arguments: list[str]) -> bool:
    """Whether `loquat` with these arguments opens a window: a word in front is a terminal command such as `chat`."""
    return not (arguments and not arguments[0].startswith("-")) and not {"-h", "--help", "--version"} & set(arguments)


def start(command: list[str]) -> NoReturn:
    """Become the program; on Windows, which cannot, run it and pass its exit code on."""
    if os.name != "nt":
        os.execv(command[0], command)  # noqa: S606
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's to handle
    sys.exit(subprocess.run(command, check=False).returncode)


def prepare(extras: list[str], *, window: bool) -> None:
    """Install if needed; complain of missing system libraries where that can matter.

    Raises:
        Trouble: A window is wanted and Qt cannot open one, or the installation failed.
    """
    fresh = not ready(extras)
    complaint = system_libraries.complaint() if window or fresh or extras else ""
    if complaint and window:
        raise Trouble(complaint)
    if complaint:
        say(f"Note: {complaint}")
    if fresh:
        install(extras)


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code where it did not start anything."""
    command, arguments = argv[:1], argv[1:]
    try:
        if command == ["run"]:
            prepare([], window=needs_window(arguments))
            start(
                [str(PYTHON), "-P", "-m", "app", *arguments]
            )  # -P: a folder "app" where the person stands is not ours
        elif command == ["test"]:
            prepare(["test"], window=False)
            os.chdir(ROOT)
            start([str(PYTHON), "-m", "pytest", *arguments])
    except Trouble as trouble:
        say(str(trouble))
        return 2
    except OSError as error:
        say(f"Loquat's environment could not be set up: {error}.")
        return 2
    except KeyboardInterrupt:
        say("Stopped. The next start begins the installation again.")
        return 130
    say(__doc__ or "")
    return 0 if set(command) & {"-h", "--help"} else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
