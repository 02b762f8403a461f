"""Traces of turns that have none of their own: the one in progress, and those of which only the figures were kept."""

from __future__ import annotations

from app.turn import Turn
from engine.explain.figures import seconds_between, ticks
from engine.explain.trace import Phases, TurnTrace
from engine.stats import TurnStats


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
        phases=_phases(turn, times, now),
        token_times=ticks(turn.submitted_at, times),
        prompt_tokens=prefill.cached + prefill.total if prefill is not None else 0,
        cached_tokens=prefill.cached if prefill is not None else 0,
        computed_tokens=prefill.done if prefill is not None else 0,
        generated_tokens=len(turn.token_ids),
    )


def stats_trace(stats: TurnStats) -> TurnTrace:
    """What the figures of a turn tell; everything else is not known."""
    first = None if stats.ttft_s is None else stats.ttft_s - stats.queue_s - stats.template_s - stats.prefill_s
    return TurnTrace(
        wall_s=stats.total_s,
        phases=Phases(
            queue=stats.queue_s,
            template=stats.template_s,
            prefill=stats.prefill_s,
            first_token=None if first is None else max(0.0, first),
            decode=None if stats.ttft_s is None else max(0.0, stats.total_s - stats.ttft_s),
        ),
        prompt_tokens=stats.prompt_tokens,
        cached_tokens=stats.cached_tokens,
        computed_tokens=stats.prefill_tokens,
        generated_tokens=stats.completion_tokens,
        drafted=stats.drafted_tokens,
        accepted=stats.accepted_tokens,
    )


def _phases(turn: Turn, times: tuple[float, ...], now: float) -> Phases:
    """The phases so far; the one that goes on ends now."""
    first = times[0] if times else None
    if turn.handle is None:
        return Phases(load=seconds_between(turn.submitted_at, now))
    sent, prefill_from = turn.loaded_at or turn.submitted_at, turn.prefill_from
    load = seconds_between(turn.submitted_at, sent) if turn.loaded_at is not None else None
    if prefill_from is None:
        return Phases(load=load, queue=seconds_between(sent, first if first is not None else now))
    return Phases(
        load=load,
        queue=seconds_between(sent, prefill_from),
        prefill=seconds_between(prefill_from, first if first is not None else now),
        decode=None if first is None else seconds_between(first, now),
    )
