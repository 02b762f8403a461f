"""From the log of past turns to the charts and the table of the "over time" page. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Final

from app.i18n import translate
from app.turn_log import LoggedTurn, Slowdown
from app.views import words
from app.views.inspector.turn_values import not_known
from app.views.inspector.values import Chart, Line, Mark, Segment

_COUNTS: Final = ("cached_tokens", "prefill_tokens", "completion_tokens")
NOT_KNOWN: Final = float("inf")  # what the table sorts by where there is no figure
_TOKENS: Final = ("accent", "good", "code_name", "code_literal", "muted")  # one colour a line


def speed_by_context(turns: Sequence[LoggedTurn]) -> Chart:
    """Tokens per second against the length of the context, of one chat."""
    known = [turn for turn in turns if turn.stats.reported("prompt_tokens", "completion_tokens")]
    points = sorted((float(t.context), t.stats.decode_tokens_per_s) for t in known if t.stats.decode_tokens_per_s)
    line = Line(translate("history_values", "tok/s"), tuple((x, y) for x, y in points if y), "accent", dots=True)
    return Chart(
        (line,),
        translate("history_values", "tokens of context"),
        translate("history_values", "tok/s"),
        empty=translate("history_values", "This chat has no answer with a speed yet."),
    )


def rate_over_time(turns: Sequence[LoggedTurn], slower: Sequence[Slowdown]) -> Chart:
    """Tokens per second over days, a line a model and format of its weights."""
    return _over_time(turns, slower, "rate")


def ttft_over_time(turns: Sequence[LoggedTurn], slower: Sequence[Slowdown]) -> Chart:
    """Time to first token over days, a line a model and format of its weights."""
    return _over_time(turns, slower, "ttft")


def _over_time(turns: Sequence[LoggedTurn], slower: Sequence[Slowdown], which: str) -> Chart:
    ran: dict[tuple[str, str], list[LoggedTurn]] = {}
    for turn in turns:
        ran.setdefault((turn.model, turn.format), []).append(turn)
    lines = []
    for number, own in enumerate(ran.values()):
        values = ((turn.at, _value(turn, which)) for turn in own)
        points = tuple(sorted((at, value) for at, value in values if value is not None))
        lines.append(Line(_line_name(own[0]), points, _TOKENS[number % len(_TOKENS)], dots=len(points) < 40))
    name = translate("history_values", "tok/s") if which == "rate" else translate("history_values", "TTFT, seconds")
    marks = tuple(Mark(each.at, slowdown_sentence(each)) for each in slower)
    empty = translate("history_values", "The speed of your answers over days will stand here.")
    return Chart(tuple(lines), "", name, marks, x_is_time=True, empty=empty)


def _line_name(turn: LoggedTurn) -> str:
    return f"{turn.shown_model}, {turn.format}" if turn.format else turn.shown_model


def model_legend(chart: Chart) -> tuple[Segment, ...]:
    """The name of each line beside its colour, and the middle of its values; nothing where there is one line only."""
    rates = ((line, statistics.median(y for _, y in line.points)) for line in chart.lines if line.points)
    shown = tuple(Segment(line.label, rate, words.per_second(rate), line.token) for line, rate in rates)
    return shown if len(shown) > 1 else ()


def _value(turn: LoggedTurn, which: str) -> float | None:
    return turn.stats.decode_tokens_per_s if which == "rate" else turn.stats.ttft_s


def change_name(name: str) -> str:
    """What changed, as people read it."""
    return {
        "version": translate("history_values", "version"),
        "device": translate("history_values", "device"),
        "dtype": translate("history_values", "weight format"),
        "kv_dtype": translate("history_values", "cache format"),
        "path": translate("history_values", "way of computing"),
        "threads": translate("history_values", "threads"),
    }[name]


def slowdown_sentence(found: Slowdown) -> str:
    """What changed, and how much slower a token became."""
    changes = ", ".join(
        f"{change_name(name)} {before or not_known()} → {after or not_known()}" for name, before, after in found.changes
    )
    said = translate("history_values", "{model}: {percent} % slower a token since {changes}")
    return said.format(model=found.model, percent=f"{100 * (found.factor - 1):.0f}", changes=changes)


def headings() -> tuple[str, ...]:
    """Of the table's columns."""
    return (
        translate("history_values", "When"),
        translate("history_values", "Chat"),
        translate("history_values", "Model"),
        translate("history_values", "Format"),
        translate("history_values", "Reused"),
        translate("history_values", "New"),
        translate("history_values", "Answer"),
        translate("history_values", "TTFT"),
        translate("history_values", "tok/s"),
        translate("history_values", "p95 ms"),
        translate("history_values", "Stalls"),
    )


def cells(turn: LoggedTurn, when: str) -> tuple[str, ...]:
    """One line of the table; a dash where something is not known."""
    stats = turn.stats
    gaps = stats.itl_ms
    return (
        when,
        turn.title,
        turn.shown_model,
        turn.format or "-",
        *(words.count(getattr(stats, name)) if stats.reported(name) else "-" for name in _COUNTS),
        "-" if stats.ttft_s is None else words.seconds(stats.ttft_s),
        "-" if stats.decode_tokens_per_s is None else words.rate(stats.decode_tokens_per_s),
        "-" if gaps is None else f"{gaps.p95:.1f}",
        "-" if turn.stalls is None else words.count(turn.stalls),
    )


def sort_keys(turn: LoggedTurn) -> tuple[float | str, ...]:
    """What each column is sorted by."""
    stats = turn.stats
    return (
        turn.at,
        turn.title.casefold(),
        turn.shown_model.casefold(),
        turn.format.casefold(),
        *(getattr(stats, name) if stats.reported(name) else NOT_KNOWN for name in _COUNTS),
        NOT_KNOWN if stats.ttft_s is None else stats.ttft_s,
        NOT_KNOWN if stats.decode_tokens_per_s is None else stats.decode_tokens_per_s,
        NOT_KNOWN if stats.itl_ms is None else stats.itl_ms.p95,
        NOT_KNOWN if turn.stalls is None else float(turn.stalls),
    )
