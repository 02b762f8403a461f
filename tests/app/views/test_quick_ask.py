"""The small window above all others."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.live import LiveTurn, ModelState
from app.records import StoredMessage
from app.theme import Theme
from app.views.quick_ask import WIDTH, QuickAsk

QUESTION = StoredMessage("c", "user", "Why is\nthe sky blue?", id="q")
BEGUN = StoredMessage("c", "assistant", "", id="a", parent_id="q", status="partial")
DONE = StoredMessage("c", "assistant", "It **scatters**.", id="a", parent_id="q")


@pytest.fixture
def quick(qtbot: Any, theme: Theme) -> QuickAsk:
    made = QuickAsk(theme)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.summon()
    made.told = []  # type: ignore[attr-defined]
    made.asked.connect(made.told.append)  # type: ignore[attr-defined]
    return made


def shown(quick: QuickAsk) -> str:
    return "\n".join(view.document.toPlainText() for view in quick.answer.body.views)


def answer(quick: QuickAsk) -> None:
    quick.add_message(QUESTION)
    quick.add_message(BEGUN)
    quick.append_text("a", DONE.content)
    quick.finish_message(DONE)


def test_it_stays_above_other_windows_and_has_the_keyboard(quick: Any) -> None:
    assert quick.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
    assert quick.windowFlags() & Qt.WindowType.FramelessWindowHint
    assert quick.editor.hasFocus()
    assert not quick.answer.isVisible()


def test_enter_asks_and_empties_the_field(quick: Any) -> None:
    assert not quick.button.isEnabled()
    QTest.keyClicks(quick.editor, "Why?")
    QTest.keyClick(quick.editor, Qt.Key.Key_Return)
    assert quick.told == ["Why?"]
    assert quick.editor.toPlainText() == ""


def test_an_input_methods_enter_asks_nothing(quick: Any) -> None:
    QApplication.sendEvent(quick.editor, QInputMethodEvent("ni hao", []))
    QTest.keyClick(quick.editor, Qt.Key.Key_Return)
    QTest.keyClick(quick.editor, Qt.Key.Key_Escape)
    assert quick.told == []
    assert quick.isVisible()


def test_what_would_make_the_field_slow_is_not_pasted(quick: Any) -> None:
    QGuiApplication.clipboard().setText("x" * 20_000)
    QTest.keyClick(quick.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert quick.editor.toPlainText() == ""
    assert quick.trouble.text().startswith("That is too long for this field.")
    QGuiApplication.clipboard().setText("a word")
    QTest.keyClick(quick.editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert quick.editor.toPlainText() == "a word"


def test_the_answer_grows_below_the_question_and_the_window_with_it(quick: Any) -> None:
    low = quick.height()
    quick.add_message(QUESTION)
    assert quick.question.text() == "Why is the sky blue?"
    quick.show_turn(LiveTurn("prefill", prefill_done=10, prefill_total=20), ModelState("ready"))
    assert quick.waiting.isVisible()
    assert quick.button.text() == "Stop"
    quick.add_message(BEGUN)
    quick.append_text("a", "It ")
    quick.show_turn(LiveTurn("decode", "a"), ModelState("ready"))
    assert not quick.waiting.isVisible()
    quick.append_text("a", "**scatters**.")
    quick.append_text("another", "lost")
    quick.finish_message(DONE)
    quick.show_turn(LiveTurn(), ModelState("ready"))
    assert shown(quick) == "It scatters."
    assert quick.height() > low
    assert quick.width() == WIDTH
    assert quick.button.text() == "Ask"


def test_thoughts_are_not_shown(quick: Any) -> None:
    quick.add_message(QUESTION)
    quick.add_message(BEGUN)
    quick.append_text("a", "<think>Well, ")
    assert not quick.answer.isVisible()
    quick.append_text("a", "light.</think>\n\nIt scatters.")
    assert shown(quick) == "It scatters."
    quick.copy_button.click()
    assert QGuiApplication.clipboard().text() == "It scatters."
    quick.copy_button.reset()


def test_a_long_answer_scrolls_inside_the_window(quick: Any) -> None:
    quick.add_message(QUESTION)
    quick.add_message(BEGUN)
    for number in range(120):
        quick.append_text("a", f"Paragraph {number}.\n\n")
    QApplication.processEvents()
    assert quick.height() < 700
    bar = quick.answer.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()  # it follows
    QTest.keyClick(quick.editor, Qt.Key.Key_PageUp)
    above = bar.value()
    assert above < bar.maximum()
    quick.append_text("a", "One more.\n\n")
    assert bar.value() == above  # but leaves a reader alone


def test_a_new_question_takes_the_place_of_the_last(quick: Any) -> None:
    answer(quick)
    quick.add_message(StoredMessage("c", "user", "And then?", id="q2", parent_id="a"))
    assert quick.question.text() == "And then?"
    assert not quick.answer.isVisible()


def test_a_thread_shows_its_newest_question_and_answer(quick: Any) -> None:
    earlier = (StoredMessage("c", "user", "Earlier?"), StoredMessage("c", "assistant", "Yes."))
    quick.show_thread((*earlier, QUESTION, DONE), LiveTurn())
    assert (quick.question.text(), shown(quick)) == ("Why is the sky blue?", "It scatters.")
    quick.show_thread((), LiveTurn())
    assert (quick.question.text(), quick.answer.text) == ("", "")


def test_copy_and_open(quick: Any, qtbot: Any) -> None:
    assert not quick.copy_button.isVisible()
    assert not quick.open_button.isVisible()
    answer(quick)
    quick.copy_button.click()
    assert QGuiApplication.clipboard().text() == "It **scatters**."
    with qtbot.waitSignal(quick.opened):
        quick.open_button.click()
    assert not quick.isVisible()
    quick.copy_button.reset()


def test_escape_hides_and_toggle_brings_back(quick: Any) -> None:
    QTest.keyClicks(quick.editor, "half")
    QTest.keyClick(quick.editor, Qt.Key.Key_Escape)
    assert not quick.isVisible()
    quick.toggle()
    assert quick.isVisible()
    assert quick.editor.toPlainText() == "half"
    assert quick.focusWidget() is quick.editor  # offscreen, a window is not activated a second time


def test_stop_is_asked_for_and_enter_waits(quick: Any, qtbot: Any) -> None:
    quick.add_message(QUESTION)
    quick.show_turn(LiveTurn("decode"), ModelState("ready"))
    QTest.keyClicks(quick.editor, "next")
    QTest.keyClick(quick.editor, Qt.Key.Key_Return)
    assert quick.told == []
    with qtbot.waitSignal(quick.stop_requested):
        quick.button.click()


def test_trouble_is_said(quick: Any) -> None:
    quick.show_trouble("No model is loaded.")
    assert quick.trouble.isVisible()
    quick.add_message(QUESTION)
    assert not quick.trouble.isVisible()
