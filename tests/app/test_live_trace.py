"""The turn in progress as the inspector draws it."""

from __future__ import annotations

import pytest

from app.live_trace import live_trace
from app.turn import Turn
from engine.chat import RequestHandle
from engine.events import PrefillProgress


def test_waiting_for_the_model_is_no_waiting_for_a_turn():
    turn = Turn("c", "q", 10.0)
    phases = live_trace(turn, 12.0).phases
    assert (phases.load, phases.queue) == (2.0, None)
    turn.handle, turn.loaded_at = RequestHandle("r"), 13.0
    phases = live_trace(turn, 13.5).phases
    assert (phases.load, phases.queue) == (3.0, 0.5)
    turn.read(PrefillProgress("r", 0, 0, 40, 14.0))
    phases = live_trace(turn, 16.0).phases
    assert (phases.load, phases.queue, phases.prefill) == (3.0, 1.0, 2.0)


def test_a_question_to_a_model_that_is_ready_waits_for_its_turn_alone():
    turn = Turn("c", "q", 10.0, handle=RequestHandle("r"))
    phases = live_trace(turn, 10.25).phases
    assert phases.load is None
    assert phases.queue == pytest.approx(0.25)
