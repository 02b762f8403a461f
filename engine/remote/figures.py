"""The figures of a turn on a server: times measured here, counts as the server reports them, or not reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.stats import TurnStats, decode_rate, inter_token_latency, one_token_each

_COUNTS = ("prompt_tokens", "cached_tokens", "prefill_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of a server; None where it does not tell one."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None


def usage_of(reported: Any) -> Usage:  # noqa: ANN401 - whatever a server sent
    """The usage object of OpenAI's API, as far as it makes sense."""
    prompt = _count(getattr(reported, "prompt_tokens", None))
    cached = _count(getattr(getattr(reported, "prompt_tokens_details", None), "cached_tokens", None))
    if cached is not None and (prompt is None or cached > prompt):
        cached = None
    return Usage(prompt, cached, _count(getattr(reported, "completion_tokens", None)))


def remote_stats(server: str, usage: Usage, submitted: float, started: float, pieces: list[float]) -> TurnStats:
    """The figures of one turn.

    Args:
        server: Its name.
        usage: What it reports.
        submitted: When the person pressed Enter, in seconds of `time.perf_counter()`.
        started: When the worker took the request, of the same clock.
        pieces: When each piece of text came. A piece need not be one token.
    """
    first, last = (pieces[0], pieces[-1]) if pieces else (None, started)
    computed = None if usage.prompt is None or usage.cached is None else usage.prompt - usage.cached
    counts = dict(zip(_COUNTS, (usage.prompt, usage.cached, computed, usage.completion), strict=True))
    return TurnStats(
        prompt_tokens=usage.prompt or 0,
        cached_tokens=usage.cached or 0,
        prefill_tokens=computed or 0,
        completion_tokens=usage.completion or 0,
        queue_s=started - submitted,
        template_s=0.0,
        prefill_s=(first or last) - started,
        ttft_s=None if first is None else first - submitted,
        decode_tokens_per_s=_rate(usage.completion, pieces),
        itl_ms=inter_token_latency(pieces) if one_token_each(usage.completion, len(pieces)) else None,
        kv_bytes=0,
        total_s=last - submitted,
        server=server,
        not_reported=tuple(name for name, value in counts.items() if value is None),
        pieces_per_s=decode_rate(pieces) if usage.completion is None else None,
    )


def _rate(completion: int | None, pieces: list[float]) -> float | None:
    if completion is None or completion < 2 or len(pieces) < 2 or pieces[-1] <= pieces[0]:
        return None
    return (completion - 1) / (pieces[-1] - pieces[0])


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
