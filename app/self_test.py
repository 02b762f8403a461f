"""`loquat --self-test`: the real window in child processes over a temporary home, and one line of JSON about it. No Qt.

The first child asks a question, the second finds the conversation again and draws what an answer can hold. Neither can
hang for ever, since this process ends it, and neither comes near the person's own data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from app.options import SELF_TEST, SELF_TEST_WINDOW
from engine.errors import EngineError
from engine.explain.version import program_version
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.files import folder_bytes
from engine.own_command import is_frozen, own_command
from engine.paths import OVERRIDE, default_paths, program_folder

LIMIT_S: Final = 240.0
BEGAN: Final = "LOQUAT_SELF_TEST_BEGAN"  # when a child was started, in seconds since the epoch
FAILED: Final = 1
_LAST: Final = 2_000  # characters of what a child said when it failed


class SelfTestFailed(EngineError):
    """The program does not do what it should."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When the whole test must be over, by the monotonic clock."""

    moment: float

    @property
    def left_s(self) -> float:
        """Seconds left, never none at all."""
        return max(0.1, self.moment - time.monotonic())


def main(arguments: list[str]) -> int:
    """Run the test; 0 if everything works, else 1. One line of JSON says which, on standard output or in a file."""
    options = self_test_options().parse_args(arguments)
    began = time.monotonic()
    try:
        found = _run(options.model, Deadline(began + options.self_test_limit))
        report = {"ok": True, "loquat": program_version(), "seconds": _rounded(time.monotonic() - began), **found}
    except (EngineError, OSError) as error:
        report = {"ok": False, "loquat": program_version(), **_failure(error)}
    line = json.dumps(report)
    if options.self_test_output is not None:
        options.self_test_output.write_text(line + "\n", encoding="utf-8")
    print(line, flush=True)
    return 0 if report["ok"] else FAILED


def self_test_options() -> argparse.ArgumentParser:
    """The test's own options."""
    parser = argparse.ArgumentParser(prog="loquat --self-test", description="Test the program in a home of its own.")
    parser.add_argument(SELF_TEST, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--model", metavar="NAME_OR_FILE", help="the model to test with instead of Loquat's own")
    parser.add_argument("--self-test-output", metavar="FILE", type=Path, help="write the result to a file as well")
    parser.add_argument(
        "--self-test-limit", metavar="SECONDS", type=float, default=LIMIT_S, help="the longest that it may take"
    )
    return parser


def _run(model: str | None, deadline: Deadline) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="loquat-self-test-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home with spaces 枇杷"
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder), OVERRIDE: str(home)}
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        name = _place_model(model, home, environment, deadline)
        first = _window("first", name, Path(folder), environment, deadline)
        again = _window("again", name, Path(folder), environment, deadline)
        if first.pop("messages") != again.pop("messages"):
            raise SelfTestFailed("The conversation was not found again as it was after a restart.")
        return {"first": first, "again": again, "sizes": _sizes(home)}


def _place_model(model: str | None, home: Path, environment: Mapping[str, str], deadline: Deadline) -> str | None:
    """Put the model to test with into the home, if it does not come with the program; what it is called there.

    Raises:
        EngineError: There is none.
    """
    if model is None and bundled_file(DEFAULT_MODEL) is not None:
        return None
    if model is not None and Path(model).exists():
        _child(["models", "add", str(Path(model).resolve()), "--name", "tested"], environment, deadline)
        return "tested"
    from engine.models.registry import Registry  # noqa: PLC0415 - reads model files with numpy; the window need not

    entry = Registry(default_paths().models).find(model)
    folder = home / "data" / "models" / entry.name
    folder.mkdir(parents=True)
    for file in entry.folder.iterdir():
        _lend(file, folder / file.name)
    return entry.name


def _lend(file: Path, place: Path) -> None:
    """Give a file of the person's a second place, which can be removed."""
    if os.name == "nt":
        os.link(file, place)  # symbolic links need a privilege there
    else:
        place.symlink_to(file.resolve())


def _window(
    part: str, name: str | None, folder: Path, environment: Mapping[str, str], deadline: Deadline
) -> dict[str, Any]:
    """Run one part of the test in a child with the real window; what it reports."""
    report = folder / f"{part}.json"
    model = ["--model", name] if name else []
    _child([SELF_TEST_WINDOW, part, *model, "--self-test-output", str(report)], environment, deadline, report)
    found = _read(report)
    if not found.get("ok"):
        raise SelfTestFailed(str(found.get("sentence", "The window ended and said nothing.")), str(found))
    return {name: value for name, value in found.items() if name not in ("ok", "stage")}


def _child(
    arguments: list[str], environment: Mapping[str, str], deadline: Deadline, report: Path | None = None
) -> None:
    """Run Loquat, and end it with all its children when the time is over.

    Raises:
        SelfTestFailed: It failed, or took too long.
    """
    with tempfile.TemporaryFile() as said:
        began = {BEGAN: repr(time.time())}
        command = [*own_command(), *arguments]
        process = subprocess.Popen(
            command, env={**environment, **began}, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            code = process.wait(deadline.left_s)
        except subprocess.TimeoutExpired as error:
            stage = _read(report).get("stage", "") if report is not None else ""
            where = f" while {stage}" if stage else ""
            raise SelfTestFailed(f"Loquat did not get on in time{where}.", _tail(said)) from error
        finally:
            _end(process)
        if code:
            sentence = _read(report).get("sentence") if report is not None else _tail(said).strip().rpartition("\n")[2]
            raise SelfTestFailed(str(sentence or f"Loquat ended with {code}."), _tail(said))


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    with suppress(psutil.NoSuchProcess):  # one of them may end by itself meanwhile
        family = psutil.Process(process.pid)
        for child in family.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    process.kill()
    process.wait()


def _tail(said: Any) -> str:  # noqa: ANN401 - a temporary file has no public type
    said.seek(0)
    return str(said.read().decode("utf-8", "replace")[-_LAST:])


def _read(report: Path) -> dict[str, Any]:
    """What a child has reported so far: it replaces the file as a whole."""
    try:
        value = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _failure(error: EngineError | OSError) -> dict[str, str]:
    if isinstance(error, EngineError):
        return {"sentence": error.sentence, "detail": error.detail}
    return {"sentence": f"The test could not be made: {error.strerror or error}.", "detail": repr(error)}


def _sizes(home: Path) -> dict[str, int]:
    """Bytes of the program where it is an installed one, and of what its first start made."""
    sizes = {name: folder_bytes(home / name) for name in ("data", "cache") if (home / name).is_dir()}
    return {**({"program": folder_bytes(program_folder())} if is_frozen() else {}), **sizes}


def _rounded(seconds: float) -> float:
    return round(seconds, 3)
