"""Asking again in the window: edit, regenerate, step through versions; what an answer did not read is marked."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.views.main_window import MainWindow
from app.views.message_view import MessageView
from tests.app.fake_worker import Reply
from tests.app.views.test_main_window import ask, idle


def view_of(window: MainWindow, text: str) -> MessageView:
    return next(view for view in window.chat.message_views() if view.message.content == text)


def texts(window: MainWindow) -> list[str]:
    return [view.message.content for view in window.chat.message_views()]


def talk(window: MainWindow, world: Any, qtbot: Any, *questions: str) -> None:
    for question in questions:
        ask(window, question)
        qtbot.waitUntil(lambda: world.session.messages()[-1].role == "assistant" and idle(world))


def click(button: Any) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_question_is_edited_in_place_with_the_keyboard(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    talk(window, world, qtbot, "one", "two")
    question = view_of(window, "one")
    question.again_button.setFocus(Qt.FocusReason.TabFocusReason)
    assert question.again_button.revealed
    QTest.keyClick(question.again_button, Qt.Key.Key_Space)
    box = question.edit_box
    assert box is not None
    assert box.editor.hasFocus()
    assert not question.body.isVisible()
    QTest.keyClicks(box.editor, " more")
    QTest.keyClick(box.editor, Qt.Key.Key_Return)
    QTest.keyClicks(box.editor, "line")
    assert texts(window)[0] == "one", "Enter alone breaks the line"
    QTest.keyClick(box.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(texts(window)) == 2 and idle(world))
    assert texts(window)[0] == "one more\nline"
    assert window.composer.editor.hasFocus()
    edited = view_of(window, "one more\nline")
    assert edited.action_row.stepper.text == "2 / 2"
    assert not edited.action_row.stepper.next_button.isEnabled()
    click(edited.action_row.stepper.back_button)
    assert texts(window) == ["one", "You said: one", "two", "You said: two"]
    assert edited.message.content == "one", "the same view, so that focus stays"


def test_escape_keeps_the_question_and_an_unchanged_one_is_not_asked(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(), Reply(gate=gate))
    talk(window, world, qtbot, "one")
    question = view_of(window, "one")
    height = question.height()
    click(question.again_button)
    assert question.height() > height
    QTest.keyClicks(question.edit_box.editor, "x")
    ask(window, "two")
    qtbot.waitUntil(lambda: world.session.busy)
    question.edit_box.editor.setFocus()
    QTest.keyClick(question.edit_box.editor, Qt.Key.Key_Escape)
    assert question.edit_box is None
    assert world.session.busy, "Escape was for the edit, not for the answer"
    assert question.height() == height
    gate.release(10)
    qtbot.waitUntil(lambda: idle(world))
    click(question.again_button)
    click(question.edit_box.send_button)
    assert question.edit_box is None
    assert len(world.worker.requests) == 2


def test_an_edit_that_is_refused_keeps_its_words(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(), Reply(gate=gate))
    talk(window, world, qtbot, "one")
    question = view_of(window, "one")
    click(question.again_button)
    QTest.keyClicks(question.edit_box.editor, " more")
    ask(window, "two")
    qtbot.waitUntil(lambda: world.session.busy)
    assert not question.again_button.isVisible()
    click(question.edit_box.send_button)
    assert question.edit_box.editor.toPlainText() == "one more"
    assert "still being written" in window.notices.cards[-1].notice.sentence
    gate.release(10)
    qtbot.waitUntil(lambda: idle(world))


def test_an_answer_is_made_again_and_versions_are_stepped_with_the_keyboard(make_window: Any, qtbot: Any) -> None:
    gate = threading.Semaphore(0)
    window, world = make_window(Reply(("first",)), Reply(("sec", "ond"), gate=gate), Reply(("third",)))
    talk(window, world, qtbot, "q")
    first = view_of(window, "first")
    assert not first.action_row.stepper.isVisible()
    assert not first.again_button.revealed
    QApplication.sendEvent(first, QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5)))
    assert first.again_button.revealed
    QApplication.sendEvent(first, QEvent(QEvent.Type.Leave))
    assert not first.again_button.revealed
    click(first.again_button)
    assert texts(window) == ["q"]
    assert not window.chat.waiting_line.isHidden()
    gate.release(1)
    qtbot.waitUntil(lambda: "sec" in texts(window) or len(texts(window)) == 2)
    streaming = window.chat.message_views()[-1]
    assert not streaming.action_row.isVisible()
    gate.release(5)
    qtbot.waitUntil(lambda: idle(world))
    second = view_of(window, "second")
    assert second.action_row.stepper.text == "2 / 2"
    back = second.action_row.stepper.back_button
    back.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(back, Qt.Key.Key_Space)
    assert texts(window) == ["q", "first"]
    assert second.body.views[0].document.toPlainText() == "first"
    assert second.action_row.stepper.text == "1 / 2"


def test_stepping_leaves_what_is_above_where_it_is(make_window: Any, qtbot: Any) -> None:
    long = "\n\n".join(["A paragraph of some words."] * 30)
    window, world = make_window(Reply((long,)), Reply(("short",)), Reply((long,)), Reply(("other",)))
    talk(window, world, qtbot, "one", "two", "three")
    view = view_of(window, "short")
    click(view.again_button)
    qtbot.waitUntil(lambda: idle(world))
    answer = view_of(window, "other")
    bar = window.chat.verticalScrollBar()
    top = answer.mapTo(window.chat.viewport(), answer.rect().topLeft()).y()
    click(answer.action_row.stepper.back_button)
    qtbot.waitUntil(lambda: texts(window)[-1] == long)  # what followed the first version came back
    assert answer.mapTo(window.chat.viewport(), answer.rect().topLeft()).y() == top
    assert bar.value() < bar.maximum()
    assert not window.chat.following


def test_a_question_is_copied_as_it_was_written(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    talk(window, world, qtbot, "**one**  two")
    click(view_of(window, "**one**  two").copy_button)
    assert QGuiApplication.clipboard().text() == "**one**  two"


def test_what_was_not_read_is_marked_also_after_a_restart(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(), Reply(("second",), left_out=(0, 1)))
    talk(window, world, qtbot, "one", "two")
    line = window.chat.left_out_line
    assert line.isVisible()
    assert line.words == "The 2 messages above did not fit the context and were not read for the last answer."
    assert [view.body.views[0]._dimmed for view in window.chat.message_views()] == [True, True, False, False]
    last_left_out, first_read = window.chat.message_views()[1:3]
    assert last_left_out.geometry().bottom() < line.y()
    assert line.geometry().bottom() < first_read.y()
    window.close()
    world.close()
    window, world = make_window()
    assert window.chat.left_out_line.isVisible()
    talk(window, world, qtbot, "three")
    assert not window.chat.left_out_line.isVisible()
    assert not any(view.body.views[0]._dimmed for view in window.chat.message_views())


@pytest.mark.parametrize(("count", "words"), [(1, "The message above did"), (4, "The 4 messages above did")])
def test_the_mark_counts(make_window: Any, count: int, words: str) -> None:
    window, _ = make_window()
    window.chat.left_out_line.show_count(count)
    assert window.chat.left_out_line.words.startswith(words)


def test_all_figures_of_an_answer_are_in_its_tool_tip(make_window: Any, qtbot: Any) -> None:
    window, world = make_window(Reply(("a", "b"), cached=40, prefill=2, drafted=12, accepted=9))
    talk(window, world, qtbot, "q")
    tip = window.chat.message_views()[-1].footer.toolTip()
    assert "Prompt: 42 tokens, 40 from the cache" in tip
    assert "drafted 12, kept 9" in tip
