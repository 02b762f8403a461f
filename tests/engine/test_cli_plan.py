"""`loquat plan` through the command's own entry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import cli
from engine.paths import Paths


@pytest.fixture
def model(tiny_model: Callable[..., Path], loquat_home: Paths) -> str:
    shutil.copytree(tiny_model("llama"), loquat_home.models / "tiny-llama")
    return "tiny-llama"


def test_the_triangle_is_printed_for_people(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "--device", "cpu", "--memory", "24GiB", "--conversations", "7", "--context", "512"]) == 0
    out = capsys.readouterr().out
    assert "24.0 GiB" in out
    assert "75% of 24.0 GiB; the rest is for the system and other programs" in out
    assert "12 rows of 16 in float16" in out
    assert "384 B" in out
    assert "longest context: 512 tokens (all that the model can hold)" in out
    assert "(7 asked for, " in out


def test_the_same_as_json_adds_up(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--device", "cpu", "--memory", "24GiB", "--context", "512", "--json"]
    assert cli.main([*arguments, "--dtype", "float32", "--kv-dtype", "int8"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["kv_bytes_per_token"] == 12 * (16 + 4)
    assert made["caches"] == made["allowed"] - made["weights"] - made["workspace"]["total"]
    assert made["conversations_that_fit"] == made["caches"] // (512 * 240)
    assert made["left"] == made["caches"] - 512 * 240


def test_the_plan_is_for_what_will_be_held_where_that_is_not_as_wanted(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["plan", "--device", "cpu", "--memory", "24GiB", "--kv-dtype", "bfloat16"]) == 0
    assert "12 rows of 16 in float16, as 4-bit weights have none in bfloat16" in capsys.readouterr().out


def test_this_machine_is_measured_when_none_is_stated(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "--device", "cpu", "--model", model]) == 0
    assert "tiny-llama, 4-bit weights, on cpu with " in capsys.readouterr().out


def test_another_machine_may_have_what_this_one_lacks(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "--memory", "80GiB", "--device", "cuda", "--dtype", "nf4"]) == 0
    out = capsys.readouterr().out
    assert "tiny-llama, 4-bit weights (NF4), on cuda with 80.0 GiB" in out
    assert "92% of 80.0 GiB; the rest is for the driver" in out


def test_what_does_not_fit_is_said_and_counts_as_no(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--device", "cpu", "--memory", "4GiB", "--conversations", "1000000", "--context", "512"]
    assert cli.main(arguments) == 1
    printed = capsys.readouterr()
    assert "too much" in printed.out
    assert printed.err.startswith("There is no room for 1,000,000 chats of 512 tokens (float16) with tiny-llama ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--context", "0"],
        ["--context", "513"],
        ["--context", "many"],
        ["--conversations", "0"],
        ["--conversations", "9" * 30],
        ["--kv-dtype", "float7"],
        ["--memory", "abc"],
        ["--memory", "0"],
        ["--utilization", "1.5"],
        ["--utilization", "nan"],
        ["--device", "cpu", "--dtype", "nf4"],
        ["--memory", "80GiB", "--device", "cuda", "--dtype", "int4"],
        ["--model", "no-such-model"],
        ["--surprise"],
    ],
    ids=" ".join,
)
def test_bad_values_get_one_sentence(model: str, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert cli.main(["plan", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.endswith(".\n")


def test_a_model_of_the_catalogue_is_planned_for_before_it_is_here(loquat_home: Paths) -> None:
    planned = _in_its_own_process("--model", "qwen3-4b", "--json")
    assert planned.returncode == 0, planned.stderr
    made = json.loads(planned.stdout)
    assert made["model"] == "Qwen3 4B"
    assert made["kv_bytes_per_token"] == 2 * 36 * 8 * 128 * 2
    assert made["weights"] == pytest.approx(3.0e9, rel=0.01)
    refused = _in_its_own_process("--model", "qwen3-14b")
    assert refused.returncode == 1
    assert "choose a smaller model" in refused.stderr


def _in_its_own_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A plan for 8 GiB, of which the program takes what it does: the process of the tests holds gigabytes by now."""
    command = [sys.executable, "-P", "-m", "app", "plan", "--device", "cpu", "--memory", "8GiB", "--context", "8192"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120, check=False)
