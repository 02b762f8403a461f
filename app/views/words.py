"""Figures and times in words, as the window says them. Pure, no Qt."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from app.live import LiveTurn, ModelState
from app.records import Status

MINUTE: Final = 60
HOUR: Final = 3600
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
        return f"{int(value // MINUTE)} min {int(value % MINUTE)} s"
    return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"


def rate(value: float) -> str:
    """Tokens per second: "54.2", "0.85", "312"."""
    return f"{value:.2f}" if value < 0.995 else f"{value:.1f}" if value < 199.95 else f"{value:.0f}"


def count(value: int) -> str:
    """A whole number with thousands marked."""
    return f"{value:,}"


def ago(then: float, now: float) -> str:
    """When something was, as short as it can be said: "now", "2 min", "3 h", "21:40", "Mon", "3 Oct", "3 Oct 2024"."""
    at, today = datetime.fromtimestamp(then), datetime.fromtimestamp(now)
    age = max(0.0, now - then)
    if at.date() == today.date():
        return "now" if age < MINUTE else f"{int(age // MINUTE)} min" if age < HOUR else f"{int(age // HOUR)} h"
    days = (today.date() - at.date()).days
    if days == 1:
        return f"{at:%H:%M}"
    if days < 7:
        return f"{at:%a}"
    return f"{at.day} {at:%b}" if at.year == today.year else f"{at.day} {at:%b} {at.year}"


def group(then: float, now: float) -> str:
    """The heading under which a conversation is listed."""
    at, today = datetime.fromtimestamp(then).date(), datetime.fromtimestamp(now).date()
    if at >= today:
        return "Today"
    if at == today - timedelta(days=1):
        return "Yesterday"
    return "Last week" if at > today - timedelta(days=8) else "Older"


def phase(live: LiveTurn, model: ModelState) -> str:
    """What goes on in a turn, in one short phrase; empty when nothing does."""
    if live.phase == "idle":
        return ""
    if live.phase == "queued":
        return "Waits for the model" if model.phase == "working" else "Waits for its turn"
    if live.phase == "decode":
        return "Answers"
    if live.prefill_total == 0:
        return "Reads the question"
    share = 100 * live.prefill_done // live.prefill_total
    tokens = "token" if live.prefill_total == 1 else "tokens"
    return f"Reads {count(live.prefill_total)} new {tokens}, {share} %"


def ending(status: Status) -> str:
    """Why a reply ends where it does, if there is more to say than that it is complete."""
    return {
        "cancelled": "Stopped",
        "length": "Cut off: the context or the length limit is full",
        "partial": "Interrupted",
    }.get(status, "")


def left_out(messages: int) -> str:
    """Which messages an answer was made without."""
    which = "The message above" if messages == 1 else f"The {count(messages)} messages above"
    return f"{which} did not fit the context and {'was' if messages == 1 else 'were'} not read for the last answer."


def seconds_left(value: float) -> str:
    """A remaining time, no more exact than it is known: "5 s", "2 min"."""
    return f"{max(1, round(value))} s" if value < 90 else f"{round(value / MINUTE)} min"
