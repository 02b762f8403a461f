"""How the benchmarks' children are started, from a checkout and from a program that brings its own Python."""

from __future__ import annotations

import sys

import pytest

from engine.bench import first_token
from engine.bench.process import FIRST_TOKEN, SUBJECT, child_command
from engine.cli_bench import run
from engine.paths import Paths


def test_a_checkout_starts_modules_and_an_installed_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert child_command(FIRST_TOKEN) == [sys.executable, "-m", first_token.__name__]
    assert child_command(SUBJECT) == [sys.executable, "-m", "engine.bench.subject"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert child_command(FIRST_TOKEN) == [sys.executable, "bench", "first-token"]


def test_the_installed_program_runs_what_it_starts_itself_for(
    loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(first_token, "main", lambda path, source: asked.extend((path, source)))
    assert run(["first-token", "loquat", "smollm2"], loquat_home) == 0
    assert asked == ["loquat", "smollm2"]
