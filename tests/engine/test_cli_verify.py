"""`loquat verify` through the command's own entry, on a real (tiny) model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import cli
from engine.paths import Paths


@pytest.fixture
def model(tiny_model: Callable[..., Path], loquat_home: Paths) -> str:
    shutil.copytree(tiny_model("llama", max_position_embeddings=2048), loquat_home.models / "tiny-llama")
    return "tiny-llama"


def test_a_line_a_turn_and_the_verdict(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--model", model, "--tokens", "8", "--threads", "1"]) == 0
    *turns, verdict = capsys.readouterr().out.splitlines()
    assert [line.partition(";")[0] for line in turns] == [f"turn {n}: equal" for n in (1, 2, 3, 4)]
    assert verdict.startswith("All 4 answers are the same with kept caches and without (")


def test_json_has_every_turn(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--model", model, "--tokens", "4", "--threads", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["equal"] is True
    assert [turn["kept"] for turn in made["turns"]] == [turn["fresh"] for turn in made["turns"]]
    assert made["fresh_s"] == pytest.approx(sum(turn["fresh_s"] for turn in made["turns"]))


@pytest.mark.parametrize("arguments", [["--tokens", "0"], ["--tokens", "x"], ["--model", "nope"], ["--dtype", "int3"]])
def test_bad_values_get_one_sentence(model: str, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert cli.main(["verify", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.endswith(".\n")
