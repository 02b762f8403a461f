"""The line above a conversation: renaming in place, the inspector's button, the menu, and narrow windows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.live import ModelState
from app.theme import Look, Theme
from app.views.chat_header import ChatHeader
from engine.events import InstalledModel
from engine.remote.servers import RemoteServer
from tests.app.fake_worker import model_info


@pytest.fixture
def header(qtbot: Any, theme: Theme) -> ChatHeader:
    made = ChatHeader(theme)
    qtbot.addWidget(made)
    made.resize(900, made.height())
    with qtbot.waitActive(made):
        made.show()
    made.show_title("Why is the first word slow?")
    made.show_model(ModelState("ready", model_info()))
    return made


def write(header: ChatHeader, text: str) -> None:
    QTest.mouseDClick(header.title_field, Qt.MouseButton.LeftButton)
    label = header.title_field.childAt(20, header.title_field.height() // 2)
    QTest.mouseDClick(label, Qt.MouseButton.LeftButton)
    assert header.title_field.editing
    QTest.keyClicks(header.title_field.editor, text)


def test_a_double_click_lets_the_title_be_written_anew(header: ChatHeader, qtbot: Any) -> None:
    write(header, "Prefill,   then decode")
    with qtbot.waitSignal(header.rename_requested) as told:
        QTest.keyClick(header.title_field.editor, Qt.Key.Key_Return)
    assert told.args == ["Prefill, then decode"]
    assert not header.title_field.editing
    assert header.title == "Why is the first word slow?"  # until the program says otherwise


def test_escape_gives_the_title_up_and_does_not_reach_the_window(header: ChatHeader, qtbot: Any) -> None:
    escaped: list[int] = []
    QShortcut(QKeySequence("Escape"), header).activated.connect(lambda: escaped.append(1))
    write(header, "Another")
    with qtbot.assertNotEmitted(header.rename_requested, wait=20):
        QTest.keyClick(header.title_field.editor, Qt.Key.Key_Escape)
    assert (header.title_field.editing, escaped) == (False, [])


def test_an_input_methods_enter_ends_no_title(header: ChatHeader, qtbot: Any) -> None:
    write(header, "Another")
    QApplication.sendEvent(header.title_field.editor, QInputMethodEvent("ni", []))
    with qtbot.assertNotEmitted(header.rename_requested, wait=20):
        QTest.keyClick(header.title_field.editor, Qt.Key.Key_Return)
        QTest.keyClick(header.title_field.editor, Qt.Key.Key_Escape)
    assert header.title_field.editing


def test_an_ampersand_in_a_models_name_is_seen(header: ChatHeader) -> None:
    header.show_model(ModelState("ready", replace(model_info(), label="R&D")))
    header.show_models((InstalledModel("x", "R&D", 1, 1, False),))
    header.show_servers((RemoteServer("s", "R&D", "https://gpu.example/v1"),))
    assert header.chip.text().startswith("R&&D")
    assert header.chip.accessibleName().startswith("Model: R&D")
    texts = [action.text() for action in header.model_menu().actions()]
    assert [text.split("\t")[0] for text in texts if "R&&D" in text] == ["R&&D", "Change R&&D…"]


def test_leaving_the_title_keeps_what_was_written(header: ChatHeader, qtbot: Any) -> None:
    write(header, "Another")
    with qtbot.waitSignal(header.rename_requested) as told:
        header.chip.setFocus(Qt.FocusReason.TabFocusReason)
    assert told.args == ["Another"]


def test_an_empty_chat_has_nothing_to_rename_or_delete(header: ChatHeader) -> None:
    header.show_title("New chat", stored=False)
    header.title_field.begin()
    assert not header.title_field.editing
    menu = header.more_menu()
    dead = [action.text() for action in menu.actions() if not action.isSeparator() and not action.isEnabled()]
    assert dead[0] == "Rename"
    assert dead[-2:] == ["Delete", "Check this chat"]
    alive = [action.text().split("\t")[0] for action in menu.actions() if action.text() and action.isEnabled()]
    assert alive == [
        "Assistant and options…",
        "Export all chats…",
        "Import chats…",
        "Light or dark",
        "Settings…",
        "Help",
    ]


@pytest.mark.parametrize(
    ("entry", "signal"),
    [
        ("Assistant and options…", "options_requested"),
        ("Find in this chat…", "find_requested"),
        ("Check this chat", "check_requested"),
        ("Copy as Markdown", "copy_requested"),
        ("Export this chat…", "export_requested"),
        ("Archive", "archive_requested"),
        ("Delete", "delete_requested"),
        ("Export all chats…", "export_all_requested"),
        ("Import chats…", "import_requested"),
        ("Settings…", "settings_requested"),
    ],
)
def test_the_menu_says_what_is_wanted(header: ChatHeader, qtbot: Any, entry: str, signal: str) -> None:
    menu = header.more_menu()
    with qtbot.waitSignal(getattr(header, signal)):
        next(action for action in menu.actions() if action.text().split("\t")[0] == entry).trigger()


def test_the_inspectors_button_tells_and_shows(header: ChatHeader, qtbot: Any) -> None:
    assert header.inspector_button.text() == "Inspector F12"
    with qtbot.waitSignal(header.inspector_toggled) as told:
        header.inspector_button.click()
    assert told.args == [True]
    with qtbot.assertNotEmitted(header.inspector_toggled, wait=20):
        header.show_inspector(False)
    assert not header.inspector_button.isChecked()


@pytest.mark.parametrize("width", [360, 400, 640, 900, 1440])
def test_nothing_overlaps_at_any_width(header: ChatHeader, width: int) -> None:
    header.resize(width, header.height())
    parts = sorted(
        (child.geometry() for child in header.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)),
        key=lambda box: box.x(),
    )
    assert header.width() == width
    assert len(parts) == 5
    assert all(a.right() < b.left() for a, b in itertools.pairwise(parts))
    assert parts[-1].right() <= width
    assert header.chip.words == "Scripted scripted · float32"


def test_large_text_leaves_the_model_its_name(theme: Theme, qtbot: Any) -> None:
    theme.set_look(Look(text_size=150))
    made = ChatHeader(theme)
    qtbot.addWidget(made)
    made.resize(640, made.height())
    made.show()
    made.show_model(ModelState("ready", replace(model_info(), label="SmolLM2 135M")))
    assert made.chip.text() == "SmolLM2 135M"
    theme.set_look(Look())
