"""One run of a target: anything but a good sentence is a finding, kept as a file with where it came from."""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
from pathlib import Path

import psutil

from engine.errors import EngineError
from tests.fuzz.targets import Target

MEMORY = 200 << 20  # beyond what the process holds after it has read all seeds, and the file
LONGEST_FILE = 1 << 20
LONGEST_SENTENCE = 500
SLOW_S = 2.0  # of processor time, which neighbours do not lengthen


class Guard:
    """Runs a target on bytes, and keeps what it must not do.

    Args:
        target: The reader.
        folder: Where the file is written that it reads.
        findings: Where inputs are kept that broke it.
    """

    def __init__(self, target: Target, folder: Path, findings: Path) -> None:
        self.target = target
        self.path = folder / target.file
        self.findings = findings
        self.found: set[str] = set()
        self.runs = 0
        self.sound = 0

    def run(self, data: bytes) -> None:
        """Read one file."""
        self.path.write_bytes(data)
        self.runs += 1
        start = time.process_time()
        try:
            self.target.read(self.path)
            self.sound += 1
        except EngineError as error:
            if not error.sentence.isprintable() or len(error.sentence) > LONGEST_SENTENCE or error.sentence[-1:] != ".":
                self._keep(data, f"a sentence that cannot be shown: {error.sentence[:60]!r}", traceback.format_exc())
        except Exception as error:
            self._keep(data, f"{type(error).__name__} {_place(error)}", traceback.format_exc())
        if time.process_time() - start > SLOW_S:
            self._keep(data, "slow", f"{time.process_time() - start:.1f} s")

    def _keep(self, data: bytes, what: str, detail: str) -> None:
        if what in self.found:
            return
        self.found.add(what)
        path = self.findings / f"{hashlib.sha256(data).hexdigest()[:16]}-{self.path.name}"
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(f"{what}\n\n{detail}", encoding="utf-8", errors="backslashreplace")


def limit_memory() -> None:
    """From now on this process may take no more than a little beyond what it has; more is a MemoryError.

    Windows knows no such limit.
    """
    if sys.platform == "win32":
        return
    import resource

    room = psutil.Process().memory_info().vms + MEMORY + LONGEST_FILE
    resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"in {Path(frame.filename).name}:{frame.lineno}"
