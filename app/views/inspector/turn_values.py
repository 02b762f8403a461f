"""From the trace of a turn to what the inspector shows of it. Pure; what is not known is said to be not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.engine_sentences import translated
from app.i18n import translate
from app.views import words
from app.views.inspector.values import Segment, Strip
from engine.explain.figures import (
    Figures,
    figures,
    gaps_ms,
    shares,
    usual_gap_ms,
)
from engine.explain.trace import BreakReason, PrefixBreak, StallCause, TurnTrace
from engine.explain.trace import Segment as PromptSegment

_SECOND_MS: Final = 999.5  # from here on in seconds: "1,000 ms" is never said
_PHASE_TOKENS: Final = {
    "queue": "muted",
    "load": "left_out",
    "template": "reused",
    "prefill": "computed",
    "first_token": "link",
    "decode": "generated",
    "drawing": "good",
}


@dataclass(frozen=True, slots=True)
class StallLine:
    """One stall in words.

    Attributes:
        text: Which token, how long, and why if that is known.
        detail: Figures behind it; may be empty.
    """

    text: str
    detail: str = ""


def not_known() -> str:
    """What stands where there is no figure."""
    return translate("turn_values", "not known")


def milliseconds(value: float | None) -> str:
    """A duration, such as "4 ms" or "0.21 s"."""
    if value is None or not math.isfinite(value):
        return not_known()
    if value >= _SECOND_MS:
        return words.seconds(value / 1000)
    return translate("turn_values", "{ms} ms").format(ms=f"{value:.1f}" if value < 9.95 else f"{value:,.0f}")


def phase_name(name: str, trace: TurnTrace) -> str:
    """A phase as people read it, with the tokens it went over."""
    prefilled, decoded = trace.computed_tokens, max(0, trace.generated_tokens - 1)
    names = {
        "queue": translate("turn_values", "Waiting for its turn"),
        "load": translate("turn_values", "Loading the model"),
        "template": translate("turn_values", "Template"),
        "prefill": translate("turn_values", "Prefill, %Ln tokens", prefilled),
        "first_token": translate("turn_values", "First token"),
        "decode": translate("turn_values", "Decode, %Ln tokens", decoded),
        "drawing": translate("turn_values", "Drawing"),
    }
    return names[name]


def _phase_help(name: str) -> str:
    return {
        "queue": translate("turn_values", "From Enter until the engine took the question."),
        "load": translate("turn_values", "The model was not in memory yet."),
        "template": translate("turn_values", "The messages become tokens."),
        "prefill": translate("turn_values", "New tokens are read in parallel. This decides the time to first token."),
        "first_token": translate("turn_values", "The first token is chosen."),
        "decode": translate("turn_values", "One token a step. This decides the tokens per second."),
        "drawing": translate("turn_values", "From the last token until it was on the screen."),
    }[name]


def time_bar(trace: TurnTrace) -> tuple[Segment, ...]:
    """Where the time went: every phase that took any, with its milliseconds and share."""
    return tuple(
        Segment(
            label=phase_name(each.name, trace),
            value=each.ms,
            text=f"{milliseconds(each.ms)} · {_percent(each.share)}",
            token=_PHASE_TOKENS[each.name],
            detail=_phase_help(each.name),
        )
        for each in shares(trace.phases)
    )


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def strip_of(trace: TurnTrace) -> Strip:
    """The time of every token."""
    gaps = gaps_ms(trace)
    late = frozenset(stall.index - 1 for stall in trace.stalls if 0 < stall.index <= len(gaps))
    return Strip(gaps, late, usual_gap_ms(gaps, trace.accepted))


def strip_summary(found: Figures) -> str:
    """Percentiles such as "p50 17.9 · p95 19.4 · max 92 ms"; not known of fewer than two tokens."""
    p50, p95, longest = found.tpot_p50_ms, found.tpot_p95_ms, found.tpot_max_ms
    if p50 is None or p95 is None or longest is None:
        return not_known()
    return translate("turn_values", "p50 {p50} · p95 {p95} · max {longest}").format(
        p50=_with_unit(p50, before=p95), p95=_with_unit(p95, before=longest), longest=_with_unit(longest)
    )


def _with_unit(value: float, before: float | None = None) -> str:
    """Milliseconds, or seconds from one on; without the unit before a figure that has the same."""
    slow = value >= _SECOND_MS
    number = _short(value / 1000, 9.995) if slow else _short(value)
    if before is not None and slow == (before >= _SECOND_MS):
        return number
    if slow:
        return translate("turn_values", "{seconds} s").format(seconds=number)
    return translate("turn_values", "{ms} ms").format(ms=number)


def _short(value: float, exact_below: float = 0.0) -> str:
    return f"{value:.2f}" if value < exact_below else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def cause_name(cause: StallCause | None) -> str:
    """Why a token was late, in a few words."""
    return {
        None: translate("turn_values", "cause not known"),
        StallCause.CACHE_GROWTH: translate("turn_values", "the cache grew"),
        StallCause.SPILL: translate("turn_values", "a cache was written to disk"),
        StallCause.GARBAGE_COLLECTION: translate("turn_values", "Python collected garbage"),
        StallCause.THROTTLED: translate("turn_values", "the system withheld the processor"),
        StallCause.SWAPPING: translate("turn_values", "memory was read back from disk"),
        StallCause.OTHER_PROCESS: translate("turn_values", "another program used the processor"),
        StallCause.CONSUMER: translate("turn_values", "the window took its time"),
        StallCause.SLEPT: translate("turn_values", "the engine waited and computed nothing"),
    }[cause]


def stall_lines(trace: TurnTrace, most: int = 4) -> tuple[StallLine, ...]:
    """The worst stalls in words, and how many more there were."""
    worst = sorted(trace.stalls, key=lambda stall: -stall.gap_ms)[:most]
    said = translate("turn_values", "Stall of {ms} before token {number}: {cause}")
    lines = [
        StallLine(
            said.format(ms=milliseconds(stall.gap_ms), number=stall.index + 1, cause=cause_name(stall.cause)),
            translated(stall.detail),
        )
        for stall in sorted(worst, key=lambda stall: stall.index)
    ]
    more = len(trace.stalls) - len(lines)
    if more > 0:
        lines.append(StallLine(translate("turn_values", "and %Ln more stalls", more)))
    return tuple(lines)


def prompt_bar(trace: TurnTrace) -> tuple[Segment, ...]:
    """The prompt's tokens by what became of them, and the reply."""
    unread = sum(segment.tokens for segment in trace.segments if segment.left_out)
    rows = (
        (translate("turn_values", "Reused from the cache"), trace.cached_tokens, "reused"),
        (translate("turn_values", "Computed"), trace.computed_tokens, "computed"),
        (translate("turn_values", "Generated"), trace.generated_tokens, "generated"),
        (translate("turn_values", "Left out, the context is full"), unread, "left_out"),
    )
    return tuple(
        Segment(label, float(count), words.count(count), token)
        for label, count, token in rows
        if count or token in ("reused", "computed")
    )


def role_name(segment: PromptSegment) -> str:
    """Whose message it is."""
    return {
        "system": translate("turn_values", "System prompt"),
        "user": translate("turn_values", "Question"),
        "assistant": translate("turn_values", "Answer"),
    }.get(segment.role, translate("turn_values", "Template"))


def message_bar(trace: TurnTrace) -> tuple[Segment, ...]:
    """The prompt message by message, each in the colour of most of its tokens."""
    return tuple(
        Segment(
            label=role_name(each) if each.index is None else f"{each.index + 1}. {role_name(each)}",
            value=float(each.tokens),
            text=_message_text(each),
            token="left_out" if each.left_out else "computed" if each.computed > each.reused else "reused",
        )
        for each in trace.segments
        if each.tokens
    )


def _message_text(each: PromptSegment) -> str:
    if each.left_out:
        return translate("turn_values", "%Ln tokens, left out", each.tokens)
    said = translate("turn_values", "{reused} reused, {computed} computed")
    return said.format(reused=words.count(each.reused), computed=words.count(each.computed))


def break_sentence(found: PrefixBreak) -> str:
    """Where and why the prompt parted from the cache; empty where nothing was lost."""
    reason = {
        BreakReason.EDITED: translate("turn_values", "it was edited"),
        BreakReason.OTHER_BRANCH: translate("turn_values", "another version of it was chosen"),
        BreakReason.TEMPLATE: translate("turn_values", "the template wrote earlier messages otherwise than before"),
        BreakReason.LEFT_OUT: translate("turn_values", "the context was full and old turns were left out"),
        BreakReason.EVICTED: translate("turn_values", "the cache had to make room, or its file is gone"),
        BreakReason.MODEL_CHANGED: translate("turn_values", "the cache belongs to another model"),
        BreakReason.KERNELS: translate("turn_values", "faster kernels took over, whose cache has another format"),
        BreakReason.MARKS: translate("turn_values", "this kind of model can go back to a few places only"),
        BreakReason.NO_REUSE: translate("turn_values", "reuse was turned off for this turn"),
    }.get(found.reason, "")
    if not reason:
        return ""
    lost = translate("turn_values", "%Ln tokens were computed again", found.lost)
    if found.message is None or found.position is None:
        return translate("turn_values", "{lost}: {reason}.").format(lost=lost, reason=reason)
    said = translate("turn_values", "The prefix broke at token {position}, in message {message}: {reason}. {lost}.")
    return said.format(position=words.count(found.position + 1), message=found.message + 1, reason=reason, lost=lost)


def headline_figures(trace: TurnTrace, screen_rate: float | None) -> tuple[tuple[str, str], ...]:
    """Name and value of the figures under the time bar."""
    found = figures(trace)
    rate = not_known() if found.engine_rate is None else words.per_second(found.engine_rate)
    rows = [
        (translate("turn_values", "Time to first token"), milliseconds(found.ttft_ms)),
        (translate("turn_values", "Engine"), rate),
        (translate("turn_values", "Screen"), not_known() if screen_rate is None else words.per_second(screen_rate)),
    ]
    if found.prefill_rate is not None:
        rows.append((translate("turn_values", "Prefill"), words.per_second(found.prefill_rate)))
    if trace.drafted:
        said = translate("turn_values", "{accepted} of {drafted} right")
        shown = said.format(accepted=words.count(trace.accepted), drafted=words.count(trace.drafted))
        rows.append((translate("turn_values", "Drafted tokens"), shown))
    return tuple(rows)


def figure_tips(screen_rate: float | None) -> dict[str, str]:
    """What explains the figures under the time bar, by name."""
    tip = translate("turn_values", "How fast the answer came on the screen, drawing included.")
    if screen_rate is None:
        when = translate(
            "turn_values", "It is known once an answer of two tokens or more has ended while its chat was on view."
        )
        tip = f"{tip} {when}"
    return {translate("turn_values", "Screen"): tip}


def side_by_side(found: PrefixBreak) -> tuple[str, str]:
    """The tokens that the cache held around the break, and those of the prompt, as text with marks between them."""
    return _pieces([each.text for each in found.expected]), _pieces([each.text for each in found.found])


def _pieces(texts: Sequence[str]) -> str:
    return "│".join(text.replace("\n", "⏎") for text in texts)
