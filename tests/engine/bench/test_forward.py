"""Paths measured in processes of their own, over a tiny model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.bench.forward import ForwardOptions, bench_decode, prompt_ids
from engine.bench.harness import Figure
from engine.bench.process import SubjectProcess
from engine.bench.start import bench_start, start_figures
from engine.bench.subject import Subject, answer, load_subject
from engine.config import EngineConfig
from engine.errors import EngineError
from engine.models.registry import Registry
from engine.paths import Paths
from engine.tokenizer import load_tokenizer
from tests.engine.fakes import loquat_tokenizer

ONE = EngineConfig(device="cpu", dtype="float32", threads=1, prefill_chunk=64)


@pytest.fixture(scope="module")
def folder(tiny_model: Callable[..., Path]) -> Path:
    return tiny_model("llama", max_position_embeddings=2048)


@pytest.fixture(scope="module", params=["loquat", "transformers"])
def subject(folder: Path, request: pytest.FixtureRequest) -> Subject:
    return load_subject(request.param, folder, ONE)


@pytest.fixture(scope="module")
def ids(folder: Path) -> list[int]:
    return prompt_ids(load_tokenizer(folder), 200)


def test_prefill_counts_its_passes(subject: Subject, ids: list[int]) -> None:
    done = answer(subject, {"do": "prefill", "ids": ids})
    assert done["passes"] == (1 if subject.pacer is None else 4)  # 64 tokens at a time
    assert done["seconds"] > 0


def test_decode_is_greedy(subject: Subject, folder: Path, ids: list[int]) -> None:
    done = answer(subject, {"do": "decode", "ids": ids, "count": 6})
    expected = load_subject("transformers", folder, ONE)
    held, cache = list(ids), expected.runner.new_cache()
    logits = expected.runner.prefill(held, cache)[0]
    for token_id in done["tokens"]:
        assert token_id == int(logits.argmax())
        logits = expected.runner.decode(token_id, cache)
    assert len(done["steps"]) == 6


def test_nll_is_the_models_own(subject: Subject, folder: Path, ids: list[int]) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        loss = float(model(input_ids=torch.tensor([ids]), labels=torch.tensor([ids])).loss)
    assert answer(subject, {"do": "nll", "ids": ids})["nll"] == pytest.approx(loss, rel=1e-3)


def test_prompts_have_exactly_their_length() -> None:
    assert len(prompt_ids(loquat_tokenizer(), 777)) == 777


@pytest.mark.slow
def test_the_whole_bench_runs_in_processes(folder: Path) -> None:
    entry = Registry(folder.parent).find(folder.name)
    report = bench_decode(entry, ForwardOptions((64,), steps=4, runs=1, dtype="float32", threads=1))
    figures = {figure.name: figure.values for figure in report.figures}
    forward = ["decode_64", "decode_64_step", "decode_64_read", "peak_memory", "nll"]
    assert list(figures) == [*forward, "rewrite", "accepted", "rewrite_same"]
    assert figures["rewrite_same"] == {"lookup": 1.0, "limit": 1.0}
    assert figures["rewrite"]["ratio"] == figures["rewrite"]["lookup"] / figures["rewrite"]["plain"]
    assert figures["decode_64"]["loquat"] == pytest.approx(1000 / figures["decode_64_step"]["loquat"])
    assert figures["nll"]["ratio"] == pytest.approx(1.0, abs=0.01)
    assert report.about["transformers"] == "transformers, float32, 1 threads"


@pytest.mark.slow
def test_start_runs_the_program_from_its_start(folder: Path, loquat_home: Paths) -> None:
    loquat_home.models.mkdir(parents=True)
    (loquat_home.models / folder.name).symlink_to(folder)
    report = bench_start(Registry(loquat_home.models).find(folder.name), runs=1, warm_up=False)
    figures = {figure.name: figure.values for figure in report.figures}
    parts = ("process", "imports", "load", "first_token")
    for path in ("loquat", "transformers"):
        assert all(figures[part][path] > 0 for part in parts)
        assert sum(figures[part][path] for part in parts) == pytest.approx(figures["total"][path])


def test_stages_are_medians_of_differences() -> None:
    def run(load: float) -> dict[str, float]:
        return {
            "spawned": 10.0,
            "began": 10.5,
            "imported": 12.0,
            "loaded": 12.0 + load,
            "first_token": 13.0 + load,
            "peak_bytes": 3 << 20,
        }

    figures = start_figures({"loquat": [run(1), run(9), run(2)], "transformers": [run(4), run(4), run(4)]})
    values = {figure.name: figure.values for figure in figures}
    assert values["load"] == {"loquat": 2.0, "transformers": 4.0, "ratio": 0.5}
    assert values["total"] == {"loquat": 5.0, "transformers": 7.0, "ratio": 5 / 7}
    assert values["peak_memory"]["loquat"] == 3.0
    assert all(isinstance(figure, Figure) for figure in figures)


def test_a_child_that_cannot_begin_says_so_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        EngineError, match=r"^\S*nowhere cannot be started to measure it \(No such file or directory\)\.$"
    ):
        SubjectProcess("it", [str(tmp_path / "nowhere")])
    with pytest.raises(EngineError, match="The process that measures it ended before it was done"):
        SubjectProcess("it", [sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(EngineError, match=r"it: not today\."):
        SubjectProcess("it", [sys.executable, "-c", 'print(\'{"error": "not today."}\')'])


def test_a_child_that_dies_on_the_way_is_no_hang() -> None:
    code = "print('{}', flush=True); input(); raise SystemExit(1)"
    with SubjectProcess("it", [sys.executable, "-c", code]) as child:
        with pytest.raises(EngineError, match="ended before it was done"):
            child.ask("prefill", ids=[1])
        with pytest.raises(EngineError, match="ended before it was done"):
            child.ask("prefill", ids=[1])
