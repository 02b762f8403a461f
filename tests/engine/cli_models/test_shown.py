"""Counts as people read them."""

from __future__ import annotations

import pytest

from app.views.models.model_words import parameters
from engine.cli_models.shown import count


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (130_048, "130 k"),
        (999_499, "999 k"),
        (999_500, "1 M"),
        (134_515_008, "135 M"),
        (999_499_999, "999 M"),
        (1_543_714_304, "1.5 B"),
    ],
)
def test_parameters_are_said_alike_on_the_command_line_and_in_the_window(number: int, shown: str) -> None:
    assert count(number) == parameters(number) == shown
