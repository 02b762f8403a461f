"""What the inspector says of a turn, and that it never invents."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.views.inspector import memory_values, turn_values
from engine.explain.figures import figures
from engine.explain.trace import BreakReason, Phases, PrefixBreak, Stall, StallCause, TurnTrace
from engine.memory import Machine, allowance
from tests.app.views.inspector.traces import turn


def test_the_time_bar_names_every_phase_that_took_time_with_its_share() -> None:
    bar = turn_values.time_bar(turn())
    assert [each.label for each in bar] == [
        "Waiting for its turn",
        "Template",
        "Prefill, 405 tokens",
        "First token",
        "Decode, 101 tokens",
        "Drawing",
    ]
    assert sum(each.value for each in bar) == pytest.approx(1000 * (2.3 + 0.026), rel=0.03)
    assert bar[4].text == "2.20 s · 96 %"


def test_a_stall_is_named_with_its_cause_and_marked_in_the_strip() -> None:
    (line,) = turn_values.stall_lines(turn())
    assert line.text == "Stall of 110 ms before token 42: the cache grew"
    assert line.detail.startswith("The KV cache moved")
    strip = turn_values.strip_of(turn())
    assert [strip.gaps_ms[index] for index in strip.late] == [pytest.approx(110.0)]
    assert strip.usual_ms == pytest.approx(18.0)


def test_only_the_worst_stalls_are_told_and_the_rest_counted() -> None:
    stalls = tuple(Stall(index, 200.0 + index, None) for index in range(1, 8))
    lines = turn_values.stall_lines(replace(turn(), stalls=stalls))
    assert [line.text for line in lines] == [
        *(f"Stall of {200 + index} ms before token {index + 1}: cause not known" for index in range(4, 8)),
        "and 3 more stalls",
    ]


def test_a_broken_prefix_says_where_why_and_what_it_cost() -> None:
    sentence = turn_values.break_sentence(turn().prefix)
    assert sentence == ("The prefix broke at token 301, in message 3: it was edited. 230 tokens were computed again.")
    assert turn_values.side_by_side(turn().prefix) == ("the", "dog⏎")


@pytest.mark.parametrize("reason", [BreakReason.NONE, BreakReason.FIRST_TURN, BreakReason.NOT_KNOWN])
def test_where_nothing_was_lost_nothing_is_said(reason: BreakReason) -> None:
    assert turn_values.break_sentence(PrefixBreak(reason)) == ""


@pytest.mark.parametrize("reason", list(BreakReason))
@pytest.mark.parametrize("cause", [None, *StallCause])
def test_every_reason_and_cause_has_words(reason: BreakReason, cause: StallCause | None) -> None:
    turn_values.break_sentence(PrefixBreak(reason, 3, 1, 5))
    assert turn_values.cause_name(cause)


def test_the_prompt_is_told_by_message() -> None:
    rows = turn_values.message_bar(turn())
    assert [(row.label, row.value, row.token) for row in rows] == [
        ("1. System prompt", 30.0, "reused"),
        ("2. Question", 200.0, "reused"),
        ("3. Answer", 300.0, "computed"),
        ("4. Question", 175.0, "computed"),
    ]
    assert rows[2].text == "70 reused, 230 computed"


def test_what_is_not_known_is_said_to_be_not_known() -> None:
    nothing = TurnTrace()
    assert turn_values.time_bar(nothing) == ()
    assert turn_values.strip_of(nothing).gaps_ms == ()
    assert turn_values.strip_summary(figures(nothing)) == "not known"
    rows = dict(turn_values.headline_figures(nothing, None))
    assert rows == {"Time to first token": "not known", "Engine": "not known", "Screen": "not known"}


seconds = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.builds(Phases, *[seconds] * 7),
    st.lists(st.integers(-(10**9), 10**9), max_size=6),
    st.integers(0, 10**9),
    seconds,
)
def test_no_trace_makes_it_fail(phases: Phases, times: list[int], tokens: int, wall: float | None) -> None:
    trace = TurnTrace(
        wall_s=wall, phases=phases, token_times=tuple(times), prompt_tokens=tokens, computed_tokens=tokens
    )
    turn_values.time_bar(trace)
    turn_values.strip_of(trace)
    turn_values.headline_figures(trace, None)
    turn_values.prompt_bar(trace)


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ((17.9, 19.4, 92.0), "p50 17.9 · p95 19.4 · max 92.0 ms"),
        ((17.9, 19.4, 1543.0), "p50 17.9 · p95 19.4 ms · max 1.54 s"),
        ((17.9, 999.7, 12_400.0), "p50 17.9 ms · p95 1.00 · max 12.4 s"),
        ((1998.0, 5573.0, 6543.0), "p50 2.00 · p95 5.57 · max 6.54 s"),
    ],
)
def test_percentiles_of_a_second_and_more_are_said_in_seconds(gaps: tuple[float, float, float], said: str) -> None:
    p50, p95, longest = gaps
    found = replace(figures(turn()), tpot_p50_ms=p50, tpot_p95_ms=p95, tpot_max_ms=longest)
    assert turn_values.strip_summary(found) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [(4.2, "4.2 ms"), (71.0, "71 ms"), (999.4, "999 ms"), (999.6, "1.00 s"), (2199.0, "2.20 s"), (None, "not known")],
)
def test_a_second_and_more_is_said_in_seconds(ms: float | None, said: str) -> None:
    assert turn_values.milliseconds(ms) == said


@pytest.mark.parametrize("utilization", [None, 0.5])
def test_the_budget_is_told_in_the_units_of_the_page(utilization: float | None) -> None:
    machine = Machine("cpu", int(23.5 * 2**30), None, 0)
    said = memory_values.budget_reason(allowance(machine, utilization)[1])
    assert said.startswith("75 % of 25.2 GB" if utilization is None else "50 % of 25.2 GB")
