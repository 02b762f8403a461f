"""The turn in progress as a trace: what its events have told so far. Pure."""

from __future__ import annotations

from app.turn import Turn
from engine.explain.figures import seconds_between, ticks
from engine.explain.trace import Phases, TurnTrace


def live_trace(turn: Turn, now: float) -> TurnTrace:
    """What is known of a turn that is still going on.

    Args:
        turn: As far as it has come.
        now: `time.perf_counter()` in seconds.
    """
    times = tuple(turn.token_times)
    prefill = turn.prefill
    return TurnTrace(
        wall_s=seconds_between(turn.submitted_at, now),
        phases=_phases(turn.submitted_at, turn.prefill_from, times, now),
        token_times=ticks(turn.submitted_at, times),
        prompt_tokens=prefill.cached + prefill.total if prefill is not None else 0,
        cached_tokens=prefill.cached if prefill is not None else 0,
        computed_tokens=prefill.done if prefill is not None else 0,
        generated_tokens=len(turn.token_ids),
    )


def _phases(submitted: float, prefill_from: float | None, times: tuple[float, ...], now: float) -> Phases:
    """The phases so far; the one that goes on ends now."""
    first = times[0] if times else None
    if prefill_from is None:
        return Phases(queue=seconds_between(submitted, first if first is not None else now))
    return Phases(
        queue=seconds_between(submitted, prefill_from),
        prefill=seconds_between(prefill_from, first if first is not None else now),
        decode=None if first is None else seconds_between(first, now),
    )
