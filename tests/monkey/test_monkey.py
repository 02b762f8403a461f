"""Some seconds of the tool itself, so that it works and what it finds in them stays mended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(480)
def test_nothing_done_at_random_breaks_the_window() -> None:
    command = [sys.executable, "-m", "tests.monkey", "--seconds=20", "--seed=1", "--blocked-s=15", "--hang-s=120"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=450)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert json.loads(done.stdout)["actions"] > 20, done.stdout
