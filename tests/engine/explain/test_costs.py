"""The predictor of prefill: right on what it can know, robust against what disturbs it, silent before it knows."""

from __future__ import annotations

import dataclasses
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain.costs import PrefillCosts, Sample
from engine.explain.trace import Phases
from tests.engine.explain.traces import typical


def true_seconds(computed: int, cached: int) -> float:
    return 0.004 + computed / 1500 + computed * (cached + computed / 2) * 4e-8


def disturbed(chance: random.Random, computed: int, cached: int) -> float:
    noise = chance.lognormvariate(0, 0.12)
    return true_seconds(computed, cached) * noise * (5 if chance.random() < 0.08 else 1)


def test_nothing_is_predicted_before_a_turn():
    assert PrefillCosts().seconds(100, 0) is None


def test_one_turn_gives_its_rate():
    costs = PrefillCosts([Sample(100, 0, 0.2)])
    assert costs.seconds(100, 0) == pytest.approx(0.2, rel=0.01)
    assert costs.seconds(1000, 0) == pytest.approx(2.0, rel=0.1)


def test_it_learns_the_shape_of_the_cost():
    costs = PrefillCosts()
    for computed, cached in [(30, 0), (200, 60), (20, 400), (1500, 0), (40, 1600), (600, 3000), (15, 4000)]:
        costs.add(Sample(computed, cached, true_seconds(computed, cached)))
    for computed, cached in [(100, 100), (1240, 500), (60, 5000), (2000, 2000)]:
        assert costs.seconds(computed, cached) == pytest.approx(true_seconds(computed, cached), rel=0.15)


def test_thirty_edits_on_a_disturbed_machine():
    chance = random.Random(7)
    costs, errors = PrefillCosts(), []
    for _ in range(31):
        computed, cached = int(10 ** chance.uniform(1, 3.3)), chance.randrange(5000)
        predicted, happened = costs.seconds(computed, cached), disturbed(chance, computed, cached)
        if predicted is not None:
            errors.append(abs(predicted - happened) / happened)
        costs.add(Sample(computed, cached, happened))
    assert statistics.median(errors) < 0.25


def test_one_disturbed_turn_changes_little():
    costs = PrefillCosts([Sample(n, 0, n / 1000) for n in range(100, 1100, 100)])
    costs.add(Sample(500, 0, 20.0))
    assert costs.seconds(500, 0) == pytest.approx(0.5, rel=0.25)


def test_it_follows_a_machine_that_became_slower():
    costs = PrefillCosts([Sample(n, 0, n / 1000) for n in range(100, 1100, 100)])
    for n in range(100, 2600, 100):
        costs.add(Sample(n, 0, n / 400))
    assert costs.seconds(800, 0) == pytest.approx(2.0, rel=0.15)


def test_another_model_begins_again_and_a_cancelled_prefill_teaches_nothing():
    costs = PrefillCosts()
    costs.learn(typical())
    assert costs.samples == (Sample(40, 300, 0.2),)
    costs.learn(typical(computed_tokens=7))
    costs.learn(typical(phases=Phases()))
    assert len(costs.samples) == 1
    costs.learn(typical(model=dataclasses.replace(typical().model, dtype="float32")))
    assert len(costs.samples) == 1


@given(
    st.lists(
        st.builds(Sample, st.integers(-1, 10**6), st.integers(-1, 10**6), st.floats(-1, 1e6, allow_nan=False)),
        max_size=30,
    ),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
def test_a_prediction_is_never_negative_or_absurd(samples: list[Sample], computed: int, cached: int):
    costs = PrefillCosts()
    for sample in samples:
        costs.add(sample)
    predicted = costs.seconds(computed, cached)
    assert predicted is None or 0 <= predicted < float("inf")
