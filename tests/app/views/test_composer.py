"""Writing a question: real keys, a real input method's events."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.theme import Theme
from app.views.composer import BUSY_HINT, HINT, Composer


@pytest.fixture
def composer(qtbot: Any, theme: Theme) -> Composer:
    made = Composer(theme)
    qtbot.addWidget(made)
    made.resize(680, 100)
    with qtbot.waitActive(made):
        made.show()
    made.focus_editor()
    made.sent = []  # type: ignore[attr-defined]
    made.send_requested.connect(made.sent.append)  # type: ignore[attr-defined]
    return made


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(composer.editor, event)


def test_enter_sends_what_was_typed_and_keeps_it_until_it_is_taken(composer: Any) -> None:
    QTest.keyClicks(composer.editor, "Why?")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.sent == ["Why?"]
    assert composer.text == "Why?"
    composer.clear()
    assert composer.text == ""


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_both_enter_keys_send_and_with_shift_break_the_line(composer: Any, key: Qt.Key) -> None:
    QTest.keyClicks(composer.editor, "one")
    QTest.keyClick(composer.editor, key, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(composer.editor, "two")
    assert composer.sent == []
    assert composer.text == "one\ntwo"
    QTest.keyClick(composer.editor, key)
    assert composer.sent == ["one\ntwo"]


def test_enter_while_an_input_method_composes_sends_nothing(composer: Any) -> None:
    compose(composer, "ni hao")
    assert composer.editor.composing
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.sent == []
    assert composer.text == ""
    compose(composer, "", "你好")
    assert composer.text == "你好"
    assert composer.sent == []
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.sent == ["你好"]


def test_an_empty_question_is_not_sent(composer: Any) -> None:
    QTest.keyClicks(composer.editor, "   ")
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.sent == []
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


def test_a_line_that_wraps_counts_as_two(composer: Any) -> None:
    one = composer.editor.height()
    composer.set_text("many words " * 15)
    assert composer.editor.height() > one


def test_send_turns_into_stop(composer: Any, qtbot: Any) -> None:
    composer.set_text("next")
    composer.set_busy(True)
    assert composer.button.text() == "Stop"
    assert composer.hint.text() == BUSY_HINT
    QTest.keyClick(composer.editor, Qt.Key.Key_Return)
    assert composer.sent == []
    assert composer.text == "next"
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
    composer.set_busy(False)
    assert composer.button.text() == "Send"
    assert composer.hint.text() == HINT


def test_pasting_brings_text_only_even_a_lot_of_it(composer: Any) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b> <img src='x'>")
    data.setText("plain")
    QGuiApplication.clipboard().setMimeData(data)
    composer.editor.paste()
    assert composer.text == "plain"
    QGuiApplication.clipboard().setText("line\n" * 200_000)
    composer.editor.paste()
    assert len(composer.text) == 1_000_005


def test_page_keys_are_for_the_conversation(composer: Any, qtbot: Any) -> None:
    with qtbot.waitSignal(composer.paged) as told:
        QTest.keyClick(composer.editor, Qt.Key.Key_PageUp)
    assert told.args == [-1]


def test_the_button_says_what_it_does(composer: Any) -> None:
    assert composer.button.accessibleName() == "Send the question (Enter)"
    assert composer.editor.accessibleName() == "Your question"
