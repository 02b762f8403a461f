"""Figures and times in words, as the window says them, in its language."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from PySide6.QtCore import QDate, QLocale

from app.engine_sentences import translated
from app.i18n import translate
from app.live import LiveTurn, ModelState
from app.records import Status
from engine.events import LoadStage

MINUTE: Final = 60
HOUR: Final = 3600
_WEEK: Final = 7  # days
_UNITS: Final = ("B", "KB", "MB", "GB", "TB")


def size(nbytes: float) -> str:
    """Bytes in decimal units: "412 MB", "1.2 GB"."""
    unit = 0
    while nbytes >= 999.5 and unit < len(_UNITS) - 1:
        nbytes, unit = nbytes / 1000, unit + 1
    return f"{nbytes:.1f} {_UNITS[unit]}" if unit >= 3 and nbytes < 99.95 else f"{nbytes:.0f} {_UNITS[unit]}"


def seconds(value: float) -> str:
    """A duration: "0.21 s", "12.4 s", "2 min 5 s"."""
    if value >= 2 * MINUTE:
        return translate("words", "{minutes} min {seconds} s").format(
            minutes=int(value // MINUTE), seconds=int(value % MINUTE)
        )
    return translate("words", "{seconds} s").format(seconds=f"{value:.2f}" if value < 9.995 else f"{value:.1f}")


def rate(value: float) -> str:
    """Tokens per second: "54.2", "0.85", "312"."""
    return f"{value:.2f}" if value < 0.995 else f"{value:.1f}" if value < 199.95 else f"{value:,.0f}"


def per_second(value: float) -> str:
    """Tokens per second with the unit: "54.2 tok/s"."""
    return translate("words", "{rate} tok/s").format(rate=rate(value))


def count(value: int) -> str:
    """A whole number with thousands marked."""
    return f"{value:,}"


def ago(then: float, now: float) -> str:
    """When something was, as short as it can be said: "now", "2 min", "3 h", "21:40", "Mon", "3 Oct", "3 Oct 2024"."""
    at, today = datetime.fromtimestamp(then), datetime.fromtimestamp(now)
    days = (today.date() - at.date()).days
    if days <= 0:
        return _age(max(0.0, now - then))
    if days == 1:
        return f"{at:%H:%M}"
    if days < _WEEK:
        return QLocale().standaloneDayName(at.isoweekday(), QLocale.FormatType.ShortFormat)
    return day(at, today)


def ago_in_span(then: float, now: float) -> str:
    """`ago`, without what the heading of its span of time says already: "now", "21:40", "Mon", "14"."""
    at, today = datetime.fromtimestamp(then), datetime.fromtimestamp(now)
    days = (today.date() - at.date()).days
    if days < _WEEK:
        return ago(then, now)
    if days == _WEEK:
        return QLocale().standaloneDayName(at.isoweekday(), QLocale.FormatType.ShortFormat)
    return QLocale().toString(QDate(at.year, at.month, at.day), translate("words", "d"))


def day(at: date, today: date) -> str:
    """A date, with its year where that is not this one."""
    this_year = at.year == today.year
    # The patterns are those of QDate.toString, so that a translation can order the parts.
    pattern = translate("words", "d MMM") if this_year else translate("words", "d MMM yyyy")
    return QLocale().toString(QDate(at.year, at.month, at.day), pattern)


def _age(age: float) -> str:
    if age < MINUTE:
        return translate("words", "now")
    if age < HOUR:
        return translate("words", "{minutes} min").format(minutes=int(age // MINUTE))
    return translate("words", "{hours} h").format(hours=int(age // HOUR))


def span(then: float, now: float) -> tuple[str, float]:
    """The heading under which a conversation is listed, and when the time that it names began (s since the epoch)."""
    at, today = datetime.fromtimestamp(then).date(), datetime.fromtimestamp(now).date()
    for heading, back in (
        (translate("words", "Today"), 0),
        (translate("words", "Yesterday"), 1),
        (translate("words", "Last week"), _WEEK),
    ):
        if at >= (first := today - timedelta(days=back)):
            return heading, _midnight(first)
    first = at.replace(day=1)
    pattern = translate("words", "MMMM") if at.year == today.year else translate("words", "MMMM yyyy")
    return QLocale().toString(QDate(first.year, first.month, 1), pattern), _midnight(first)


def _midnight(at: date) -> float:
    return datetime(at.year, at.month, at.day).timestamp()


def phase(live: LiveTurn, model: ModelState) -> str:
    """What goes on in a turn, in one short phrase; empty when nothing does."""
    if live.phase == "idle":
        return ""
    if live.phase == "queued":
        if model.phase != "ready":
            return translate("words", "Waiting for the model")
        return translate("words", "Waiting for its turn")
    if live.phase == "decode":
        return translate("words", "Answers")
    return translated(live.note) or _reading(live, model)


def _reading(live: LiveTurn, model: ModelState) -> str:
    if model.info is not None and model.info.remote:
        return translate("words", "Waiting for {server}").format(server=model.info.server)
    if live.prefill_total == 0:
        return translate("words", "Reads the question")
    share = 100 * live.prefill_done // live.prefill_total
    if live.prefill_total == 1:
        return translate("words", "Reads 1 new token, {share} %").format(share=share)
    return translate("words", "Reads {count} new tokens, {share} %").format(
        count=count(live.prefill_total), share=share
    )


def ending(status: Status) -> str:
    """Why a reply ends where it does, if there is more to say than that it is complete."""
    match status:
        case "cancelled":
            return translate("words", "Stopped")
        case "length":
            return translate("words", "Cut off: the context or the length limit is full")
        case "partial":
            return translate("words", "Interrupted")
    return ""


def left_out(messages: int) -> str:
    """Which messages an answer was made without."""
    if messages == 1:
        return translate("words", "The message above did not fit the context and was not read for the last answer.")
    return translate(
        "words", "The {count} messages above did not fit the context and were not read for the last answer."
    ).format(count=count(messages))


def seconds_left(value: float) -> str:
    """A remaining time, no more exact than it is known: "5 s", "2 min"."""
    if value < 90:
        return translate("words", "{seconds} s").format(seconds=max(1, round(value)))
    return translate("words", "{minutes} min").format(minutes=round(value / MINUTE))


def online(model: ModelState, fetches: bool = False) -> str:
    """What the program is on the network for; empty while it is on none.

    Args:
        model: The one that answers, or is on its way.
        fetches: Whether the hub is asked, or a model downloaded from it.
    """
    if model.info is not None and model.info.remote:
        sentence = translate("words", "Online. What you ask in any chat goes to {host}.")
        return sentence.format(host=model.info.host)
    downloads = model.phase == "working" and model.step is not None and model.step.stage is LoadStage.DOWNLOAD
    if not downloads and not fetches:
        return ""
    return translate("words", "Online, only for models. Your chats stay here.")
