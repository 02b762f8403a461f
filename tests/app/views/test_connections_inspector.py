"""What the window's other parts do to the inspector, over the scripted program."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.views.inspector.turns_dialog import TurnsDialog
from tests.app.fake_worker import COMPARISON, Reply
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
    assert len(history.turns) == 1
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
    assert len(target.read_text().splitlines()) == 2
    run("all_turns")
    assert window.findChild(TurnsDialog).isVisible()
