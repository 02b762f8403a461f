"""Loquat starts itself: the same program again, whatever folder the person stands in; a frozen one cleans up first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.own_command import free_children, own_command


def test_a_child_is_this_program_wherever_the_person_stands(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text("raise SystemExit('somebody else')")
    done = subprocess.run([*own_command(), "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loquat ")


def test_a_frozen_program_is_its_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/loquat/loquat")
    assert own_command() == ["/opt/loquat/loquat"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"LD_LIBRARY_PATH": "/opt/loquat/_internal", "LD_LIBRARY_PATH_ORIG": "/usr/mine"}, "/usr/mine"),
        ({"LD_LIBRARY_PATH": "/opt/loquat/_internal"}, None),
        ({}, None),
    ],
)
def test_children_of_a_frozen_program_find_the_systems_libraries(
    before: dict[str, str], after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environment = dict(before)
    free_children(environment)
    assert environment.get("LD_LIBRARY_PATH") == after
    assert "LD_LIBRARY_PATH_ORIG" not in environment


def test_in_a_checkout_the_persons_library_path_is_left_alone() -> None:
    environment = {"LD_LIBRARY_PATH": "/usr/mine", "LD_LIBRARY_PATH_ORIG": "/x"}
    free_children(environment)
    assert environment == {"LD_LIBRARY_PATH": "/usr/mine", "LD_LIBRARY_PATH_ORIG": "/x"}
