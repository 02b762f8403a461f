from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.choices import CHOICES, AdapterChoice, ModelChoices, read_choices, write_choices


def test_choices_come_back_as_they_were(tmp_path: Path) -> None:
    chosen = ModelChoices("Mein Modell", (AdapterChoice("poet"), AdapterChoice("pirate", on=False)), "small", True)
    write_choices(tmp_path, chosen)
    assert read_choices(tmp_path) == chosen


@pytest.mark.parametrize("text", ["", "[]", "{", '{"adapters": [1]}', '{"adapters": 3}', '{"adapters": [{"on": 1}]}'])
def test_a_file_that_cannot_be_read_counts_as_nothing_chosen(tmp_path: Path, text: str) -> None:
    (tmp_path / CHOICES).write_text(text)
    assert read_choices(tmp_path) == ModelChoices()
