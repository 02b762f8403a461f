"""The figures of a turn as groups for a `FigureLine`: under an answer, and in the status bar. Pure."""

from __future__ import annotations

from app.live import LiveTurn
from app.records import StoredMessage
from app.views import words
from app.views.figures import Group, Part, strong
from engine.stats import TurnStats


def reply_figures(message: StoredMessage) -> tuple[Group, ...]:
    """What stands under an answer that is complete: how it ended if not by itself, TTFT, rate, reused and new."""
    groups: list[Group] = []
    ending = words.ending(message.status)
    if ending:
        groups.append((Part(ending),))
    stats = message.stats
    if stats is not None:
        groups += ttft(stats.ttft_s)
        groups += decode_rate(stats.decode_tokens_per_s)
        groups += reuse(stats.cached_tokens, stats.prefill_tokens)
    return tuple(groups)


def reply_details(message: StoredMessage) -> str:
    """Everything that is known of how an answer was made, one thing a line; empty without figures."""
    stats = message.stats
    if stats is None:
        return ""
    lines = [
        f"Prompt: {words.count(stats.prompt_tokens)} tokens, {words.count(stats.cached_tokens)} from the cache",
        f"Prefill: {words.count(stats.prefill_tokens)} tokens in {words.seconds(stats.prefill_s)}",
        f"Decode: {words.count(stats.completion_tokens)} tokens in {words.seconds(decode_s(stats))}",
    ]
    if stats.itl_ms is not None:
        lines.append(
            f"Between tokens: p50 {stats.itl_ms.p50:.0f} ms, p95 {stats.itl_ms.p95:.0f}, max {stats.itl_ms.max:.0f}"
        )
    if stats.drafted_tokens:
        drafted, kept = words.count(stats.drafted_tokens), words.count(stats.accepted_tokens)
        lines.append(f"Prompt lookup: drafted {drafted}, kept {kept}")
    lines.append(f"Cache of this chat: {words.size(stats.kv_bytes)}")
    if message.model:
        lines.append(f"Model: {message.model}")
    return "\n".join(lines)


def decode_s(stats: TurnStats) -> float:
    """Seconds from the first token to the last."""
    return max(0.0, stats.total_s - (stats.total_s if stats.ttft_s is None else stats.ttft_s))


def live_figures(live: LiveTurn) -> tuple[Group, ...]:
    """The same while the answer is being written."""
    return (*ttft(live.ttft_s), *decode_rate(live.tokens_per_s), *reuse(live.cached, live.prefill_total))


def ttft(value: float | None) -> tuple[Group, ...]:
    """Time to first token; no group if there was none."""
    return () if value is None else ((Part("TTFT "), strong(words.seconds(value))),)


def decode_rate(value: float | None) -> tuple[Group, ...]:
    """Tokens per second; no group if there were fewer than two."""
    return () if value is None else ((strong(words.rate(value)), Part(" tok/s")),)


def reuse(cached: int, new: int, noun: str = "") -> tuple[Group, ...]:
    """Prompt tokens reused from the KV cache and those computed; no group before any is known."""
    if cached + new == 0:
        return ()
    tail = f" new {noun}" if noun else " new"
    return ((strong(words.count(cached)), Part(" reused + "), strong(words.count(new)), Part(tail)),)
