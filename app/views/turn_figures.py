"""The figures of a turn as groups for a `FigureLine`: under an answer, and in the status bar. Pure."""

from __future__ import annotations

from app.i18n import translate
from app.live import LiveTurn
from app.records import StoredMessage
from app.views import words
from app.views.figures import Group, Part, filled
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
    count = words.count
    lines = [
        translate("turn_figures", "Prompt: {prompt} tokens, {cached} from the cache").format(
            prompt=count(stats.prompt_tokens), cached=count(stats.cached_tokens)
        ),
        translate("turn_figures", "Prefill: {tokens} tokens in {seconds}").format(
            tokens=count(stats.prefill_tokens), seconds=words.seconds(stats.prefill_s)
        ),
        translate("turn_figures", "Decode: {tokens} tokens in {seconds}").format(
            tokens=count(stats.completion_tokens), seconds=words.seconds(decode_s(stats))
        ),
    ]
    return "\n".join((*lines, *_further_details(stats, message.model)))


def _further_details(stats: TurnStats, model: str) -> list[str]:
    lines = []
    if stats.itl_ms is not None:
        sentence = translate("turn_figures", "Between tokens: p50 {p50} ms, p95 {p95}, max {most}")
        itl = stats.itl_ms
        lines.append(sentence.format(p50=f"{itl.p50:.0f}", p95=f"{itl.p95:.0f}", most=f"{itl.max:.0f}"))
    if stats.drafted_tokens:
        sentence = translate("turn_figures", "Prompt lookup: drafted {drafted}, kept {kept}")
        kept = words.count(stats.accepted_tokens)
        lines.append(sentence.format(drafted=words.count(stats.drafted_tokens), kept=kept))
    lines.append(translate("turn_figures", "Cache of this chat: {size}").format(size=words.size(stats.kv_bytes)))
    if model:
        lines.append(translate("turn_figures", "Model: {model}").format(model=model))
    return lines


def decode_s(stats: TurnStats) -> float:
    """Seconds from the first token to the last."""
    return max(0.0, stats.total_s - (stats.total_s if stats.ttft_s is None else stats.ttft_s))


def live_figures(live: LiveTurn) -> tuple[Group, ...]:
    """The same while the answer is being written."""
    return (*ttft(live.ttft_s), *decode_rate(live.tokens_per_s), *reuse(live.cached, live.prefill_total))


def ttft(value: float | None) -> tuple[Group, ...]:
    """Time to first token; no group if there was none."""
    return () if value is None else (filled(translate("turn_figures", "TTFT {time}"), time=words.seconds(value)),)


def decode_rate(value: float | None) -> tuple[Group, ...]:
    """Tokens per second; no group if there were fewer than two."""
    return () if value is None else (filled(translate("turn_figures", "{rate} tok/s"), rate=words.rate(value)),)


def reuse(cached: int, new: int, named: bool = False) -> tuple[Group, ...]:
    """Prompt tokens reused from the KV cache and those computed; no group before any is known.

    Args:
        cached: How many were reused.
        new: How many were computed.
        named: Whether it says that they are tokens.
    """
    if cached + new == 0:
        return ()
    sentence = translate("turn_figures", "{cached} reused + {new} new")
    if named:
        sentence = translate("turn_figures", "{cached} reused + {new} new tokens")
    return (filled(sentence, cached=words.count(cached), new=words.count(new)),)
