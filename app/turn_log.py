"""The figures of past turns, read from the database: how fast answers were over days, and where that became worse."""

from __future__ import annotations

import csv
import io
import sqlite3
import statistics
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final

from app.db_writer import reading_connection
from app.i18n import translate
from app.migrations import StoreError
from app.records import stats_from_json
from engine.stats import TurnStats

MOST: Final = 2_000
SLOWER: Final = 1.15  # from this factor on a change is pointed out
_NEIGHBOURS: Final = 10  # turns on either side of a change that are compared
_LEAST: Final = 3  # of them on either side: one slow turn is no change
_MODEL: Final = "json_extract(t.json, '$.model.{name}')"
_FACTS: Final = ("version", "device", "dtype", "kv_dtype", "path", "threads")
_STALLS: Final = "json_array_length(t.json, '$.stalls')"
_COLUMNS: Final = ", ".join((_STALLS, *(_MODEL.format(name=name) for name in _FACTS)))
_TURNS: Final = f"""
SELECT m.created_at, m.id, c.id, c.title, m.model, m.stats, {_COLUMNS}
FROM message m JOIN conversation c ON c.id = m.conversation_id LEFT JOIN turn_trace t ON t.message_id = m.id
WHERE m.stats IS NOT NULL AND m.deleted_at IS NULL AND c.deleted_at IS NULL
ORDER BY m.key DESC LIMIT ?
"""  # noqa: S608 - names from this file only


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """One answer of the past.

    Attributes:
        at: Seconds since the epoch.
        model: Its name in the registry.
        setup: What it ran with, by name: version, device, dtype, kv_dtype, path, threads; empty where not noted.
        stalls: Tokens that came late; None where not noted.
        label: The model's name for people; empty where it is not known.
    """

    at: float
    message_id: str
    conversation_id: str
    title: str
    model: str
    stats: TurnStats
    setup: tuple[tuple[str, str], ...] = ()
    stalls: int | None = None
    label: str = ""

    @property
    def shown_model(self) -> str:
        """The model as people know it."""
        return self.label or self.model

    @property
    def format(self) -> str:
        """The format of its weights, and the device where that is not the processor; empty where not noted."""
        setup = dict(self.setup)
        device = setup.get("device", "")
        return ", ".join(part for part in (setup.get("dtype", ""), "" if device == "cpu" else device) if part)

    @property
    def context(self) -> int:
        """Tokens of the whole conversation after it."""
        return self.stats.prompt_tokens + self.stats.completion_tokens


@dataclass(frozen=True, slots=True)
class Slowdown:
    """A change after which answers were slower.

    Attributes:
        at: When the first answer after it was made, in seconds since the epoch.
        model: Whose answers.
        changes: What changed: name, before, after.
        factor: How many times as long a token took, from the medians on both sides.
    """

    at: float
    model: str
    changes: tuple[tuple[str, str, str], ...]
    factor: float


def read_turns(
    database: Path, most: int = MOST, labels: Mapping[str, str] = MappingProxyType({})
) -> tuple[LoggedTurn, ...]:
    """The latest turns that have figures, oldest first.

    Args:
        database: Of a `Store`.
        most: Turns at most.
        labels: What people call the models, by their names.

    Raises:
        StoreError: The database cannot be read.
    """
    try:
        with closing(reading_connection(database)) as db:
            rows = db.execute(_TURNS, (most,)).fetchall()
    except sqlite3.Error as error:
        raise StoreError(
            translate("turn_log", "The figures of past answers cannot be read from the disk."), str(error)
        ) from error
    turns = (_turn(row, labels) for row in reversed(rows))
    return tuple(turn for turn in turns if turn is not None)


def _turn(row: tuple[object, ...], labels: Mapping[str, str]) -> LoggedTurn | None:
    at, message_id, conversation_id, title, model, stats, stalls, *facts = row
    found = stats_from_json(str(stats))
    if found is None or not isinstance(at, float | int):
        return None
    setup = tuple((name, str(value)) for name, value in zip(_FACTS, facts, strict=True) if value is not None)
    late = stalls if isinstance(stalls, int) else (0 if setup else None)
    named, label = str(model), labels.get(str(model), "")
    return LoggedTurn(at, str(message_id), str(conversation_id), str(title), named, found, setup, late, label)


def slowdowns(turns: Sequence[LoggedTurn]) -> tuple[Slowdown, ...]:
    """Where a new version, setting or device made a model's answers more than 15 % slower a token."""
    found: list[Slowdown] = []
    for model in dict.fromkeys(turn.model for turn in turns):
        noted = [turn for turn in turns if turn.model == model and turn.setup and turn.stats.decode_tokens_per_s]
        stretches = [list(group) for _, group in groupby(noted, key=lambda turn: turn.setup)]
        for before, after in pairwise(stretches):
            factor = _factor(before, after)
            if factor is not None and factor > SLOWER:
                found.append(Slowdown(after[0].at, after[0].shown_model, _changes(before[-1], after[0]), factor))
    return tuple(sorted(found, key=lambda each: each.at))


def _factor(before: Sequence[LoggedTurn], after: Sequence[LoggedTurn]) -> float | None:
    """How many times as long a token takes after a change."""
    if len(before) < _LEAST or len(after) < _LEAST:
        return None
    return _rate(before[-_NEIGHBOURS:]) / _rate(after[:_NEIGHBOURS])


def _rate(turns: Sequence[LoggedTurn]) -> float:
    return statistics.median(turn.stats.decode_tokens_per_s or 0.0 for turn in turns)


def _changes(before: LoggedTurn, after: LoggedTurn) -> tuple[tuple[str, str, str], ...]:
    old, new = dict(before.setup), dict(after.setup)
    names = (name for name in _FACTS if old.get(name, "") != new.get(name, ""))
    return tuple((name, old.get(name, ""), new.get(name, "")) for name in names)


def as_csv(turns: Sequence[LoggedTurn]) -> str:
    """A table for other programs: one line a turn, times in seconds, an empty field where something is not known."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    figures = ("prompt_tokens", "cached_tokens", "prefill_tokens", "completion_tokens", "queue_s", "template_s")
    more = ("prefill_s", "ttft_s", "decode_tokens_per_s", "total_s", "kv_bytes", "drafted_tokens", "accepted_tokens")
    itl = ("itl_p50_ms", "itl_p95_ms", "itl_max_ms")
    writer.writerow(("at", "conversation", "model", *figures, *more, *itl, "stalls", *_FACTS))
    for turn in turns:
        gaps = turn.stats.itl_ms
        late = (gaps.p50, gaps.p95, gaps.max) if gaps is not None else ("", "", "")
        setup = dict(turn.setup)
        values = [getattr(turn.stats, name) if turn.stats.reported(name) else None for name in (*figures, *more)]
        known = ["" if value is None else value for value in (*values, *late, turn.stalls)]
        writer.writerow((f"{turn.at:.3f}", _safe(turn.title), turn.model, *known, *(setup.get(n, "") for n in _FACTS)))
    return file.getvalue()


def _safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
