"""Figures and times in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.live import LiveTurn, ModelState
from app.views import words

NOW = datetime(2026, 11, 29, 15, 0).timestamp()


def at(*when: int) -> float:
    return datetime(*when).timestamp()


@pytest.mark.parametrize(
    ("nbytes", "said"), [(999, "999 B"), (412_000_000, "412 MB"), (1_240_000_000, "1.2 GB"), (999_600, "1 MB")]
)
def test_size(nbytes: int, said: str) -> None:
    assert words.size(nbytes) == said


@pytest.mark.parametrize(("value", "said"), [(0.214, "0.21 s"), (12.44, "12.4 s"), (125.0, "2 min 5 s")])
def test_seconds(value: float, said: str) -> None:
    assert words.seconds(value) == said


@pytest.mark.parametrize(("value", "said"), [(0.85, "0.85"), (54.23, "54.2"), (312.4, "312")])
def test_rate(value: float, said: str) -> None:
    assert words.rate(value) == said
    assert words.per_second(value) == f"{said} tok/s"


@pytest.mark.parametrize(
    ("then", "said", "below", "group"),
    [
        (NOW - 20, "now", "now", "Today"),
        (NOW - 130, "2 min", "2 min", "Today"),
        (NOW - 3 * 3600, "3 h", "3 h", "Today"),
        (NOW + 30, "now", "now", "Today"),  # a clock that was set back
        (at(2026, 11, 28, 23, 59), "23:59", "23:59", "Yesterday"),
        (at(2026, 11, 26, 9, 0), "Thu", "Thu", "Last week"),
        (at(2026, 11, 22, 9, 0), "22 Nov", "Sun", "Last week"),
        (at(2026, 11, 21, 9, 0), "21 Nov", "21", "November"),
        (at(2026, 10, 3, 9, 0), "3 Oct", "3", "October"),
        (at(2025, 10, 3, 9, 0), "3 Oct 2025", "3", "October 2025"),
    ],
)
def test_when_a_conversation_was(then: float, said: str, below: str, group: str) -> None:
    assert words.ago(then, NOW) == said
    assert words.ago_in_span(then, NOW) == below
    heading, since = words.span(then, NOW)
    assert heading == group
    assert since <= then
    assert words.span(since, NOW) == (heading, since)
    assert words.span(since - 1, NOW)[0] != heading


@pytest.mark.parametrize(
    ("live", "model", "said"),
    [
        (LiveTurn(), ModelState("ready"), ""),
        (LiveTurn("queued"), ModelState("working"), "Waiting for the model"),
        (LiveTurn("queued"), ModelState("ready"), "Waiting for its turn"),
        (LiveTurn("prefill", prefill_done=80, prefill_total=196), ModelState("ready"), "Reads 196 new tokens, 40 %"),
        (LiveTurn("prefill", prefill_done=0, prefill_total=1), ModelState("ready"), "Reads 1 new token, 0 %"),
        (LiveTurn("prefill"), ModelState("ready"), "Reads the question"),
        (LiveTurn("decode"), ModelState("ready"), "Answers"),
    ],
)
def test_phase(live: LiveTurn, model: ModelState, said: str) -> None:
    assert words.phase(live, model) == said
