"""From monotonic stamps to the figures of a turn: pure functions, no clock is read here.

The definitions follow vLLM's (docs/design/metrics.md): TTFT counts from the submission, the decode rate
leaves the first token out, inter-token latency (ITL) is the gap between two tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class TurnStamps:
    """Moments of one turn, all of one monotonic clock in seconds.

    Attributes:
        submitted: The person pressed Enter.
        started: The worker took the request.
        templated: The prompt's token ids were ready.
        prefilled: The last prompt token was in the cache and its logits were known.
        tokens: When each generated token was sampled.
    """

    submitted: float
    started: float
    templated: float
    prefilled: float
    tokens: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ItlMs:
    """Inter-token latency in milliseconds."""

    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class TurnStats:
    """The figures of one turn. None where there is nothing to measure (no token, only one, a clock that jumped back).

    Attributes:
        prompt_tokens: Tokens of the whole prompt; cached_tokens + prefill_tokens unless prefill was cancelled.
        cached_tokens: Of them reused from the KV cache.
        prefill_tokens: Of them computed in this turn.
        completion_tokens: Tokens generated, the end token included.
        queue_s, template_s, prefill_s: Seconds in each phase.
        ttft_s: From submission to the first token.
        decode_tokens_per_s: (n - 1) / (t_last - t_first).
        itl_ms: Gaps between tokens.
        kv_bytes: Memory held by this conversation's KV cache.
        total_s: From submission to the last token.
        drafted_tokens, accepted_tokens: Of prompt-lookup decoding; accepted ones cost no step of their own.
        server: The name of the server that answered; empty for a model on this machine. `prefill_s` is then the time
            until its first text, the network and its queue among it.
        not_reported: Which of the token counts above it did not tell; they are 0 and mean nothing.
        pieces_per_s: Of its stream, measured here, where it did not tell the tokens of the answer: a piece of text may
            be one token or several.
    """

    prompt_tokens: int
    cached_tokens: int
    prefill_tokens: int
    completion_tokens: int
    queue_s: float
    template_s: float
    prefill_s: float
    ttft_s: float | None
    decode_tokens_per_s: float | None
    itl_ms: ItlMs | None
    kv_bytes: int
    total_s: float
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    server: str = ""
    not_reported: tuple[str, ...] = ()
    pieces_per_s: float | None = None

    def reported(self, *names: str) -> bool:
        """Whether all of these token counts are known."""
        return not set(names) & set(self.not_reported)


def percentile(values: Sequence[float], fraction: float) -> float:
    """Nearest-rank percentile of a non-empty sequence; `fraction` in [0, 1]."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(fraction * (len(ordered) - 1))))]


def decode_rate(token_times: Sequence[float]) -> float | None:
    """Tokens per second after the first, or None with fewer than two tokens or no time between them."""
    if len(token_times) < 2 or token_times[-1] <= token_times[0]:
        return None
    return (len(token_times) - 1) / (token_times[-1] - token_times[0])


def one_token_each(tokens: int | None, pieces: int) -> bool:
    """Whether each of a stream's pieces of text is one token, where it is told of how many tokens the text is.

    With an end token, which brings no text, there is one token more than pieces.
    """
    return tokens is not None and 0 <= tokens - pieces <= 1


def inter_token_latency(token_times: Sequence[float]) -> ItlMs | None:
    """Percentiles of the gaps between tokens, or None with fewer than two tokens or a clock that ran backwards."""
    gaps = [1000.0 * (b - a) for a, b in pairwise(token_times)]
    if not gaps or min(gaps) < 0:
        return None
    return ItlMs(percentile(gaps, 0.5), percentile(gaps, 0.95), max(gaps))


def turn_stats(
    stamps: TurnStamps,
    *,
    prompt: int,
    cached: int,
    prefilled: int,
    kv_bytes: int,
    drafted: int = 0,
    accepted: int = 0,
) -> TurnStats:
    """All figures of one turn from its stamps and token counts."""
    first = stamps.tokens[0] if stamps.tokens else None
    end = stamps.tokens[-1] if stamps.tokens else stamps.prefilled
    return TurnStats(
        prompt_tokens=prompt,
        cached_tokens=cached,
        prefill_tokens=prefilled,
        completion_tokens=len(stamps.tokens),
        queue_s=_seconds(stamps.submitted, stamps.started),
        template_s=_seconds(stamps.started, stamps.templated),
        prefill_s=_seconds(stamps.templated, stamps.prefilled),
        ttft_s=None if first is None or first < stamps.submitted else first - stamps.submitted,
        decode_tokens_per_s=decode_rate(stamps.tokens),
        itl_ms=inter_token_latency(stamps.tokens),
        kv_bytes=kv_bytes,
        total_s=_seconds(stamps.submitted, end),
        drafted_tokens=drafted,
        accepted_tokens=accepted,
    )


def _seconds(earlier: float, later: float) -> float:
    """Zero where a clock ran backwards: a phase takes no time then, rather than less than none."""
    return max(0.0, later - earlier)
