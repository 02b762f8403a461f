"""The log of past turns: read from the database, slowdowns found, exported."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from app.migrations import StoreError
from app.records import Conversation, StoredMessage
from app.store import Store
from app.turn_log import LoggedTurn, as_csv, read_turns, slowdowns
from engine.explain.trace import ModelFacts, Stall, TurnTrace, to_json
from engine.stats import TurnStats

STATS = TurnStats(700, 612, 41, 103, 0.001, 0.003, 0.2, 0.21, 240.0, None, 32_000_000, 2.1)


def turns(*rates: float, version: str = "0.1.0", start: int = 0) -> list[LoggedTurn]:
    setup = (("version", version), ("device", "cpu"))
    return [
        LoggedTurn(float(start + n), f"m{n}", "c", "A chat", "m", replace(STATS, decode_tokens_per_s=rate), setup, 0)
        for n, rate in enumerate(rates)
    ]


def test_turns_are_read_with_what_they_ran_with(tmp_path: Path) -> None:
    store = Store(tmp_path / "chats.sqlite3")
    chat = Conversation(title="One")
    question = StoredMessage(chat.id, "user", "Why?")
    first = StoredMessage(chat.id, "assistant", "So.", parent_id=question.id, model="smollm2", stats=STATS)
    second = StoredMessage(chat.id, "assistant", "Thus.", parent_id=question.id, model="smollm2", stats=STATS)
    store.add_conversation(chat, question)
    store.finish_message(first)
    store.finish_message(second)
    trace = TurnTrace(model=ModelFacts(version="0.2.0", device="cpu", threads=2), stalls=(Stall(3, 200.0),))
    store.save_trace(second.id, to_json(trace))
    assert store.flush()
    one, two = read_turns(store.path)
    assert (one.message_id, one.setup, one.stalls) == (first.id, (), None)
    assert two.setup == (("version", "0.2.0"), ("device", "cpu"), ("threads", "2"))
    assert (two.stalls, two.stats, two.title, two.context) == (1, STATS, "One", 803)
    assert read_turns(store.path, 1) == (two,)
    store.delete(chat.id)
    assert store.flush()
    assert read_turns(store.path) == ()
    store.close()


def test_a_database_that_cannot_be_read_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        read_turns(tmp_path / "missing.sqlite3")


def test_a_new_version_that_is_slower_is_pointed_out() -> None:
    (found,) = slowdowns([*turns(240, 241, 239, 240), *turns(170, 172, 168, version="0.2.0", start=10)])
    assert found.changes == (("version", "0.1.0", "0.2.0"),)
    assert found.at == 10.0
    assert found.factor == pytest.approx(240 / 170, rel=0.01)


@pytest.mark.parametrize(
    "later",
    [
        turns(230, 231, 229, version="0.2.0", start=10),  # not enough
        turns(100, 100, version="0.2.0", start=10),  # too few to say
        turns(300, 300, 300, version="0.2.0", start=10),  # faster
        turns(100, 100, 100, start=10),  # nothing changed
    ],
)
def test_nothing_else_is(later: list[LoggedTurn]) -> None:
    assert slowdowns([*turns(240, 241, 239), *later]) == ()


def test_the_csv_is_read_back_and_holds_no_formula() -> None:
    odd = replace(turns(9.5)[0], title='=cmd|"x"!A1, and\nmore', stats=replace(STATS, ttft_s=None), stalls=None)
    header, row = csv.reader(io.StringIO(as_csv([odd])))
    read = dict(zip(header, row, strict=True))
    assert read["conversation"].startswith("'=cmd")
    assert (read["ttft_s"], read["stalls"], read["itl_p50_ms"]) == ("", "", "")
    assert (read["prompt_tokens"], read["version"], read["dtype"]) == ("700", "0.1.0", "")
