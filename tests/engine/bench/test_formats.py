"""The weights in each format: measured over a tiny model, and what is kept of it."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.bench import formats
from engine.bench.format_figures import FormatFigures, FormatTable, keep_formats, read_formats
from engine.bench.formats import FormatOptions, bench_formats
from engine.errors import BadRequest, EngineError
from engine.machine import stated_machine
from engine.models.model_folder import Manifest, write_json
from engine.models.registry import ModelEntry, Registry

OPTIONS = FormatOptions(device="cpu", runs=1, threads=1, tokens=48, steps=4, nll_tokens=200)


@pytest.fixture
def entry(tiny_model: Callable[..., Path], tmp_path: Path) -> ModelEntry:
    folder = shutil.copytree(tiny_model("llama"), tmp_path / "models" / "tiny")
    manifest = Manifest(1, "tiny", "Tiny", "llama", 100_000, 1, "tiny.gguf", "", "2026-01-01T00:00:00+00:00")
    write_json(folder / "loquat.json", dataclasses.asdict(manifest))
    return Registry(tmp_path / "models").find("tiny")


@pytest.mark.slow
def test_each_format_is_measured_and_kept(entry: ModelEntry, tmp_path: Path) -> None:
    wanted = dataclasses.replace(OPTIONS, formats=("float32", "int8"))
    report = bench_formats(entry, tmp_path / "cache", wanted)
    figures = {figure.name: figure.values for figure in report.figures}
    assert list(figures["nll"]) == ["int8", "float32"]  # the smallest first
    assert figures["nll_change"]["float32"] == 0
    assert 0 < abs(figures["nll_change"]["int8"] or 0) < 1
    for name in ("prefill", "decode", "weights"):
        assert all(value and value > 0 for value in figures[name].values())
    weights = figures["per_weight"]
    assert (weights["int8"] or 0) < (weights["float32"] or 0)
    kept = read_formats(tmp_path / "cache", entry)
    assert kept is not None and kept.tokens == 200
    assert {one.name: one.nll for one in kept.figures} == figures["nll"]
    assert not list(entry.folder.glob("packed-*"))  # packed for the measurement only


def test_a_format_that_the_device_lacks_is_refused(entry: ModelEntry, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"cannot be held in nf4 on this machine; choose one of int4, int8, float32"):
        bench_formats(entry, tmp_path, dataclasses.replace(OPTIONS, formats=("nf4",)))


def test_what_the_kernels_cannot_run_is_not_offered(entry: ModelEntry, tmp_path: Path) -> None:
    config = json.loads((entry.folder / "config.json").read_text())
    (entry.folder / "config.json").write_text(json.dumps(config | {"hidden_act": "gelu"}))
    with pytest.raises(BadRequest, match=r"cannot be held in int4 on this machine; choose one of float32, bfloat16"):
        bench_formats(entry, tmp_path, dataclasses.replace(OPTIONS, formats=("int4",)))


def test_a_model_that_fits_in_no_format(entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "measure_machine", lambda kind: stated_machine(kind, 1000))
    with pytest.raises(EngineError, match="No format of Tiny could be measured") as caught:
        bench_formats(entry, tmp_path, OPTIONS)
    assert "does not fit into memory" in caught.value.detail


def test_large_models_are_measured_one_format_after_the_other(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = formats._offered(entry, OPTIONS)
    assert [held.name for held in every] == ["int4", "int8", "float32", "bfloat16"]
    assert formats._groups(entry, every) == [every]
    monkeypatch.setattr(formats.psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    assert formats._groups(entry, every) == [[held] for held in every]


def table(entry: ModelEntry, *figures: FormatFigures) -> FormatTable:
    return FormatTable(entry.label, entry.source, entry.parameters, "here", "now", 1024, figures)


def test_formats_measured_before_stay(entry: ModelEntry, tmp_path: Path) -> None:
    four, eight = FormatFigures("int4", nll=2.0, weight_bytes=4), FormatFigures("int8", nll=3.0, weight_bytes=8)
    keep_formats(tmp_path, entry, table(entry, eight))
    keep_formats(tmp_path, entry, table(entry, four))
    again = dataclasses.replace(eight, nll=2.5)
    keep_formats(tmp_path, entry, table(entry, again))
    assert read_formats(tmp_path, entry) == table(entry, four, again)


def test_figures_of_another_model_are_not_shown(entry: ModelEntry, tmp_path: Path) -> None:
    assert read_formats(tmp_path, entry) is None
    keep_formats(tmp_path, entry, table(entry, FormatFigures("int4", nll=2.0)))
    assert read_formats(tmp_path, dataclasses.replace(entry, source="other.gguf")) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"figures": [1]}', '{"source": 5, "figures": "x"}'])
def test_a_damaged_file_counts_as_none(text: str, entry: ModelEntry, tmp_path: Path) -> None:
    keep_formats(tmp_path, entry, table(entry, FormatFigures("int4", nll=2.0)))
    next((tmp_path / "formats").iterdir()).write_text(text)
    assert read_formats(tmp_path, entry) is None


def test_the_window_can_read_them_without_torch() -> None:
    loads = "import sys, engine.bench.format_figures, engine.models.quality; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
