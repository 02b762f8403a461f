"""`loquat explain` on a tiny model: everything in numbers, as text and as one JSON object."""

from __future__ import annotations

import json
import shutil

import pytest

from engine import cli


@pytest.fixture
def model(tiny_model, loquat_home) -> str:
    shutil.copytree(tiny_model("llama", max_position_embeddings=2048), loquat_home.models / "tiny-llama")
    return "tiny-llama"


ARGUMENTS = ("--tokens", "6", "--dtype", "float32", "--threads", "1")


def test_everything_in_a_table(model, capsys):
    assert cli.main(["explain", "--model", model, *ARGUMENTS, "--no-cache"]) == 0
    said = capsys.readouterr().out
    for word in ("Turn 1", "Turn 2", "queue", "load", "template", "prefill", "first token", "decode", "in all"):
        assert word in said
    assert "reused" in said and "weights" in said and "turns of" in said
    assert "With and without the cache" in said and "the same tokens both ways" in said
    assert max(len(line) for line in said.splitlines() if "|" in line or "#" in line) <= 80


def test_everything_as_one_object(model, capsys):
    prompts = ("--prompt", "Why?", "--prompt", "And then?", "--prompt", "So?")
    assert cli.main(["explain", "--model", model, *ARGUMENTS, *prompts, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["turns"]) == 3
    second = told["turns"][1]
    assert second["trace"]["cached_tokens"] > 0
    assert second["trace"]["prefix"]["reason"] == "none"
    assert abs(second["unaccounted"]) < 0.03
    assert second["verdict"]["sentence"]
    assert told["model"]["layers"] > 0 and told["memory"]["bar"]["weights"] > 0
    assert told["profile"]["bandwidths"] and told["turns_left"]["turns"] >= 0
    assert told["comparison"] is None


@pytest.mark.parametrize("arguments", [["--tokens", "0"], ["--prompt", "  "], ["--threads", "-1"], ["--dtype", "int3"]])
def test_wrong_arguments_are_answered_in_a_sentence(arguments, capsys):
    assert cli.main(["explain", *arguments]) == 2
    assert capsys.readouterr().err.strip().endswith(".")


def test_a_command_that_is_unknown_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explode"])
    assert "unknown command explode" in capsys.readouterr().err
