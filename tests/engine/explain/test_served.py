"""Turns on a server: what is seen from here, and nothing that was not reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain.figures import figures, unaccounted
from engine.explain.served import PATH, served_trace
from engine.explain.trace import BreakReason, ModelFacts, TurnTrace, from_json, to_json
from engine.explain.verdict import VerdictKind, verdict


def served(pieces: tuple[float, ...] = (1.5, 1.6, 1.7), **changes: object) -> TurnTrace:
    about = {"submitted": 1.0, "started": 1.1, "ended": 1.75, "prompt": 30, "cached": 10, "completion": 4}
    return served_trace(reason="end", model=ModelFacts(path=PATH), pieces=pieces, **{**about, **changes})


def test_a_server_that_reports_everything():
    trace = served()
    assert unaccounted(trace) == pytest.approx(0)
    assert figures(trace).ttft_ms == pytest.approx(500)
    assert (trace.prompt_tokens, trace.cached_tokens, trace.computed_tokens, trace.generated_tokens) == (30, 10, 20, 4)
    assert trace.prefix.reason is BreakReason.NOT_KNOWN
    found = verdict(trace)
    assert found.kind is VerdictKind.SERVER
    assert found.sentence == "The server began to answer after 400 ms and wrote for 250 ms."


def test_a_server_that_reports_no_usage():
    trace = served(prompt=None, cached=None, completion=None)
    assert trace.token_times == ()
    assert (figures(trace).engine_rate, figures(trace).tpot_p50_ms) == (None, None)
    assert (trace.prompt_tokens, trace.computed_tokens) == (0, 0)
    assert unaccounted(trace) == pytest.approx(0)


def test_pieces_of_several_tokens_are_not_taken_for_tokens():
    assert served(completion=40).token_times == ()


@given(st.lists(st.floats(0, 10), max_size=5).map(tuple), st.floats(0, 10), st.floats(0, 10), st.floats(0, 10))
def test_no_clock_breaks_it(pieces, submitted: float, started: float, ended: float):
    trace = served(pieces, submitted=submitted, started=started, ended=ended)
    assert from_json(to_json(trace)) == trace
    assert all(seconds is None or seconds >= 0 for _, seconds in trace.phases.named())
    assert verdict(trace).sentence
