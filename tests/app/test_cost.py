"""What reading will take: learnt from turns, wrong by little, and never from what was not measured."""

from __future__ import annotations

import random
from statistics import median

import pytest

from app.cost import PrefillCosts
from engine.stats import TurnStats


def turn(cached: int, new: int, seconds: float, *, read: int | None = None) -> TurnStats:
    done = new if read is None else read
    return TurnStats(cached + new, cached, done, 20, 0.0, 0.001, seconds - 0.001, None, None, None, 0, seconds)


def machine(cached: int, new: int, pace: float = 1.0) -> float:
    """A machine like the one this was written on: 2,000 tokens a second, slower in a long context."""
    return pace * (0.006 + new * (1 / 2200 + (cached + new / 2) * 4e-8))


def session(turns: int, noise: float, seed: int, pace: float = 1.0) -> list[TurnStats]:
    chance = random.Random(seed)
    made = []
    for _ in range(turns):
        cached = chance.choice([0, 30, 400, 1800, 3500, 6000])
        new = chance.choice([9, 25, 60, 200, 700, 1500])
        made.append(turn(cached, new, machine(cached, new, pace) * chance.lognormvariate(0, noise)))
    return made


def errors(costs: PrefillCosts, turns: list[TurnStats]) -> list[float]:
    """How wrong each prediction was, each turn learnt from after it was predicted."""
    found = []
    for stats in turns:
        told = costs.seconds("m", stats.cached_tokens, stats.prefill_tokens)
        took = stats.template_s + stats.prefill_s
        if told is not None:
            found.append(abs(told - took) / took)
        costs.learn("m", stats)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_over_a_session_half_of_the_predictions_are_wrong_by_less_than_a_quarter(seed):
    found = errors(PrefillCosts(), session(30, 0.15, seed))
    assert len(found) == 29
    assert median(found) < 0.25


def test_one_turn_is_enough_for_a_guess_and_few_for_a_good_one():
    costs = PrefillCosts()
    costs.learn("m", turn(0, 40, machine(0, 40)))
    assert costs.seconds("m", 40, 1000) == pytest.approx(machine(40, 1000), rel=0.5)
    for cached, new in ((60, 20), (100, 300), (500, 12)):
        costs.learn("m", turn(cached, new, machine(cached, new)))
    assert costs.seconds("m", 600, 1200) == pytest.approx(machine(600, 1200), rel=0.3)


def test_a_machine_that_became_slower_is_noticed_within_a_few_turns():
    costs = PrefillCosts()
    errors(costs, session(30, 0.05, 1))
    errors(costs, session(4, 0.05, 2, pace=3.0))
    assert costs.seconds("m", 400, 500) == pytest.approx(machine(400, 500, 3.0), rel=0.35)


def test_one_stall_changes_little():
    costs = PrefillCosts()
    errors(costs, session(20, 0.05, 1))
    before = costs.seconds("m", 400, 500)
    costs.learn("m", turn(400, 500, 20 * machine(400, 500)))
    assert costs.seconds("m", 400, 500) == pytest.approx(before, rel=0.35)


def test_each_model_is_learnt_by_itself_and_what_is_not_known_is_not_said():
    costs = PrefillCosts()
    costs.learn("m", turn(0, 100, 1.0))
    assert costs.seconds("other", 0, 100) is None
    assert costs.knows("m")
    assert not costs.knows("other")


@pytest.mark.parametrize(
    "stats",
    [
        turn(0, 100, 1.0, read=40),  # stopped while it read
        turn(0, 0, 1.0),
        turn(0, 100, 0.0),  # a clock that stood still
        turn(0, 100, -5.0),  # or jumped
    ],
)
def test_what_was_not_measured_teaches_nothing(stats):
    costs = PrefillCosts()
    costs.learn("m", stats)
    costs.learn("", turn(0, 100, 1.0))
    assert costs.seconds("m", 0, 100) is None


@pytest.mark.parametrize("tokens", [1, 50])
def test_the_same_turn_again_and_again_is_predicted_as_it_was(tokens):
    costs = PrefillCosts()
    for _ in range(60):
        costs.learn("m", turn(10, tokens, 0.25))
    assert costs.seconds("m", 10, tokens) == pytest.approx(0.25, rel=0.05)
    assert costs.seconds("m", 10, 2 * tokens) >= costs.seconds("m", 10, tokens)
