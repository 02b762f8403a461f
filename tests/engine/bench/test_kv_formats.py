"""Keys and values in each format, measured over a tiny model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.bench.kv_formats import NAMES, KvOptions, bench_kv
from engine.models.registry import Registry


def test_each_format_is_measured_over_the_same_weights(tiny_model: Callable[..., Path]) -> None:
    folder = tiny_model("llama", max_position_embeddings=2048)
    options = KvOptions(runs=1, threads=1, context=64, nll_tokens=200)
    report = bench_kv(Registry(folder.parent).find(folder.name), options)
    figures = {figure.name: figure.values for figure in report.figures}
    assert figures["bytes_per_token"] == {"float32": 768, "float16": 384, "bfloat16": 384, "int8": 12 * (16 + 4)}
    assert len(set(figures["nll"].values())) == len(NAMES)  # none was held like another
    assert all(abs(change or 0) < 1 for change in figures["nll_change"].values())
    assert all(rate and rate > 0 for rate in figures["decode"].values())
    assert "keys and values in int8" in str(report.about["int8"])
