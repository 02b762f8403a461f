"""Looks that the doctor leaves to child processes: what they import is slow, may be broken, or may crash.

Each child is Loquat's own command line with a hidden option, and prints one JSON object.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from engine.own_command import own_command

OPTION: Final = "--look-at"
PATIENCE_S: Final = 60.0
_LAST: Final = 400  # characters of what a child said when it failed


def look(what: Sequence[str], patience_s: float = PATIENCE_S) -> dict[str, dict[str, Any]]:
    """Run the looks of these names beside each other.

    Returns:
        What each found, by its name; one that failed has found {"failed": why}, with "late" where it took too long.
    """
    with ThreadPoolExecutor(len(what), thread_name_prefix="doctor") as pool:
        found = pool.map(lambda name: _ask(name, patience_s), what)
        return dict(zip(what, found, strict=True))


def answer(what: str, looks: Mapping[str, Callable[[], dict[str, Any]]]) -> None:
    """In the child: look, and print what was found."""
    print(json.dumps(looks[what]()), flush=True)


def _ask(what: str, patience_s: float) -> dict[str, Any]:
    command = [*own_command(), "doctor", OPTION, what]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=patience_s,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer within {patience_s:.0f} seconds", "late": True}
    return _found(done)


def _found(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The last line that is an object: a library may have printed something before it."""
    for line in reversed(done.stdout.splitlines()):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    if done.returncode < 0:
        return {"failed": f"crashed with signal {-done.returncode}"}
    last = done.stderr.strip().splitlines()[-1:]
    return {"failed": (last[0] if last else f"ended with {done.returncode} and said nothing")[-_LAST:]}
