"""`loquat generate`: files that cannot be used are told before a model is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from engine.batch_values import Answer, Prompt
from engine.cli_generate import _Job, run
from engine.config import GREEDY
from engine.errors import BadRequest, EngineError, ModelNotFound
from engine.events import FinishReason
from engine.jsonl_answers import AnswerFile
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


@pytest.mark.parametrize(("prompts", "said"), [(1, "1 of 1, 4 tokens/s"), (2, "2 of 2, 8 tokens/s")])
def test_the_rate_is_of_the_time_since_generation_began(
    prompts: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source, now = tmp_path / "in.jsonl", [1_000.0]
    source.write_text("".join(json.dumps({"prompt": f"q{n}"}) + "\n" for n in range(prompts)), encoding="utf-8")
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def answers(asked: Iterator[Prompt]) -> Iterator[Answer]:
        now[0] += 60.0  # loading
        taken = list(asked)
        now[0] += 2.0  # then all of them end at once
        yield from (Answer(prompt.index, "so", FinishReason.LENGTH, 3, 8) for prompt in taken)

    job = _Job(source, GREEDY, "m", tmp_path / "out.jsonl")
    with AnswerFile(tmp_path / "out.jsonl") as file:
        job.survey(file)
        job.finish(file, partial(answers))
    assert said in capfd.readouterr().err
