"""Slash commands: offered, completed, run, and told from plain text."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import (
    QKeySequence,
    QShortcut,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.views.composer import Composer
from tests.app.views.composer.support import COMMANDS, press, write

# -- commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def commands(composer: Composer) -> list[tuple[str, str]]:
    composer.set_commands(COMMANDS)
    told: list[tuple[str, str]] = []
    composer.command_chosen.connect(lambda command, argument: told.append((command, argument)))
    return told


def offered(composer: Composer) -> list[str]:
    return [row.id for row in composer.slash_menu.choices.rows] if composer.slash_menu.isVisible() else []


def test_a_slash_opens_the_menu_above_the_field_and_typing_narrows_it(composer: Any, commands: Any) -> None:
    write(composer, "/")
    assert offered(composer) == ["new", "title", "settings"]
    menu, top = composer.slash_menu, composer.mapTo(composer.window(), QPoint(0, 0)).y()
    assert menu.geometry().bottom() < top
    assert composer.editor.hasFocus()
    write(composer, "se")
    assert offered(composer) == ["settings"]
    press(composer, Qt.Key.Key_Backspace)
    press(composer, Qt.Key.Key_Backspace)
    press(composer, Qt.Key.Key_Backspace)
    assert offered(composer) == []


def test_enter_runs_the_marked_command_and_sends_nothing(window: Any, composer: Any, commands: Any) -> None:
    write(composer, "/")
    press(composer, Qt.Key.Key_Down)
    press(composer, Qt.Key.Key_Down)
    press(composer, Qt.Key.Key_Return)
    assert commands == [("settings", "")]
    assert composer.text == ""
    assert window.sent == []
    assert offered(composer) == []
    assert composer.editor.hasFocus()


def test_an_argument_is_completed_and_handed_over(window: Any, composer: Any, commands: Any) -> None:
    write(composer, "/ti")
    press(composer, Qt.Key.Key_Tab)
    assert composer.text == "/title "
    assert composer.editor.hasFocus()
    assert offered(composer) == ["title"]
    press(composer, Qt.Key.Key_Return)  # not without its argument
    assert commands == []
    write(composer, "My new title")
    press(composer, Qt.Key.Key_Return)
    assert commands == [("title", "My new title")]
    assert window.sent == []


def test_the_mouse_chooses_too(composer: Any, commands: Any) -> None:
    write(composer, "/")
    choices = composer.slash_menu.choices
    row = choices.visualRect(choices.model().index(0, 0)).center()
    QTest.mouseClick(choices.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert commands == [("new", "")]


@pytest.mark.parametrize("text", ["//new", "/usr/bin is full", "a /new", "/new is a word", "/2 of it"])
def test_what_is_no_command_is_sent_as_it_is(window: Any, composer: Any, commands: Any, text: str) -> None:
    write(composer, text)
    assert offered(composer) == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [(text, ())]
    assert commands == []


@pytest.mark.parametrize("text", ["/nothing", "/newest of all"])
def test_what_looks_like_a_command_and_is_none_stays_until_it_is_sent_as_it_is(
    window: Any, composer: Any, commands: Any, qtbot: Any, text: str
) -> None:
    write(composer, text)
    with qtbot.waitSignal(composer.command_unknown, timeout=500) as told:
        press(composer, Qt.Key.Key_Return)
    assert told.args == [text.split(maxsplit=1)[0][1:]]
    assert (composer.text, window.sent, commands) == (text, [], [])
    composer.send_as_it_is()
    assert window.sent == [(text, ())]


def test_escape_closes_the_menu_before_it_stops_an_answer(window: Any, composer: Any, commands: Any) -> None:
    stops: list[bool] = []
    QShortcut(QKeySequence("Escape"), window).activated.connect(lambda: stops.append(True))
    write(composer, "/ne")
    press(composer, Qt.Key.Key_Escape)
    assert offered(composer) == []
    assert stops == []
    write(composer, "w")
    assert offered(composer) == []
    press(composer, Qt.Key.Key_Return)
    assert window.sent == [("/new", ())]
    press(composer, Qt.Key.Key_Escape)
    assert stops == [True]
    composer.clear()
    write(composer, "/")
    assert len(offered(composer)) == 3


def test_the_menu_follows_the_window(composer: Any, commands: Any) -> None:
    write(composer, "/")
    composer.window().resize(720, 450)
    QApplication.processEvents()
    top = composer.mapTo(composer.window(), QPoint(0, 0)).y()
    assert 0 <= composer.slash_menu.geometry().bottom() < top
    assert top - composer.slash_menu.geometry().bottom() < 20


def test_the_button_says_what_it_does(composer: Any) -> None:
    assert composer.button.accessibleName() == "Send the question (Enter)"
    assert composer.editor.accessibleName() == "Your question"
    composer.set_busy(True)
    assert composer.button.accessibleName() == "Stop the answer (Esc)"
    write(composer, "x")
    assert composer.button.accessibleName() == "Send the question after this answer (Enter)"
    assert composer.stop_button.accessibleName() == "Stop the answer (Esc)"
