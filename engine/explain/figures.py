"""From a trace to what is shown of it: pure arithmetic that never divides by zero and never invents.

Whatever cannot be known, because there are too few tokens, or a clock jumped, is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from engine import stats
from engine.explain.trace import TICK_MS, Phases, TurnTrace

STALL_FACTOR: Final = 4.0
STALL_MS: Final = 150.0


@dataclass(frozen=True, slots=True)
class Share:
    """One phase of the time bar.

    Attributes:
        name: A field of `Phases`.
        ms: Milliseconds.
        share: Of all phases that are known, between 0 and 1.
    """

    name: str
    ms: float
    share: float


@dataclass(frozen=True, slots=True)
class Figures:
    """A turn in numbers; None where not known.

    Attributes:
        wall_ms: From Enter to the end, drawing included where it is known.
        ttft_ms: From Enter to the first token.
        tpot_p50_ms, tpot_p95_ms, tpot_max_ms: Time per output token after the first.
        engine_rate: Tokens per second after the first, (n - 1) / (t_last - t_first).
        prefill_rate: Prompt tokens computed per second of prefill.
        stall_ms: Together, what the stalls took beyond a usual token.
        step_ms: A usual step of the model, which where drafts are right makes several tokens.
    """

    wall_ms: float | None
    ttft_ms: float | None
    tpot_p50_ms: float | None
    tpot_p95_ms: float | None
    tpot_max_ms: float | None
    engine_rate: float | None
    prefill_rate: float | None
    stall_ms: float
    step_ms: float | None = None


def percentile(values: Sequence[float], fraction: float) -> float | None:
    """Nearest-rank percentile, `fraction` in [0, 1]; None of no values."""
    if not values:
        return None
    return stats.percentile(values, fraction)


def ratio(above: float | None, below: float | None) -> float | None:
    """A quotient of two positive numbers; None where either is not known or the lower one is no divisor."""
    if above is None or below is None or below <= 0 or above < 0:
        return None
    result = above / below
    return result if math.isfinite(result) else None


def seconds_between(earlier: float | None, later: float | None) -> float | None:
    """None where either is not known, or the clock ran backwards."""
    if earlier is None or later is None or not math.isfinite(later - earlier) or later < earlier:
        return None
    return later - earlier


def ticks(start: float, times: Sequence[float]) -> tuple[int, ...]:
    """Moments in seconds as steps of 0.1 ms after `start`; empty where the clock did not run forwards."""
    if any(not math.isfinite(at) for at in (start, *times)) or any(b < a for a, b in pairwise((start, *times))):
        return ()
    return tuple(round((at - start) * 1000 / TICK_MS) for at in times)


def gaps_ms(trace: TurnTrace) -> tuple[float, ...]:
    """Milliseconds between one token and the next: entry i lies before token i + 1."""
    return tuple((b - a) * TICK_MS for a, b in pairwise(trace.token_times))


def usual_gap_ms(gaps: Sequence[float], free: int = 0) -> float | None:
    """The median gap between two steps.

    Args:
        gaps: Milliseconds between tokens.
        free: Tokens among them that cost no step, because a draft was right: as many of the smallest gaps do not
            count, or the median of a reply that was mostly drafted would be zero.
    """
    steps = sorted(gaps)[max(0, min(free, len(gaps) - 1)) :]
    return percentile(steps, 0.5)


def is_stall(gap_ms: float, usual_ms: float | None) -> bool:
    """Whether a gap is a stall: over 4 times the usual one, and over 150 ms."""
    return usual_ms is not None and gap_ms > STALL_MS and gap_ms > STALL_FACTOR * usual_ms


def stalled(gaps: Sequence[float], free: int = 0) -> tuple[int, ...]:
    """Indices of the tokens that came late; `free` as in `usual_gap_ms`."""
    usual = usual_gap_ms(gaps, free)
    return tuple(n + 1 for n, gap in enumerate(gaps) if is_stall(gap, usual))


def shares(phases: Phases) -> tuple[Share, ...]:
    """The time bar: every phase that is known and took time, in order; their shares sum to 1."""
    known = [(name, s) for name, s in phases.named() if s is not None and s > 0 and math.isfinite(s)]
    whole = sum(seconds for _, seconds in known)
    return tuple(Share(name, 1000 * seconds, seconds / whole) for name, seconds in known) if whole > 0 else ()


def wall_s(trace: TurnTrace) -> float | None:
    """From Enter to the end; until the end was on the screen where the window has said when that was."""
    if trace.wall_s is None or trace.wall_s < 0:
        return None
    return trace.wall_s + (trace.phases.drawing or 0.0)


def unaccounted(trace: TurnTrace) -> float | None:
    """The share of the wall time that no phase accounts for, between -1 and 1; None where a phase is not known."""
    wall = wall_s(trace)
    parts = [seconds for name, seconds in trace.phases.named() if name != "drawing"]
    if wall is None or wall <= 0 or any(seconds is None for seconds in parts):
        return None
    known = sum(seconds for seconds in parts if seconds is not None) + (trace.phases.drawing or 0.0)
    return (wall - known) / wall


def figures(trace: TurnTrace) -> Figures:
    """All figures of a turn."""
    gaps = gaps_ms(trace)
    usual = usual_gap_ms(gaps, trace.accepted)
    wall = wall_s(trace)
    beyond = sum(gaps[n - 1] - (usual or 0.0) for n in stalled(gaps, trace.accepted))
    return Figures(
        wall_ms=None if wall is None else 1000 * wall,
        ttft_ms=trace.token_times[0] * TICK_MS if trace.token_times else _ttft_of(trace),
        tpot_p50_ms=percentile(gaps, 0.5),
        tpot_p95_ms=percentile(gaps, 0.95),
        tpot_max_ms=max(gaps, default=None),
        engine_rate=stats.decode_rate([at * TICK_MS / 1000 for at in trace.token_times]),
        prefill_rate=ratio(trace.computed_tokens or None, trace.phases.prefill),
        stall_ms=beyond,
        step_ms=usual,
    )


def _ttft_of(trace: TurnTrace) -> float | None:
    """Milliseconds to the first token, if there was one, where its time was not noted, but each phase before it."""
    phases = trace.phases
    parts = (phases.queue, phases.template, phases.prefill, phases.first_token)
    known = [seconds for seconds in parts if seconds is not None]
    if not trace.generated_tokens or len(known) < len(parts):
        return None
    return 1000 * (sum(known) + (phases.load or 0.0))


def screen_rate(tokens_shown: Sequence[int], drawn_ms: Sequence[float]) -> float | None:
    """Tokens per second as they came on the screen.

    Args:
        tokens_shown: How many tokens were on the screen after each drawing.
        drawn_ms: When that drawing ended, milliseconds on any one clock.
    """
    if len(tokens_shown) != len(drawn_ms) or len(drawn_ms) < 2:
        return None
    seconds = seconds_between(drawn_ms[0] / 1000, drawn_ms[-1] / 1000)
    return ratio(tokens_shown[-1] - tokens_shown[0], seconds)
