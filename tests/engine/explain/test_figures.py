"""The arithmetic over a trace: right on plain turns, silent on broken ones."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain.figures import (
    figures,
    percentile,
    ratio,
    screen_rate,
    seconds_between,
    shares,
    stalled,
    ticks,
    unaccounted,
    usual_gap_ms,
)
from engine.explain.trace import Phases, TurnTrace
from tests.engine.explain.traces import any_trace, typical


def test_the_figures_of_a_plain_turn():
    found = figures(typical())
    assert found.wall_ms == pytest.approx(1240)
    assert found.ttft_ms == pytest.approx(230)
    assert (found.tpot_p50_ms, found.tpot_p95_ms, found.tpot_max_ms) == pytest.approx((10, 10, 10))
    assert found.engine_rate == pytest.approx(100)
    assert found.prefill_rate == pytest.approx(200)
    assert (found.stall_ms, found.step_ms) == (0, pytest.approx(10))


def test_a_turn_without_tokens_or_with_one_has_no_rates():
    for times in ((), (2300,)):
        found = figures(typical(token_times=times))
        assert (found.tpot_p50_ms, found.tpot_max_ms, found.engine_rate) == (None, None, None)
    assert figures(typical(token_times=(2300,))).ttft_ms == pytest.approx(230)
    assert figures(TurnTrace()) == figures(TurnTrace(token_times=()))
    assert set(dataclasses.astuple(figures(TurnTrace()))) == {None, 0.0}


@given(any_trace)
def test_no_trace_gives_a_number_that_is_none(trace: TurnTrace):
    for value in dataclasses.astuple(figures(trace)):
        assert value is None or math.isfinite(value)
    assert sum(share.share for share in shares(trace.phases)) == pytest.approx(1) or not shares(trace.phases)
    assert unaccounted(trace) is None or math.isfinite(unaccounted(trace))


def test_the_time_bar_leaves_out_what_is_not_known():
    bar = shares(Phases(queue=None, load=0.0, template=0.25, prefill=0.75))
    assert [(part.name, part.ms, part.share) for part in bar] == [("template", 250, 0.25), ("prefill", 750, 0.75)]
    assert shares(Phases()) == ()


def test_the_parts_are_compared_with_the_wall_time():
    assert unaccounted(typical()) == pytest.approx(0, abs=1e-9)
    assert unaccounted(typical(wall_s=2.48)) == pytest.approx(0.5)
    assert unaccounted(typical().with_drawing(0.1)) == pytest.approx(0, abs=1e-9)
    assert unaccounted(typical(phases=Phases(queue=1.0))) is None


def test_a_stall_is_over_four_medians_and_over_150_ms():
    usual = [10.0] * 20
    assert stalled([*usual, 149.0]) == ()
    assert stalled([*usual, 151.0]) == (21,)
    slow = [50.0] * 20
    assert stalled([*slow, 199.0]) == ()
    assert stalled([*slow, 201.0, 50.0, 500.0]) == (21, 23)
    assert stalled([]) == () == stalled([900.0])


def test_drafted_tokens_do_not_make_plain_steps_stalls():
    gaps = [0.0, 0.0, 0.0, 200.0] * 10
    assert stalled(gaps) == tuple(range(4, 41, 4))
    assert usual_gap_ms(gaps, free=30) == 200.0
    assert stalled(gaps, free=30) == ()
    assert usual_gap_ms([1.0], free=9) == 1.0


@pytest.mark.parametrize("times", [[5.0, 4.0], [1.0], [math.nan], [math.inf]])
def test_a_clock_that_jumps_leaves_no_times(times: list[float]):
    assert ticks(2.0, times) == ()


def test_times_are_kept_to_a_tenth_of_a_millisecond():
    assert ticks(1.0, [1.0, 1.00012, 1.5]) == (0, 1, 5000)


def test_seconds_are_not_known_where_a_clock_ran_backwards():
    assert seconds_between(1.0, 1.5) == 0.5
    assert seconds_between(1.5, 1.0) is None
    assert seconds_between(None, 1.0) is None
    assert seconds_between(0.0, math.nan) is None


@given(st.none() | st.floats(), st.none() | st.floats())
def test_a_ratio_is_finite_or_not_known(above: float | None, below: float | None):
    result = ratio(above, below)
    assert result is None or (math.isfinite(result) and result >= 0)


def test_percentiles_are_values_that_occurred():
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0], 1.0) == 3.0
    assert percentile([], 0.5) is None


def test_the_screens_rate():
    assert screen_rate([1, 5, 11], [0.0, 40.0, 100.0]) == pytest.approx(100)
    assert screen_rate([1], [0.0]) is None
    assert screen_rate([1, 5], [40.0, 0.0]) is None
    assert screen_rate([1, 5], [40.0]) is None
