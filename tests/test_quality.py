"""The linters run as tests, so that the one test command is the whole truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = {
    "ruff check": ["-m", "ruff", "check", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "mypy": ["-m", "mypy"],
    "layers": ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_tree_is_clean(check: str) -> None:
    done = subprocess.run([sys.executable, *CHECKS[check]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{check}:\n{done.stdout}\n{done.stderr}"
