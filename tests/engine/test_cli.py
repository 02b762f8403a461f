"""What all commands share: an output that lacks characters ends none of them."""

from __future__ import annotations

import io

import pytest

from engine import cli
from engine.models.choices import ModelChoices, write_choices
from engine.paths import Paths
from tests.tiny_models import make_tiny_model


def test_a_character_that_the_output_lacks_is_a_question_mark(
    loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_choices(make_tiny_model("llama", loquat_home.models / "tiny"), ModelChoices(label="Größe 小"))
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", pipe)
    assert cli.main(["models", "list"]) == 0
    pipe.flush()
    assert pipe.buffer.getvalue().decode("cp1252").rstrip().endswith("Größe ?")  # type: ignore[attr-defined]
