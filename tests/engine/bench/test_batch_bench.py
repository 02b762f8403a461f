"""Several sequences in one pass, measured over a tiny model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.bench.batch import BatchOptions, bench_batch, pays_until
from engine.errors import UnsupportedModel
from engine.models.registry import Registry


def test_each_size_is_measured(tiny_model: Callable[..., Path]) -> None:
    folder = tiny_model("llama", max_position_embeddings=2048)
    options = BatchOptions(runs=1, context=16, steps=2, sizes=(1, 2, 4), threads=1, dtype="int8")
    report = bench_batch(Registry(folder.parent).find(folder.name), options)
    figures = {figure.name: figure.values for figure in report.figures}
    assert set(figures["all"]) == {"1", "2", "4"} and all(rate and rate > 0 for rate in figures["all"].values())
    assert figures["gain"]["1"] == 1
    assert str(report.about["stops paying"]).startswith("beyond ")


def test_where_one_sequence_is_read_a_pass_that_is_said(tiny_model: Callable[..., Path]) -> None:
    folder = tiny_model("llama", max_position_embeddings=2048)
    with pytest.raises(UnsupportedModel, match="reads one sequence a pass"):
        bench_batch(Registry(folder.parent).find(folder.name), BatchOptions(dtype="float32", threads=1))


@pytest.mark.parametrize(
    ("rates", "expected"),
    [({"1": 100, "2": 180, "4": 300, "8": 310, "16": 280}, "beyond 4 at once"),
     ({"1": 100, "2": 90}, "beyond 1 at once"), ({"1": 100, "2": 200}, "beyond 2 at once")],
)  # fmt: skip
def test_it_stops_paying_where_twice_as_many_give_little_more(rates: dict[str, float], expected: str) -> None:
    assert pays_until(rates) == expected
