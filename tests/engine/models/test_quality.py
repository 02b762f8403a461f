"""What packing cost, noted beside a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.quality import QUALITY, Quality, read_quality, write_quality


def test_it_is_kept_and_said(tmp_path: Path) -> None:
    assert read_quality(tmp_path) is None
    write_quality(tmp_path, Quality(256, 3.72, 3.84, "int4"))
    noted = read_quality(tmp_path)
    assert noted == Quality(256, 3.72, 3.84, "int4")
    assert noted.sentence == (
        "As it came, its mean NLL over 256 tokens is 3.720; packed in int4 for the CPU, 3.840 (+3.2 %). "
        "Added with --weights int8 it keeps more."
    )
    assert Quality(256, 3.72, 3.72, "int4").sentence.endswith("3.720 (0.0 %).")
    assert Quality(256, 3.72, 3.7199, "int4").sentence.endswith("3.720 (0.0 %).")
    assert Quality(256, 3.0, 4.0, "int8").sentence.endswith("(+33.3 %).")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"tokens": 5}', '{"tokens": "many", "floats": 1, "packed": 1, "weights": ""}']
)
def test_a_damaged_note_counts_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / QUALITY).write_text(text)
    assert read_quality(tmp_path) is None
