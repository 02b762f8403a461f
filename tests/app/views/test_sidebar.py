"""The conversation list: groups, keyboard, renaming in place, ten thousand rows."""

from __future__ import annotations

import time
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.records import Conversation
from app.theme import Theme
from app.views.controls import Menu
from app.views.conversation_model import UNTITLED
from app.views.sidebar import Sidebar

DAY = 86_400


def talk(number: int, age: float = 0.0, title: str | None = None) -> Conversation:
    at = time.time() - age
    return Conversation(str(number), f"Talk {number}" if title is None else title, at, at)


@pytest.fixture
def sidebar(qtbot: Any, theme: Theme) -> Sidebar:
    made = Sidebar(theme)
    qtbot.addWidget(made)
    made.resize(made.width(), 700)
    with qtbot.waitActive(made):
        made.show()
    return made


def texts(sidebar: Sidebar) -> list[str]:
    model = sidebar.list.conversations
    return [model.row(model.index(row)).text for row in range(model.rowCount())]


def select(sidebar: Sidebar, conversation_id: str) -> None:
    sidebar.list.setCurrentIndex(sidebar.list.conversations.index_of(conversation_id))
    sidebar.list.setFocus()


def test_conversations_stand_under_headings_of_time(sidebar: Sidebar) -> None:
    sidebar.show_conversations((talk(1), talk(2, title=""), talk(3, 40 * DAY)), frozenset())
    assert texts(sidebar) == ["Today", "Talk 1", UNTITLED, "Older", "Talk 3"]


def test_an_empty_list_says_so(sidebar: Sidebar) -> None:
    sidebar.show_conversations((), frozenset())
    assert not sidebar.list.isVisible()
    sidebar.show_conversations((talk(1),), frozenset())
    assert sidebar.list.isVisible()


def test_keys_move_over_headings_open_and_delete(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2, 40 * DAY)), frozenset())
    select(sidebar, "1")
    QTest.keyClick(sidebar.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(sidebar.open_requested) as told:
        QTest.keyClick(sidebar.list, Qt.Key.Key_Return)
    assert told.args == ["2"]
    with qtbot.waitSignal(sidebar.delete_requested) as told:
        QTest.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert told.args == ["2"]


def test_a_click_opens(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), frozenset())
    place = sidebar.list.visualRect(sidebar.list.conversations.index_of("2")).center()
    with qtbot.waitSignal(sidebar.open_requested) as told:
        QTest.mouseClick(sidebar.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told.args == ["2"]


def start_renaming(sidebar: Sidebar) -> QLineEdit:
    QTest.keyClick(sidebar.list, Qt.Key.Key_F2)
    editor = sidebar.list.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    return editor


def test_f2_renames_in_place(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), frozenset())
    select(sidebar, "2")
    editor = start_renaming(sidebar)
    assert editor.text() == "Talk 2"
    editor.selectAll()
    QTest.keyClicks(editor, "  Another   name ")
    with qtbot.waitSignal(sidebar.rename_requested) as told:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert told.args == ["2", "Another name"]


@pytest.mark.parametrize(("typed", "key"), [("Another", Qt.Key.Key_Escape), ("", Qt.Key.Key_Return)])
def test_renaming_is_given_up_with_escape_or_nothing(sidebar: Sidebar, qtbot: Any, typed: str, key: Qt.Key) -> None:
    sidebar.show_conversations((talk(1),), frozenset())
    select(sidebar, "1")
    editor = start_renaming(sidebar)
    editor.clear()
    QTest.keyClicks(editor, typed)
    with qtbot.assertNotEmitted(sidebar.rename_requested, wait=30):
        QTest.keyClick(editor, key)


def test_a_title_being_written_survives_a_change_of_the_list(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), frozenset())
    select(sidebar, "2")
    editor = start_renaming(sidebar)
    sidebar.show_conversations((talk(2), talk(1), talk(3)), frozenset())
    assert editor.isVisible()
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: texts(sidebar) == ["Today", "Talk 2", "Talk 1", "Talk 3"])


def test_the_context_menu_renames_and_deletes(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1),), frozenset())
    place = sidebar.list.visualRect(sidebar.list.conversations.index_of("1")).center()
    sidebar.list.customContextMenuRequested.emit(place)
    (menu,) = sidebar.list.findChildren(Menu)
    assert [action.text().split("\t")[0] for action in menu.actions()] == ["Rename", "Delete"]
    with qtbot.waitSignal(sidebar.delete_requested):
        menu.actions()[1].trigger()
    menu.close()
    sidebar.list.customContextMenuRequested.emit(QPoint(5, 5))  # a heading has none
    assert [menu for menu in sidebar.list.findChildren(Menu) if menu.isVisible()] == []


def test_a_key_that_writes_goes_to_the_composer(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1),), frozenset())
    select(sidebar, "1")
    with qtbot.waitSignal(sidebar.typed) as told:
        QTest.keyClick(sidebar.list, "w")
    assert told.args == ["w"]


def test_the_open_conversation_stays_marked_when_the_order_changes(sidebar: Sidebar) -> None:
    sidebar.show_conversations((talk(1), talk(2), talk(3)), frozenset())
    sidebar.mark_open("3")
    sidebar.show_conversations((talk(3), talk(1), talk(2)), frozenset({"3"}))
    assert sidebar.list.currentIndex() == sidebar.list.conversations.index_of("3")
    assert sidebar.list.conversations.row(sidebar.list.currentIndex()).busy


def test_ten_thousand_conversations_are_no_burden(sidebar: Sidebar, qtbot: Any) -> None:
    many = tuple(talk(number, 60.0 * number) for number in range(10_000))
    begun = time.thread_time()
    sidebar.show_conversations(many, frozenset())
    sidebar.mark_open("0")
    sidebar.grab()
    assert time.thread_time() - begun < 0.5
    print(f"shown in {1000 * (time.thread_time() - begun):.0f} ms")
    sidebar.mark_open("9999")
    assert sidebar.list.verticalScrollBar().value() > 300_000


def test_new_chat_and_names_for_screen_readers(sidebar: Sidebar, qtbot: Any) -> None:
    with qtbot.waitSignal(sidebar.new_requested):
        QTest.mouseClick(sidebar.new_button, Qt.MouseButton.LeftButton)
    assert sidebar.new_button.accessibleName() == "New chat (Ctrl+N)"
    assert sidebar.list.accessibleName() == "Conversations"
