"""The parent's end of a path that is measured in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from engine.errors import EngineError
from engine.own_command import is_frozen, own_command

_ROOT = Path(__file__).parents[2]
# `loquat bench subject '{...}'` and `loquat bench first-token PATH SOURCE` are the children where the program brings
# its own Python.
SUBJECT: Final = "subject"
FIRST_TOKEN: Final = "first-token"  # noqa: S105 - of an answer


class SubjectProcess:
    """A child that answers a JSON line with a JSON line; its first line says what it is.

    Args:
        name: Of the path, for people.
        command: Program and arguments.

    Attributes:
        about: What the child said of itself when it was ready.

    Raises:
        EngineError: It ended before it was ready; the sentence names it and says why.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._child = _start(name, command)
        try:
            self.about = self._read()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, do: str, **arguments: object) -> dict[str, Any]:
        """Have something done; waits for the result.

        Raises:
            EngineError: The child ended instead.
        """
        if self._child.stdin is None or self._child.poll() is not None:
            raise self._ended()
        try:
            self._child.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        return self._read()

    def close(self) -> None:
        """End the child: it leaves when its standard input does."""
        if self._child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it is gone, and what waited to be written with it
                self._child.stdin.close()
        if self._child.stdout is not None:
            self._child.stdout.close()
        try:
            self._child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _read(self) -> dict[str, Any]:
        line = self._child.stdout.readline() if self._child.stdout else ""
        if not line.strip():
            raise self._ended()
        result: dict[str, Any] = json.loads(line)
        if "error" in result:
            raise EngineError(f"{self.name}: {result['error']}")
        return result

    def _ended(self) -> EngineError:
        return EngineError(f"The process that measures {self.name} ended before it was done; its messages say why.")


def _start(name: str, command: Sequence[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8", env=child_environment())
    except OSError as error:
        raise EngineError(f"{command[0]} cannot be started to measure {name} ({error.strerror}).") from error


def loquat_subject(path: str, folder: Path, **config: object) -> SubjectProcess:
    """A path through Loquat's own code; see `engine.bench.subject.load_subject`."""
    options = json.dumps({"path": path, "folder": str(folder), "config": config})
    return SubjectProcess(path, [*child_command(SUBJECT), options])


def child_command(name: str) -> list[str]:
    """What starts SUBJECT or FIRST_TOKEN, without its arguments."""
    if is_frozen():
        return [*own_command(), "bench", name]
    return [sys.executable, "-m", f"engine.bench.{name.replace('-', '_')}"]


def child_environment() -> dict[str, str]:
    """This process's environment, from which a child finds the same modules, stays offline and says little."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "HF_HUB_OFFLINE": "1", **quiet}
    return {**os.environ, "PYTHONWARNINGS": "ignore::FutureWarning", **own}
