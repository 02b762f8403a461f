"""Input methods in the whole window: Enter ends a composition and does nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QInputMethodEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop import Desktop


def compose(widget: QWidget, text: str) -> None:
    """An input method shows what it holds, which is not in the field yet."""
    QApplication.sendEvent(widget, QInputMethodEvent(text, []))


def commit(widget: QWidget, text: str) -> None:
    """The input method hands its text over."""
    event = QInputMethodEvent()
    event.setCommitString(text)
    QApplication.sendEvent(widget, event)


def test_enter_ends_a_composition_and_sends_nothing(open_window: Callable[..., Desktop], qtbot: Any) -> None:
    desktop = open_window()
    session = desktop.chats.current
    assert session is not None
    editor = desktop.window.composer.editor
    compose(editor, "ni hao")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert session.messages() == ()
    commit(editor, "你好")
    assert editor.toPlainText() == "你好"
    assert session.messages() == ()
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(session.messages()) == 2 and not session.busy)
    assert session.messages()[0].content == "你好"

    question = desktop.window.chat.message_views()[0]
    question.again_button.click()
    assert question.edit_box is not None
    field = question.edit_box.editor
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier):
        compose(field, "ma")
        qtbot.keyClick(field, Qt.Key.Key_Return, modifier)
        qtbot.keyClick(field, Qt.Key.Key_Escape)
        assert question.edit_box is not None
    commit(field, "吗")
    assert field.toPlainText() == "你好吗"
    assert len(session.messages()) == 2
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: session.messages()[0].content == "你好吗" and not session.busy)


def test_a_composition_in_the_palette_the_search_and_the_quick_ask(
    open_window: Callable[..., Desktop], qtbot: Any
) -> None:
    desktop = open_window()
    window = desktop.window
    desktop.conductor.commands.run("palette")
    field = window.command_palette.field
    compose(field, "xin")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert window.command_palette.isVisible(), "nothing was chosen"
    commit(field, "新")
    assert field.text() == "新"
    qtbot.keyClick(field, Qt.Key.Key_Escape)

    search = window.sidebar.search_field
    compose(search, "cha")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    commit(search, "查")
    assert search.text() == "查"
    search.clear()

    desktop.presence.toggle_quick_ask()
    small = desktop.presence.quick
    compose(small.editor, "wen")
    qtbot.keyClick(small.editor, Qt.Key.Key_Return)
    assert desktop.chats.conversations() == ()
    commit(small.editor, "问")
    assert small.editor.toPlainText() == "问"
    assert desktop.chats.conversations() == ()
    desktop.presence.toggle_quick_ask()
