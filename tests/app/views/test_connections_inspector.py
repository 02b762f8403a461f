"""What the window's other parts do to the inspector, over the scripted program."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.db_writer import Job
from app.migrations import StoreError
from app.views.inspector.turns_dialog import TurnsDialog
from engine.explain.trace import TurnTrace
from tests.app.fake_worker import COMPARISON, Reply
from tests.app.views.inspector.traces import MEMORY
from tests.app.views.inspector.traces import turn as example_turn
from tests.app.views.test_connections import ask


def test_the_inspector_follows_the_turn_and_shows_an_earlier_one_on_request(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One ", "two "), prefill=23), Reply(("Three ", "four "), gate=gate, prefill=7))
    QTest.keyClick(window, Qt.Key.Key_F12)
    page = window.inspector.turn
    assert not page.time.isVisible()
    ask(window, world, qtbot, "first")
    qtbot.waitUntil(lambda: "Prefill, 23 tokens" in page.time_bar.legend.accessibleName())
    earlier = world.session.messages()[-1].id
    QTest.keyClicks(window.composer.editor, "second")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Prefill, 7 tokens" in page.time_bar.legend.accessibleName())  # while it is being written
    gate.release(10)
    qtbot.waitUntil(lambda: not world.session.busy)
    window.chat.explain_requested.emit(earlier)
    assert "Prefill, 23 tokens" in page.time_bar.legend.accessibleName()


def test_the_caches_worth_is_compared_and_can_be_given_up(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    window.show_inspector(True)
    window.inspector.show_page("cache")
    page = world.conductor.inspection._cache
    page.button.click()
    qtbot.waitUntil(page.said.isVisible)
    assert page.said.texts[0].startswith("Without the cache a token takes")
    assert len(COMPARISON.cached_ms) == 2
    world.worker.check_gate = threading.Semaphore(0)
    page.button.click()
    qtbot.waitUntil(lambda: page.button.text().startswith("Cancel"))
    page.button.click()
    assert page.button.text() == "Compare"
    world.worker.check_gate.release(100)


def test_the_log_of_turns_is_shown_and_opens_a_turn(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    window.show_inspector(True)
    window.inspector.show_page("history")
    history = world.conductor.inspection._history
    qtbot.waitUntil(lambda: len(history.turns) == 1)
    turn = history.turns[0]
    world.conductor.new_chat()
    world.conductor.inspection._open_turn(turn.conversation_id, turn.message_id)
    assert world.session.conversation.id == turn.conversation_id
    assert window.inspector.page == "turn"


@pytest.mark.parametrize("width", [640, 1200, 1440])
def test_the_inspector_leaves_the_conversation_room(make_window: Any, qtbot: Any, width: int) -> None:
    window, _world = make_window()
    window.resize(width, 800)
    window.show_inspector(True)
    qtbot.waitUntil(lambda: window.inspector.geometry().right() == width - 1)
    beside = width >= 1100
    assert (window._main.width() < width - window._left.room) is beside
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.inspector_shown is beside)


def test_the_inspectors_figures_are_reached_by_name(
    make_window: Any, qtbot: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    run = world.conductor.commands.run
    run("explain")
    assert (window.inspector_shown, window.inspector.page) == (True, "turn")
    run("compare_cache")
    page = world.conductor.inspection._cache
    qtbot.waitUntil(page.said.isVisible)
    assert window.inspector.page == "cache"
    target = tmp_path / "turns.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.show_inspector(False)
    run("export_turns")
    qtbot.waitUntil(target.exists)
    assert len(target.read_text().splitlines()) == 2
    run("all_turns")
    qtbot.waitUntil(lambda: window.findChild(TurnsDialog) is not None and window.findChild(TurnsDialog).isVisible())


def test_each_of_two_exports_is_written_though_the_first_still_waits(
    make_window: Any, qtbot: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    gate, paths = threading.Event(), [tmp_path / "one.csv", tmp_path / "two.csv"]
    world.store._writer.put(Job((), done=lambda _error: gate.wait(10)))  # a disk that takes its time
    for path in paths:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, chosen=path: (str(chosen), ""))
        world.conductor.commands.run("export_turns")
    gate.set()
    qtbot.waitUntil(lambda: all(path.exists() for path in paths))
    qtbot.waitUntil(lambda: not world.conductor.inspection._exports)


def test_the_rate_on_the_screen_of_an_answer_that_was_watched_stays_known(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    window.show_inspector(True)
    figures = window.inspector.turn.figures
    name, figure = figures._pairs[2]
    assert dict(figures.texts)["Screen"] == "not known"
    assert "It is known once" in name.toolTip() and figure.toolTip() == name.toolTip()
    world.session.traced.emit(world.session.messages()[-1].id, example_turn())
    qtbot.waitUntil(lambda: dict(figures.texts)["Screen"].endswith("tok/s"))
    assert "It is known once" not in name.toolTip()
    rate = dict(figures.texts)["Screen"]
    world.conductor.inspection._latest.clear()  # as after a restart
    assert world.store.flush(10)
    world.conductor.inspection.refresh()
    assert dict(figures.texts)["Screen"] == rate


def test_a_file_that_cannot_be_written_is_said(make_window: Any, qtbot: Any, monkeypatch: Any, tmp_path: Path) -> None:
    window, world = make_window()
    (tmp_path / "no folder").write_text("")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no folder" / "turns.csv"), ""))
    world.conductor.commands.run("export_turns")
    qtbot.waitUntil(lambda: bool(window.notices.cards))
    assert window.notices.cards[0].notice.sentence.startswith("The file could not be written: ")


def test_a_folded_inspector_and_another_page_read_no_log(make_window: Any, qtbot: Any, monkeypatch: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    drawn: list[object] = []
    history = world.conductor.inspection._history
    monkeypatch.setattr(history, "show_turns", lambda *what: drawn.append(what))
    window.show_inspector(True)
    for leave in (lambda: window.inspector.show_page("turn"), lambda: window.show_inspector(False)):
        window.show_inspector(True)
        window.inspector.show_page("history")
        leave()
    log = world.conductor.inspection._log
    qtbot.waitUntil(lambda: not any(reading.going for reading in log._readings))
    QApplication.processEvents()  # whatever was told is here by now
    assert drawn == []
    window.show_inspector(True)
    window.inspector.show_page("history")
    qtbot.waitUntil(lambda: len(drawn) == 1)


def test_what_is_of_one_chat_is_not_shown_of_another(make_window: Any, qtbot: Any, monkeypatch: Any) -> None:
    window, world = make_window()
    inspection = world.conductor.inspection
    ask(window, world, qtbot, "One")
    trace = replace(example_turn(), memory=MEMORY)
    inspection._latest[world.session.messages()[-1].id] = trace
    window.show_inspector(True)
    window.inspector.show_page("memory")
    assert inspection._memory.now.isVisible()
    world.worker.check_gate = threading.Semaphore(0)
    inspection.compare()
    assert world.conductor.inspection._cache.button.text().startswith("Cancel")
    world.conductor.new_chat()
    assert inspection._cache.button.text() == "Compare", "it was about the chat that was left"
    window.inspector.show_page("memory")
    assert not inspection._memory.now.isVisible()
    world.worker.check_gate.release(100)


def test_a_chat_that_is_left_while_it_answers_is_not_drawn_any_more(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("One ",)), Reply(("Two ", "three "), gate=gate))
    timer = world.conductor.inspection._timer
    ask(window, world, qtbot, "first")
    answering = world.session
    QTest.keyClicks(window.composer.editor, "second")
    QTest.keyClick(window.composer.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(timer.isActive)
    world.conductor.new_chat()
    assert not timer.isActive()
    world.chats.open(answering.conversation.id)
    assert timer.isActive()
    gate.release(10)
    qtbot.waitUntil(lambda: not answering.busy and not timer.isActive())


def test_a_trace_that_cannot_be_read_is_said_in_one_sentence(make_window: Any, qtbot: Any, monkeypatch: Any) -> None:
    window, world = make_window()
    ask(window, world, qtbot, "One")
    inspection = world.conductor.inspection
    inspection._latest.clear()

    def refuse(_message_id: str) -> None:
        raise StoreError("Chats cannot be read from the disk. Please restart Loquat.", "I/O error")

    monkeypatch.setattr(world.store, "trace", refuse)
    inspection.show_last_turn()
    assert window.notices.cards[0].notice.sentence.startswith("Chats cannot be read")
    assert window.inspector.turn.time.isVisible(), "the figures that were kept are shown"


def test_traces_are_not_kept_for_ever(make_window: Any) -> None:
    _window, world = make_window()
    for number in range(300):
        world.conductor.inspection._keep(f"m{number}", TurnTrace())
    assert list(world.conductor.inspection._latest)[-1] == "m299"
    assert len(world.conductor.inspection._latest) == 100
