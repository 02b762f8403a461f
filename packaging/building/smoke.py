"""Starts the frozen program with an empty home and no screen: `python3 -m building.smoke PROGRAM` in packaging/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

LIMIT_S: Final = 600
_PASSED: Final = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL", "USERNAME", "NUMBER_OF_PROCESSORS")


def smoke(program: Path) -> dict[str, Any]:
    """What `--self-test` said of the program in its one line.

    Raises:
        SystemExit: It did not pass, with what it wrote.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        done = subprocess.run(
            [str(program), "--self-test", "--self-test-limit", str(LIMIT_S - 30)],
            env=clean_environment(Path(home)),
            cwd=home,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=LIMIT_S,
        )
    if done.returncode:
        raise SystemExit(f"{program} --self-test ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def clean_environment(home: Path) -> dict[str, str]:
    """The variables of somebody who has just installed the program and has no screen."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    folders = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))
    return {**passed, **folders, "QT_QPA_PLATFORM": "offscreen"}


def main(arguments: list[str]) -> int:
    """Test the program named; returns the exit code."""
    print(json.dumps(smoke(Path(arguments[0]).resolve()), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
