"""Writing a question: real keys, a real input method's events, earlier questions, what sending costs."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QKeySequence,
    QShortcut,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.live import DraftCost
from app.views.cost_line import cost_saying
from tests.app.views.composer.support import COMMANDS, NOTES, compose, press, write

# -- writing and sending ---------------------------------------------------------------------------------------


def test_every_paragraph_takes_its_own_direction_and_side(composer: Any) -> None:
    editor, sides = composer.editor, []
    editor.insertPlainText("Latin first\nمرحبا بالعالم\nLatin")
    QTest.keyClicks(editor, "!")
    for number in range(3):
        cursor = editor.textCursor()
        cursor.setPosition(editor.document().findBlockByNumber(number).position())
        sides.append(editor.cursorRect(cursor).x() > editor.viewport().width() / 2)
    assert sides == [False, True, False]


def test_enter_sends_what_was_typed_and_keeps_it_until_it_is_taken(window: Any, composer: Any) -> None:
    write(composer, "Why?")
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("Why?", ())]
    assert composer.text == "Why?"
    composer.clear()
    assert composer.text == ""
    assert window.edits[-1] == ("", ())
    assert composer.editor.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_both_enter_keys_send_and_with_shift_break_the_line(window: Any, composer: Any, key: Qt.Key) -> None:
    write(composer, "one")
    press(composer, key, Qt.KeyboardModifier.ShiftModifier)
    write(composer, "two")
    assert window.sent == []
    assert composer.text == "one\ntwo"
    press(composer, key)
    assert window.sent == [("one\ntwo", ())]


def test_enter_while_an_input_method_composes_sends_nothing(window: Any, composer: Any) -> None:
    compose(composer, "ni hao")
    assert composer.editor.composing
    press(composer, Qt.Key.Key_Return)
    assert window.sent == []
    assert composer.text == ""
    compose(composer, "", "你好")
    assert composer.text == "你好"
    assert window.sent == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("你好", ())]


def test_keys_belong_to_the_input_method_while_it_composes(composer: Any) -> None:
    composer.set_history(["earlier"])
    composer.set_commands(COMMANDS)
    write(composer, "/")
    assert composer.slash_menu.isVisible()
    compose(composer, "xin")
    marked = composer.slash_menu.choices.current
    press(composer, Qt.Key.Key_Down)
    assert composer.slash_menu.choices.current == marked
    compose(composer, "", "")
    composer.editor.clear()
    compose(composer, "ni")
    press(composer, Qt.Key.Key_Up)
    assert composer.text == ""


def test_escape_while_an_input_method_composes_stops_no_answer(window: Any, composer: Any) -> None:
    stops: list[bool] = []
    QShortcut(QKeySequence("Escape"), window).activated.connect(lambda: stops.append(True))
    compose(composer, "ni")
    press(composer, Qt.Key.Key_Escape)
    assert stops == []
    compose(composer, "")
    press(composer, Qt.Key.Key_Escape)
    assert stops == [True]


def test_an_empty_question_is_not_sent(window: Any, composer: Any) -> None:
    write(composer, "   ")
    press(composer, Qt.Key.Key_Return)
    assert window.sent == []
    assert not composer.button.isEnabled()


def test_it_grows_with_its_text_up_to_ten_lines(composer: Any) -> None:
    line = composer.editor.fontMetrics().lineSpacing()
    heights = []
    for lines in (1, 3, 10, 30):
        composer.set_text("\n".join("x" * lines))
        heights.append(composer.editor.height())
    assert heights[1] - heights[0] == 2 * line
    assert heights[2] - heights[1] == 7 * line
    assert heights[3] == heights[2]
    composer.clear()
    assert composer.editor.height() == heights[0]


@pytest.mark.parametrize("line", ["word", "推理为什么慢", "🙂", "שלום"])
def test_no_line_is_cut_whatever_its_letters(composer: Any, line: str) -> None:
    composer.set_text("\n".join([line] * 4))
    QApplication.processEvents()
    assert composer.editor.verticalScrollBar().maximum() == 0
    composer.clear()
    composer.editor.insertPlainText(line)
    line_height = composer.editor.document().begin().layout().lineAt(0).height()
    assert composer.editor.height() >= line_height + 4


def test_a_line_that_wraps_counts_as_two(composer: Any) -> None:
    one = composer.editor.height()
    composer.set_text("many words " * 15)
    assert composer.editor.height() > one


def test_page_keys_are_for_the_conversation(composer: Any, qtbot: Any) -> None:
    with qtbot.waitSignal(composer.paged) as told:
        press(composer, Qt.Key.Key_PageUp)
    assert told.args == [-1]


def test_a_draft_is_shown_silently_and_whole(window: Any, composer: Any) -> None:
    composer.set_draft("half a question", (NOTES,))
    assert (composer.text, composer.attachments) == ("half a question", (NOTES,))
    assert window.edits == []
    write(composer, "?")
    assert window.edits == [("half a question?", (NOTES,))]
    composer.set_draft("")
    assert (composer.text, composer.attachments) == ("", ())


# -- while an answer is being written --------------------------------------------------------------------------


def test_send_turns_into_stop_while_nothing_is_written(composer: Any, qtbot: Any) -> None:
    composer.set_busy(True)
    assert composer.button.text() == "Stop"
    assert not composer.stop_button.isVisible()
    assert composer.cost_line.text == "Esc stops the answer"
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()
    composer.set_busy(False)
    assert composer.button.text() == "Send"
    assert not composer.button.isEnabled()


def test_a_question_is_queued_while_an_answer_is_written_and_stop_stays_in_reach(
    window: Any, composer: Any, qtbot: Any
) -> None:
    composer.set_busy(True)
    write(composer, "And then?")
    assert composer.button.text() == "Queue"
    assert composer.cost_line.text == "Enter sends it after this answer"
    press(composer, Qt.Key.Key_Return)
    QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    assert window.sent == [("And then?", ())] * 2
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.stop_button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()


def test_the_queued_question_is_shown_and_taken_back(composer: Any, qtbot: Any) -> None:
    composer.show_queued("And\nthen?")
    assert composer.queued_line.isVisible()
    assert composer.queued_line.text == "Sent after this answer: And then?"
    with qtbot.waitSignal(composer.queued_taken_back):
        QTest.mouseClick(composer.queued_line.edit_button, Qt.MouseButton.LeftButton)
    assert composer.editor.hasFocus()
    composer.show_queued("")
    assert not composer.queued_line.isVisible()


# -- what sending costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "text", "warning"),
    [
        (DraftCost(705, 693, 12, 8192, 0, 0.09), "Sending reads 12 new tokens, about 0.1 s · 7,487 of 8,192 left", 0),
        (DraftCost(705, 704, 1, 8192), "Sending reads 1 new token · 7,487 of 8,192 left", 0),
        (DraftCost(5705, 704, 1, 8192, 0, 42.3), "Sending reads 5,001 new tokens, about 42 s · 2,487 of 8,192 left", 0),
        (
            DraftCost(8000, 0, 100, 8192, 2, 3.0),
            "2 earlier messages will not be read · Sending reads 8,000 new tokens, about 3.0 s",
            1,
        ),
        (DraftCost(9000, 0, 8990, 8192), "Too long: 9,000 tokens, and the context holds 8,192", 1),
        (
            DraftCost(9000, 0, 8990, 8192, about=True),
            "Too long: about 9,000 tokens, and the context holds 8,192",
            1,
        ),
        (
            DraftCost(50_000, 0, 50_000, 131_072, about=True),
            "Sending reads about 50,000 new tokens · about 81,072 of 131,072 left",
            0,
        ),
    ],
)  # fmt: skip
def test_the_cost_is_said_in_words(cost: DraftCost, text: str, warning: int) -> None:
    saying = cost_saying(cost)
    assert (saying.wordings[0], saying.warning) == (text, bool(warning))


def test_the_cost_stands_below_the_field_as_long_as_there_is_something_to_send(composer: Any) -> None:
    write(composer, "Why?")
    composer.show_cost(DraftCost(705, 693, 12, 8192, 0, 0.09))
    assert composer.cost_line.text.startswith("Sending reads 12 new tokens, about 0.1 s")
    assert composer.cost_line.accessibleName() == composer.cost_line.text
    composer.set_busy(True)
    assert composer.cost_line.text.startswith("Sending reads 12 new tokens")
    composer.set_busy(False)
    composer.editor.clear()
    assert composer.cost_line.text == "Enter sends, Shift+Enter breaks the line"


def test_a_narrow_line_says_less(composer: Any) -> None:
    composer.set_text("Why?")
    composer.show_cost(DraftCost(705, 693, 12, 8192, 0, 0.09))
    line = composer.cost_line
    said = []
    for width in (600, 280, 80):
        line.resize(width, line.height())
        said.append(line.shown)
    assert said == [line.text, "Sending reads 12 new tokens, about 0.1 s", "12 new"]


def test_the_assistant_is_named_and_asked_for(composer: Any, qtbot: Any) -> None:
    assert composer.assistant_button.text() == "Assistant: Plain"
    composer.show_assistant("Translator")
    assert composer.assistant_button.text() == "Assistant: Translator"
    composer.window().resize(400, 500)
    assert composer.assistant_button.text() == "Translator"
    composer.show_assistant("An assistant with a long name")
    assert composer.assistant_button.text().endswith("…")
    assert composer.assistant_button.accessibleName() == "Choose the assistant, now An assistant with a long name"
    with qtbot.waitSignal(composer.assistant_menu_requested):
        QTest.mouseClick(composer.assistant_button, Qt.MouseButton.LeftButton)


# -- earlier questions -----------------------------------------------------------------------------------------


def test_up_calls_earlier_questions_back_and_down_the_draft(window: Any, composer: Any) -> None:
    composer.set_history(["one", "two"])
    composer.set_draft("a draft")
    texts = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down):
        press(composer, key)
        texts.append(composer.text)
    assert texts == ["two", "one", "one", "two", "a draft", "a draft"]
    assert window.edits[0] == ("two", ())


def test_what_was_written_is_never_replaced(composer: Any) -> None:
    composer.set_history(["one"])
    write(composer, "new")
    press(composer, Qt.Key.Key_Up)
    assert composer.text == "new"
    composer.clear()
    press(composer, Qt.Key.Key_Up)
    write(composer, "!")
    press(composer, Qt.Key.Key_Down)
    assert composer.text == "one!"


def test_in_a_long_question_the_arrows_first_go_through_its_lines(composer: Any) -> None:
    composer.set_history(["older", "wraps " * 40 + "\nlast line"])
    press(composer, Qt.Key.Key_Up)
    presses = 0
    while composer.text != "older":
        press(composer, Qt.Key.Key_Up)
        presses += 1
    assert presses > 3


def test_a_question_that_the_field_cannot_hold_is_not_called_back(composer: Any) -> None:
    composer.set_history(["one", "x" * 1_000_000])
    press(composer, Qt.Key.Key_Up)
    assert composer.text == "one"
