"""Values out of somebody else's JSON: each function takes anything and returns what it is named after. Pure."""

from __future__ import annotations

import hashlib
import math
import time
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

TITLE_LENGTH: Final = 200
_MILLISECONDS_FROM: Final = 1e11  # as seconds that would be the year 5138
_LAST: Final = 32_503_679_999.0  # the end of the year 2999: Windows knows no local time much later


def text(value: object, default: str = "") -> str:
    """A text that can be stored: half a surrogate pair is no character."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else default


def title(value: object) -> str:
    """A text as a title: one line, of a length that a list can hold."""
    return " ".join(text(value)[: 2 * TITLE_LENGTH].split())[:TITLE_LENGTH]


def mapping(value: object) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def seconds(value: object) -> float | None:
    """Seconds since the epoch, to the end of the year 2999; None for anything else."""
    found = number(value)
    return found if found is not None and 0 <= found <= _LAST else None


def moment(value: object) -> float | None:
    """Seconds since the epoch from seconds, milliseconds or an ISO date; None for what is no date."""
    found = number(value)
    if isinstance(value, str):
        found = _from_iso(value)
    if found is not None and found >= _MILLISECONDS_FROM:
        found /= 1000
    return seconds(found)


def date(seconds: float) -> str:
    """The local ISO date of a time."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def day(value: object) -> str:
    """An ISO date, or an empty text."""
    found = text(value)
    try:
        return datetime.strptime(found, "%Y-%m-%d").strftime("%Y-%m-%d")
    except ValueError:
        return ""


def stable_id(*parts: str) -> str:
    """An id for something that has none: the same for the same content, so that it is known again."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _from_iso(value: str) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
