"""`loquat generate`: files that cannot be used are told before a model is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cli_generate import run
from engine.errors import BadRequest, EngineError, ModelNotFound
from engine.paths import Paths


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ("none.jsonl", ModelNotFound, "There is no file .*none.jsonl"),
        ("folder", BadRequest, "cannot be read"),
        ("out.jsonl", BadRequest, "The output is the input; name another file"),
    ],
)
def test_files_that_cannot_be_used_are_a_sentence(
    source: str, kind: type[EngineError], said: str, loquat_home: Paths, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    out = tmp_path / "out.jsonl"
    out.write_text('{"prompt": "q"}\n', encoding="utf-8")  # of an earlier run, say
    with pytest.raises(kind, match=said):
        run(["--input", str(tmp_path / source), "--output", str(out)], loquat_home)
    assert not loquat_home.models.exists()
