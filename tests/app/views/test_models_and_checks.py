"""The model chooser and the check of a chat, as a person meets them in the window."""

from __future__ import annotations

import threading
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.views.main_window import MainWindow
from engine.events import InstalledModel
from tests.app.fake_worker import Load, model_info
from tests.app.views.test_main_window import ask, idle

OTHER = InstalledModel("other", "Another model", 494_000_000, 398_000_000, False)


def two_models(make_window: Any, qtbot: Any) -> tuple[MainWindow, Any]:
    window, world = make_window(loads=(Load(), Load(model_info("other"))))
    world.worker.models.append(OTHER)
    world.chats.models.refresh()
    qtbot.waitUntil(lambda: len(world.chats.models.models) == 2)
    return window, world


def choose(window: MainWindow, text: str) -> None:
    menu = window.header.model_menu()
    next(action for action in menu.actions() if action.text().startswith(text)).trigger()


def entries(window: MainWindow) -> list[str]:
    return [action.text().split("\t")[0] for action in window.header.model_menu().actions() if action.text()]


def test_a_model_is_chosen(make_window: Any, qtbot: Any) -> None:
    window, world = two_models(make_window, qtbot)
    ticked = [action.text() for action in window.header.model_menu().actions() if action.isChecked()]
    assert ticked == ["Scripted scripted\t\u200793 MB"]
    choose(window, "Another model")
    qtbot.waitUntil(lambda: world.chats.model.info.name == "other" and world.chats.model.phase == "ready")
    assert world.worker.loaded == [None, "other"]
    assert {"Models…", "Back to Scripted scripted"} <= {*entries(window)}


def start_check(window: MainWindow) -> None:
    next(a for a in window.header.more_menu().actions() if a.text() == "Check this chat").trigger()


def asked(make_window: Any, qtbot: Any) -> tuple[MainWindow, Any]:
    window, world = make_window()
    world.settings.set("system_prompt", "S")
    ask(window, "q")
    qtbot.waitUntil(lambda: len(world.session.messages()) == 2 and idle(world))
    return window, world


def test_a_chat_is_checked_and_the_result_said_in_one_sentence(make_window: Any, qtbot: Any) -> None:
    window, world = asked(make_window, qtbot)
    world.worker.check_gate = gate = threading.Semaphore(0)
    start_check(window)
    qtbot.waitUntil(window.checking.isVisible)
    assert window.checking.detail == "question 1 of 1"
    messages, started_on = world.worker.checks[0]
    assert [m.content for m in messages] == ["S", "q", "You said: q"]
    assert messages[2].token_ids == (100, 101, 2)
    assert started_on == world.session.conversation.started_on
    gate.release(1)
    qtbot.waitUntil(lambda: bool(window.notices.cards))
    sentence = "Reuse changed nothing: 214 of 214 tokens equal, 0.4 s with the cache, 3.1 s without."
    assert window.notices.cards[0].notice.sentence == sentence
    assert not window.checking.isVisible()


def test_an_answer_that_reuse_changed_is_said(make_window: Any, qtbot: Any) -> None:
    window, world = asked(make_window, qtbot)
    world.worker.equal_tokens = 200
    start_check(window)
    qtbot.waitUntil(lambda: bool(window.notices.cards))
    assert "changed an answer" in window.notices.cards[0].notice.sentence
    assert "200 of 214" in window.notices.cards[0].notice.sentence


def test_a_check_is_cancelled_or_gives_way_to_a_question(make_window: Any, qtbot: Any) -> None:
    window, world = asked(make_window, qtbot)
    world.worker.check_gate = threading.Semaphore(0)
    start_check(window)
    QTest.mouseClick(window.checking.cancel_button, Qt.MouseButton.LeftButton)
    assert not window.checking.isVisible()
    assert window.notices.cards == ()
    start_check(window)
    ask(window, "and?")
    qtbot.waitUntil(lambda: len(world.session.messages()) == 4 and idle(world))
    assert not window.checking.isVisible()
    assert [card.notice.sentence for card in window.notices.cards] == [
        "The check was given up, because something was asked."
    ]


def test_there_is_nothing_to_check_in_an_empty_chat(make_window: Any) -> None:
    window, world = make_window()
    start_check(window)
    assert not window.notices.cards, "its entry in the menu is disabled"
    world.conductor.commands.run("check_chat")
    assert "nothing to check" in window.notices.cards[0].notice.sentence
    assert world.worker.checks == []


def answers(world: Any, name: str) -> bool:
    state = world.chats.model
    return state.phase == "ready" and state.info.name == name


def test_one_key_goes_back_and_forth(make_window: Any, qtbot: Any) -> None:
    loads = (Load(), Load(model_info("large")), Load(), Load(model_info("large")))
    window, world = make_window(loads=loads)
    entries = world.conductor.commands._entries
    assert not [entry for entry in entries() if entry.label.startswith("Back to")], "there is no other yet"
    back = (Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(window, *back)
    assert world.worker.loaded == [None]
    world.chats.load_model("large")
    qtbot.waitUntil(lambda: answers(world, "large"))
    assert "Back to Scripted scripted" in [entry.label for entry in entries()]
    assert "Back to Scripted scripted\tCtrl+Shift+B" in [a.text() for a in window.header.model_menu().actions()]
    QTest.keyClick(window, *back)
    qtbot.waitUntil(lambda: answers(world, "scripted"))
    QTest.keyClick(window, *back)
    qtbot.waitUntil(lambda: answers(world, "large"))
    assert world.worker.loaded == [None, "large", "scripted", "large"]
