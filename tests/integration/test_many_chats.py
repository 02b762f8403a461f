"""10,000 conversations of 20 messages: the window starts, searches, opens and scrolls as fast as it is promised.

Limits of the processor's time are those of the clock on a machine that does nothing else; `python -m
tests.bench.many_chats` prints both.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.bench.many_chats import make_database, measure, summary

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
START_S = 1.5
SEARCH_MS = 100
OPEN_S = 0.5
GAP_MS = 60


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of the second start: the first one also pays for files that were never read."""
    database: Path = tmp_path_factory.mktemp("many") / "many.sqlite3"
    make_database(database)
    runs = measure(database, 2)
    database.unlink()
    print(summary(runs), f"load {os.getloadavg()[0]:.1f}", sep="\n")
    return runs[-1]


def test_the_window_takes_keys_soon_after_the_start(figures: dict[str, Any]) -> None:
    assert min(figures["usable_s"], figures["usable_cpu_s"]) < START_S


def test_a_search_is_answered_at_once(figures: dict[str, Any]) -> None:
    assert len(figures["found_ms"]) == 20
    assert sum(hits > 0 for hits in figures["hits"]) >= 16  # rare, common and Chinese words, and words in a row
    assert max(figures["found_ms"]) < SEARCH_MS, figures["found_ms"]


def test_a_thousand_messages_open_at_once(figures: dict[str, Any]) -> None:
    assert min(figures["opened_s"], figures["opened_cpu_s"]) < OPEN_S


@pytest.mark.parametrize("phase", ["search", "scroll by wheel", "scroll the list"])
def test_the_window_is_never_held_up_for_long(figures: dict[str, Any], phase: str) -> None:
    longest_gap, longest_work = figures["gaps"][phase][2], figures["work"][phase][2]
    assert min(longest_gap, longest_work) < GAP_MS
