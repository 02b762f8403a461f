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
        groups += answered_by(stats.server)
        groups += ttft(stats.ttft_s)
        groups += decode_rate(stats.decode_tokens_per_s)
        groups += piece_rate(stats.pieces_per_s)
        known = stats.reported("cached_tokens", "prefill_tokens")
        groups += reuse(stats.cached_tokens, stats.prefill_tokens, known=known)
    return tuple(groups)


def reply_details(message: StoredMessage) -> str:
    """Everything that is known of how an answer was made, one thing a line; empty without figures."""
    stats = message.stats
    if stats is None:
        return ""
    if stats.server:
        return "\n".join(_server_details(stats, message.model))
    count = words.count
    lines = [
        translate("turn_figures", "Prompt: {prompt} tokens, {cached} from the cache").format(
            prompt=count(stats.prompt_tokens), cached=count(stats.cached_tokens)
        ),
        translate("turn_figures", "Prefill: {tokens} tokens in {seconds}", stats.prefill_tokens).format(
            tokens=count(stats.prefill_tokens), seconds=words.seconds(stats.prefill_s)
        ),
        translate("turn_figures", "Decode: {tokens} tokens in {seconds}", stats.completion_tokens).format(
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


def _server_details(stats: TurnStats, model: str) -> list[str]:
    """The same of an answer by a server: times measured here, tokens as it reports them."""
    lines = [
        translate("turn_figures", "Answered by {server}, not on this machine").format(server=stats.server),
        translate("turn_figures", "Prompt: {prompt} tokens, {cached} from the server's cache").format(
            prompt=reported(stats, "prompt_tokens"), cached=reported(stats, "cached_tokens")
        ),
        translate("turn_figures", "First text after {seconds}, the network and the server's queue among it").format(
            seconds=words.seconds(stats.prefill_s)
        ),
        translate("turn_figures", "Answer: {tokens} tokens in {seconds}", stats.completion_tokens).format(
            tokens=reported(stats, "completion_tokens"), seconds=words.seconds(decode_s(stats))
        ),
    ]
    if stats.pieces_per_s is not None:
        sentence = translate("turn_figures", "{rate} pieces of text a second; a piece may be one token or several")
        lines.append(sentence.format(rate=words.rate(stats.pieces_per_s)))
    return [*lines, translate("turn_figures", "Model: {model}").format(model=model)]


def reported(stats: TurnStats, name: str) -> str:
    """One of the token counts, or that the server did not tell it."""
    known = stats.reported(name)
    return words.count(getattr(stats, name)) if known else translate("turn_figures", "(not reported)")


def answered_by(server: str) -> tuple[Group, ...]:
    """Which server answered; no group for this machine."""
    return ((Part(translate("turn_figures", "by {server}").format(server=server)),),) if server else ()


def decode_s(stats: TurnStats) -> float:
    """Seconds from the first token to the last."""
    return max(0.0, stats.total_s - (stats.total_s if stats.ttft_s is None else stats.ttft_s))


def live_figures(live: LiveTurn) -> tuple[Group, ...]:
    """The same while the answer is being written."""
    known = reuse(live.cached, live.prefill_total, known=live.reuse_known)
    return (*ttft(live.ttft_s), *decode_rate(live.tokens_per_s), *piece_rate(live.pieces_per_s), *known)


def ttft(value: float | None) -> tuple[Group, ...]:
    """Time to first token; no group if there was none."""
    return () if value is None else (filled(translate("turn_figures", "TTFT {time}"), time=words.seconds(value)),)


def decode_rate(value: float | None) -> tuple[Group, ...]:
    """Tokens per second; no group if there were fewer than two."""
    return () if value is None else (filled(translate("turn_figures", "{rate} tok/s"), rate=words.rate(value)),)


def piece_rate(value: float | None) -> tuple[Group, ...]:
    """Pieces of a server's stream per second; no group where it told its tokens, or there were fewer than two."""
    return () if value is None else (filled(translate("turn_figures", "{rate} pieces/s"), rate=words.rate(value)),)


def reuse(cached: int, new: int, named: bool = False, known: bool = True) -> tuple[Group, ...]:
    """Prompt tokens reused from the KV cache and those computed; no group before any is known.

    Args:
        cached: How many were reused.
        new: How many were computed.
        named: Whether it says that they are tokens.
        known: False where a server did not report them.
    """
    if not known:
        return ((Part(translate("turn_figures", "reused tokens not reported")),),)
    if cached + new == 0:
        return ()
    sentence = translate("turn_figures", "{cached} reused + {new} new")
    if named:
        sentence = translate("turn_figures", "{cached} reused + {new} new tokens", new)
    return (filled(sentence, cached=words.count(cached), new=words.count(new)),)
