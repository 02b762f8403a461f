"""What a trace becomes on the disk, and what an older, newer or damaged one is read as."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain.trace import BreakReason, Phases, Stall, StallCause, TurnTrace, from_json, to_json
from tests.engine.explain.traces import any_trace, typical


@given(any_trace)
def test_a_trace_survives_the_disk(trace: TurnTrace):
    assert from_json(to_json(trace)) == trace


def test_a_trace_without_anything_is_short_and_survives():
    assert from_json(to_json(TurnTrace())) == TurnTrace()
    assert len(to_json(TurnTrace())) < 150


def test_a_typical_turn_takes_little_room():
    assert len(to_json(typical())) < 1500 + 5 * 101


def test_missing_and_unknown_fields_take_their_defaults():
    read = from_json('{"version": 7, "prompt_tokens": 12, "colour": "green", "phases": {"queue": 1, "lunch": 2}}')
    assert read == TurnTrace(prompt_tokens=12, phases=Phases(queue=1.0))


def test_values_of_a_wrong_kind_are_not_known():
    text = (
        '{"version": 1, "prompt_tokens": "many", "wall_s": null, "token_times": [1, "x"], "phases": 3,'
        ' "prefix": {"reason": "a new reason", "position": 4}, "stalls": [{"index": 2, "cause": "gremlins"}]}'
    )
    read = from_json(text)
    assert read is not None
    assert (read.prompt_tokens, read.token_times, read.phases) == (0, (), Phases())
    assert (read.prefix.reason, read.prefix.position) == (BreakReason.NOT_KNOWN, 4)
    assert read.stalls == (Stall(index=2),)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"version": "1"}', "[" * 100_000])
def test_what_is_no_trace_is_none(text: str):
    assert from_json(text) is None


@given(st.dictionaries(st.sampled_from(list(TurnTrace.__dataclass_fields__)), st.none() | st.integers() | st.text()))
def test_no_json_object_breaks_the_reader(data: dict[str, object]):
    assert isinstance(from_json(json.dumps(data | {"version": 1})), TurnTrace)


def test_causes_and_reasons_are_written_by_name():
    data = json.loads(to_json(TurnTrace(stalls=(Stall(3, 400.0, StallCause.SPILL),))))
    assert data["stalls"] == [{"index": 3, "gap_ms": 400.0, "cause": "spill"}]


def test_drawing_is_added_by_the_window_and_never_below_zero():
    assert typical().with_drawing(0.02).phases.drawing == 0.02
    assert typical().with_drawing(-5.0).phases.drawing is None
