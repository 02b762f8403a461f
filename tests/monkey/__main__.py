"""`python -m tests.monkey --seconds 60 --seed 1` drives the whole window at random and tells what went wrong.

It prints one line of JSON: the seed, how many actions there were, and the faults, each with the actions before it; the
program ends with 1 if there is a fault. The window runs in a child process, with a home of its own and a scripted
worker in place of the engine's, so that a hang and a crash are told as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from engine.paths import OVERRIDE
from tests.monkey.watch import TRAIL_FILE, TRAIL_LENGTH

ROOT = Path(__file__).parents[2]
SLACK_S = 240.0  # for the start, the end and the check of the database, on a busy machine


def main() -> int:
    """Run the child and tell what it found."""
    parser = argparse.ArgumentParser(prog="python -m tests.monkey", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocked-s", type=float, default=5.0, help="for which no event may be kept waiting")
    parser.add_argument("--hang-s", type=float, default=60.0, help="after which an action never ends")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loquat-monkey-", ignore_cleanup_errors=True) as home:
        told = _child(options, Path(home))
    print(json.dumps(told), flush=True)
    return 1 if told["faults"] else 0


def _child(options: argparse.Namespace, home: Path) -> dict[str, Any]:
    asked = [f"--{name.replace('_', '-')}={value}" for name, value in vars(options).items()]
    command = [sys.executable, "-m", "tests.monkey.one", str(home), *asked]
    try:
        ended = subprocess.run(
            command,
            cwd=home,
            env=_environment(home),
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.seconds + options.hang_s + SLACK_S,
        )
    except subprocess.TimeoutExpired as error:
        return _unfinished(options.seed, home, "it did not end", _text(error.stderr))
    lines = ended.stdout.splitlines()
    if ended.returncode == 0 and lines:
        told: dict[str, Any] = json.loads(lines[-1])
        return told
    return _unfinished(options.seed, home, f"it hung or crashed: it ended with {ended.returncode}", ended.stderr)


def _environment(home: Path) -> dict[str, str]:
    """No screen, no network, and nothing of the person's within reach, whatever is clicked."""
    places = {"HOME": home, "XDG_CONFIG_HOME": home / "xdg", "XDG_DATA_HOME": home / "xdg", OVERRIDE: home / "loquat"}
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "QT_QPA_PLATFORM": "offscreen"}
    return {**os.environ, **offline, "PYTHONPATH": str(ROOT), **{name: str(place) for name, place in places.items()}}


def _unfinished(seed: int, home: Path, what: str, said: str) -> dict[str, Any]:
    trail = home / TRAIL_FILE
    actions = trail.read_text(encoding="utf-8").splitlines() if trail.is_file() else []
    fault = {"what": what, "detail": said[-12_000:], "trail": actions[-TRAIL_LENGTH:]}
    return {"seed": seed, "actions": len(actions), "faults": [fault]}


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""


if __name__ == "__main__":
    sys.exit(main())
