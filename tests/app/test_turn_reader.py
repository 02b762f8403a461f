"""The log of turns is read beside the window's thread; what was overtaken or given up is never told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject

from app.db_writer import Job
from app.records import Conversation, StoredMessage
from app.store import Store
from app.turn_log import LoggedTurn
from app.turn_reader import TurnReader
from engine.errors import EngineError
from engine.stats import TurnStats

STATS = TurnStats(700, 612, 41, 103, 0.001, 0.003, 0.2, 0.21, 240.0, None, 32_000_000, 2.1)
PATIENCE_S = 10.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "chats.sqlite3")
    yield made
    made.close()


@pytest.fixture
def reader(store: Store, qapp: QObject) -> Iterator[TurnReader]:
    made = TurnReader(store, qapp)
    made.told = []  # type: ignore[attr-defined]
    made.made.connect(made.told.append)  # type: ignore[attr-defined]
    yield made
    assert made.close()
    made.deleteLater()


def add_turn(store: Store) -> None:
    chat = Conversation(title="One")
    question = StoredMessage(chat.id, "user", "Why?")
    store.add_conversation(chat, question)
    store.finish_message(
        StoredMessage(chat.id, "assistant", "So.", parent_id=question.id, model="smollm2", stats=STATS)
    )


def test_turns_are_read_on_another_thread_with_what_people_call_the_models(
    store: Store, reader: Any, qtbot: Any
) -> None:
    add_turn(store)
    with qtbot.waitSignal(reader.made) as made:
        reader.ask({"smollm2": "SmolLM2 135M"}, lambda turns: (threading.current_thread(), turns))
    thread, (turn,) = made.args[0]
    assert thread is not threading.main_thread()
    assert (turn.model, turn.shown_model) == ("smollm2", "SmolLM2 135M")


def test_a_turn_that_is_still_being_written_to_the_disk_is_waited_for(store: Store, reader: Any, qtbot: Any) -> None:
    gate = threading.Event()
    store._writer.put(Job((), done=lambda _error: gate.wait(PATIENCE_S)))
    add_turn(store)
    reader.ask({})
    threading.Timer(0.05, gate.set).start()
    qtbot.waitUntil(lambda: [len(turns) for turns in reader.told] == [1])


@pytest.mark.parametrize("overtaken", [True, False])
def test_only_the_latest_wish_is_told_and_one_that_is_given_up_never(reader: Any, qtbot: Any, overtaken: bool) -> None:
    gate, begun = threading.Event(), threading.Event()

    def slowly(turns: tuple[LoggedTurn, ...]) -> str:
        begun.set()
        gate.wait(PATIENCE_S)
        return "stale"

    reader.ask({}, slowly)
    assert begun.wait(PATIENCE_S)
    if overtaken:
        reader.ask({}, lambda turns: "fresh")
    else:
        reader.cancel()
    gate.set()
    stale = reader._readings[0]
    qtbot.waitUntil(lambda: not stale.going)
    reader.ask({}, lambda turns: "last")  # what the stale one told is on its way before this
    qtbot.waitUntil(lambda: reader.told[-1:] == ["last"])
    assert "stale" not in reader.told


def test_what_cannot_be_read_or_made_is_said_in_one_sentence(store: Store, reader: Any, qtbot: Any) -> None:
    def refuse(turns: tuple[LoggedTurn, ...]) -> None:
        raise EngineError("No room.", "ENOSPC")

    with qtbot.waitSignal(reader.failed) as failed:
        reader.ask({}, refuse)
    assert failed.args == ["No room.", "ENOSPC"]
    store.path = store.path.with_name("gone.sqlite3")
    with qtbot.waitSignal(reader.failed) as failed:
        reader.ask({})
    assert "cannot be read" in failed.args[0]
    assert reader.told == []


def test_the_end_of_the_program_waits_for_what_is_being_made(reader: Any) -> None:
    begun, ended = threading.Event(), threading.Event()

    def write(turns: tuple[LoggedTurn, ...]) -> None:
        begun.set()
        threading.Event().wait(0.05)
        ended.set()

    reader.ask({}, write)
    assert begun.wait(PATIENCE_S)
    assert reader.close()
    assert ended.is_set()
