"""`python -m tests.fuzz --minutes 60` fuzzes each reader for its share of the time, and tells what came of it.

What breaks a reader lies in the folder of findings afterwards, each file with the traceback beside it, and the program
ends with 1. A process that dies, hangs or takes too much memory is a finding as well; another one goes on in its place.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

TARGETS = ("gguf", "parts", "safetensors", "config")
SLACK_S = 300.0  # for imports and the first reading of the seeds, on a busy machine


def main() -> int:
    """Fuzz all readers, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--plain", action="store_true", help="change the seeds at random, not guided by coverage")
    options = parser.parse_args()
    guided = find_spec("atheris") is not None and not options.plain
    print("guided by coverage" if guided else "plain", flush=True)
    sound = [_fuzz(target, options, guided) for target in TARGETS]
    return 0 if all(sound) else 1


def _fuzz(target: str, options: argparse.Namespace, guided: bool) -> bool:
    end = time.monotonic() + 60 * options.minutes / len(TARGETS)
    seed, sound = options.seed, True
    while (left := end - time.monotonic()) > 1:
        told = _child(target, options.findings, seed, left, guided)
        print(json.dumps(told), flush=True)
        sound = sound and not told["found"]
        seed += 1
    return sound


def _child(target: str, findings: Path, seed: int, seconds: float, guided: bool) -> dict[str, object]:
    command = [sys.executable, "-m", "tests.fuzz.one", target, f"--seed={seed}", f"--seconds={seconds}"]
    command += [f"--findings={findings}", *([] if guided else ["--plain"])]
    try:
        ended = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", timeout=seconds + SLACK_S
        )
    except subprocess.TimeoutExpired:
        return {"target": target, "seed": seed, "found": ["it hung"]}
    lines = ended.stdout.splitlines()
    if ended.returncode == 0 and lines:
        told: dict[str, object] = json.loads(lines[-1])
        return told | {"seed": seed}
    return {
        "target": target,
        "seed": seed,
        "found": [f"it ended with {ended.returncode}"],
        "tail": ended.stderr[-3000:],
    }


if __name__ == "__main__":
    sys.exit(main())
