"""The sidebar as a whole: the list by time, keys, renaming in place, the search, the archive, ten thousand rows."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.records import Conversation
from app.search_result import Hit, SearchResult
from app.theme import Theme
from app.views import words
from app.views.conversation_rows import ARCHIVE, Listing, rows_of, untitled
from app.views.folder_dialog import FolderDialog
from app.views.sidebar import Sidebar
from tests.app.pace import least_s

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


def test_a_sidebar_that_was_folded_for_long_tells_the_time_of_now(
    sidebar: Sidebar, monkeypatch: pytest.MonkeyPatch
) -> None:
    sidebar.show_conversations((talk(1),), (), frozenset())
    sidebar.hide()
    tomorrow = time.time() + DAY
    monkeypatch.setattr(sidebar.list.conversations, "_clock", lambda: tomorrow)
    assert texts(sidebar)[0] == "Today"
    sidebar.show()
    assert texts(sidebar)[0] == "Yesterday"


def test_conversations_stand_under_headings_of_time(sidebar: Sidebar) -> None:
    sidebar.show_conversations((talk(1), talk(2, title=""), talk(3, 40 * DAY)), (), frozenset())
    assert texts(sidebar) == [
        "Today",
        "Talk 1",
        untitled(),
        words.span(time.time() - 40 * DAY, time.time())[0],
        "Talk 3",
    ]


def test_only_a_row_under_a_heading_of_time_leaves_out_what_that_says() -> None:
    chats = (talk(1, 40 * DAY), replace(talk(2, 40 * DAY), pinned=True))
    rows = rows_of(Listing(chats), time.time())
    assert [(row.text, row.dated) for row in rows if row.conversation] == [("Talk 2", False), ("Talk 1", True)]


def test_an_empty_list_says_so(sidebar: Sidebar) -> None:
    sidebar.show_conversations((), (), frozenset())
    assert not sidebar.list.isVisible()
    sidebar.show_conversations((talk(1),), (), frozenset())
    assert sidebar.list.isVisible()


def test_keys_move_over_headings_open_and_delete(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2, 40 * DAY)), (), frozenset())
    select(sidebar, "1")
    QTest.keyClick(sidebar.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(sidebar.open_requested) as told:
        QTest.keyClick(sidebar.list, Qt.Key.Key_Return)
    assert told.args == ["2"]
    with qtbot.waitSignal(sidebar.delete_requested) as told:
        QTest.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert told.args == ["2"]


def test_a_click_opens(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), (), frozenset())
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
    sidebar.show_conversations((talk(1), talk(2)), (), frozenset())
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
    sidebar.show_conversations((talk(1),), (), frozenset())
    select(sidebar, "1")
    editor = start_renaming(sidebar)
    editor.clear()
    QTest.keyClicks(editor, typed)
    with qtbot.assertNotEmitted(sidebar.rename_requested, wait=30):
        QTest.keyClick(editor, key)


def test_a_title_being_written_survives_a_change_of_the_list(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), (), frozenset())
    select(sidebar, "2")
    editor = start_renaming(sidebar)
    sidebar.show_conversations((talk(2), talk(1), talk(3)), (), frozenset())
    assert editor.isVisible()
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: texts(sidebar) == ["Today", "Talk 2", "Talk 1", "Talk 3"])


def test_a_key_that_writes_goes_to_the_composer(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1),), (), frozenset())
    select(sidebar, "1")
    with qtbot.waitSignal(sidebar.typed) as told:
        QTest.keyClick(sidebar.list, "w")
    assert told.args == ["w"]


def test_the_open_conversation_stays_marked_when_the_order_changes(sidebar: Sidebar) -> None:
    sidebar.show_conversations((talk(1), talk(2), talk(3)), (), frozenset())
    sidebar.mark_open("3")
    sidebar.show_conversations((talk(3), talk(1), talk(2)), (), frozenset({"3"}))
    assert sidebar.list.currentIndex() == sidebar.list.conversations.index_of("3")
    assert sidebar.list.conversations.row(sidebar.list.currentIndex()).busy


def test_ten_thousand_conversations_are_no_burden(sidebar: Sidebar, qtbot: Any) -> None:
    few, many = (talk(1),), tuple(talk(number, 60.0 * number) for number in range(10_000))

    def show_all() -> None:
        sidebar.show_conversations(few, (), frozenset())
        sidebar.show_conversations(many, (), frozenset())
        sidebar.mark_open("0")
        sidebar.grab()

    assert least_s(show_all) < 0.2
    sidebar.mark_open("9999")
    assert sidebar.list.verticalScrollBar().value() > 300_000


def test_one_new_title_among_ten_thousand_is_cheap_and_moves_nothing(sidebar: Sidebar) -> None:
    many = tuple(talk(number, 60.0 * number) for number in range(10_000))
    sidebar.show_conversations(many, (), frozenset())
    sidebar.mark_open("0")
    sidebar.list.verticalScrollBar().setValue(5_000)
    changed: list[int] = []
    sidebar.list.conversations.dataChanged.connect(lambda first, last: changed.append(last.row() - first.row() + 1))
    sidebar.list.conversations.modelReset.connect(lambda: changed.append(-1))

    def retitle(title: str) -> None:
        sidebar.show_conversations((replace(many[0], title=title), *many[1:]), (), frozenset())

    titles = (f"Title {number}" for number in range(5))
    assert least_s(lambda: retitle(next(titles)), 5) < 0.1
    assert changed == [1] * 5
    assert sidebar.list.verticalScrollBar().value() == 5_000


def test_a_conversation_that_comes_to_the_top_leaves_the_place_scrolled_to(sidebar: Sidebar) -> None:
    many = tuple(talk(number, 60.0 * number) for number in range(500))
    sidebar.show_conversations(many, (), frozenset())
    sidebar.mark_open("0")
    sidebar.list.verticalScrollBar().setValue(3_000)
    sidebar.show_conversations((talk(499), *many[:-1]), (), frozenset())
    sidebar.mark_open("0")
    assert sidebar.list.verticalScrollBar().value() == 3_000
    assert sidebar.list.currentIndex() == sidebar.list.conversations.index_of("0")


def find(sidebar: Sidebar, qtbot: Any, text: str) -> None:
    sidebar.focus_search()
    with qtbot.waitSignal(sidebar.search_changed) as told:
        QTest.keyClicks(sidebar.search_field, text)
    assert told.args == [text]


def hit(conversation_id: str, message_id: str, text: str, *spans: tuple[int, int]) -> Hit:
    return Hit(conversation_id, message_id, f"Talk {conversation_id}", "user", text, spans, time.time())


FOUND = SearchResult(
    "cache", (hit("1", "m1", "a cache", (2, 7)), hit("1", "m2", "cache", (0, 5)), hit("2", "m3", "cache"))
)


def test_what_is_typed_is_searched_for_once_and_found_in_place_of_the_list(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), (), frozenset())
    asked: list[str] = []
    sidebar.search_changed.connect(asked.append)
    find(sidebar, qtbot, "cache")
    assert asked == ["cache"]  # five letters within the throttle
    assert sidebar.list.isVisible()  # until something is known
    sidebar.show_results(FOUND)
    assert sidebar.results.isVisible()
    assert [row.kind for row in sidebar.results.found.rows] == ["title", "hit", "hit", "title", "hit"]


def test_arrows_and_enter_in_the_field_open_a_place_and_escape_ends_the_search(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1), talk(2)), (), frozenset())
    find(sidebar, qtbot, "cache")
    sidebar.show_results(FOUND)
    for _ in range(2):
        QTest.keyClick(sidebar.search_field, Qt.Key.Key_Down)
    with qtbot.waitSignal(sidebar.hit_opened) as told:
        QTest.keyClick(sidebar.search_field, Qt.Key.Key_Return)
    assert told.args == ["1", "m2", "cache"]
    QTest.keyClick(sidebar.search_field, Qt.Key.Key_Up)
    QTest.keyClick(sidebar.search_field, Qt.Key.Key_Up)
    with qtbot.waitSignal(sidebar.hit_opened) as told:
        QTest.keyClick(sidebar.search_field, Qt.Key.Key_Return)
    assert told.args == ["1", "m1", "cache"]  # a title that was not found itself leads to the first place
    with qtbot.waitSignal(sidebar.search_changed) as told:
        QTest.keyClick(sidebar.search_field, Qt.Key.Key_Escape)
    assert told.args == [""]
    assert sidebar.list.isVisible()


def test_escape_in_the_field_does_not_reach_the_window(sidebar: Sidebar, qtbot: Any) -> None:
    escaped: list[int] = []
    QShortcut(QKeySequence("Escape"), sidebar).activated.connect(lambda: escaped.append(1))
    find(sidebar, qtbot, "cache")
    QTest.keyClick(sidebar.search_field, Qt.Key.Key_Escape)
    assert (sidebar.search_field.text(), escaped) == ("", [])
    QTest.keyClick(sidebar.search_field, Qt.Key.Key_Escape)
    assert escaped == [1]


def test_escape_in_the_results_leads_back_to_the_field_and_does_not_reach_the_window(
    sidebar: Sidebar, qtbot: Any
) -> None:
    escaped: list[int] = []
    QShortcut(QKeySequence("Escape"), sidebar).activated.connect(lambda: escaped.append(1))
    find(sidebar, qtbot, "cache")
    sidebar.show_results(FOUND)
    sidebar.results.setFocus()
    QTest.keyClick(sidebar.results, Qt.Key.Key_Escape)
    assert (sidebar.search_field.text(), sidebar.search_field.hasFocus(), escaped) == ("", True, [])


def test_nothing_found_is_said_and_results_that_come_too_late_are_not_shown(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1),), (), frozenset())
    find(sidebar, qtbot, "zebra")
    sidebar.show_results(SearchResult("zebra"))
    assert sidebar.sentence == "Nothing was found for “zebra”."
    sidebar.show_search_problem("The chats cannot be searched at the moment.")
    assert sidebar.sentence == "The chats cannot be searched at the moment."
    sidebar.search_field.give_up()
    sidebar.show_results(FOUND)
    assert sidebar.list.isVisible()


def test_the_archive_stands_behind_the_last_row(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.show_conversations((talk(1),), (), frozenset())
    sidebar.show_archived((talk(7, 50 * DAY), talk(8, 60 * DAY)))
    assert texts(sidebar)[-1] == "Archived"
    select(sidebar, ARCHIVE)
    QTest.keyClick(sidebar.list, Qt.Key.Key_Return)
    assert sidebar.archive.isVisible()
    with qtbot.waitSignal(sidebar.open_requested) as told:
        QTest.keyClick(sidebar.archive.list, Qt.Key.Key_Return)
    assert told.args == ["7"]
    with qtbot.waitSignal(sidebar.delete_requested) as told:
        QTest.keyClick(sidebar.archive.list, Qt.Key.Key_Delete)
    assert told.args == ["7"]
    QTest.keyClick(sidebar.archive.list, Qt.Key.Key_Escape)
    assert sidebar.list.isVisible()


def test_an_archive_that_became_empty_gives_way_to_the_list(sidebar: Sidebar) -> None:
    sidebar.show_conversations((talk(1),), (), frozenset())
    sidebar.show_archived((talk(7),))
    select(sidebar, ARCHIVE)
    QTest.keyClick(sidebar.list, Qt.Key.Key_Return)
    sidebar.show_archived(())
    assert sidebar.list.isVisible()
    assert ARCHIVE not in texts(sidebar)


def test_the_promise_says_what_the_network_is_used_for(sidebar: Sidebar) -> None:
    assert sidebar.promise == "Offline. Nothing leaves this machine."
    sidebar.show_online("Online, only to download the model.")
    assert sidebar.promise == "Online, only to download the model."
    sidebar.show_online(None)
    assert sidebar.promise == "Offline. Nothing leaves this machine."


def test_a_folder_gets_its_name_before_it_is_asked_for(sidebar: Sidebar, qtbot: Any) -> None:
    sidebar.ask_for_folder("1")
    dialog = sidebar.findChild(FolderDialog)
    assert isinstance(dialog, FolderDialog)
    assert not dialog.create_button.isEnabled()
    QTest.keyClicks(dialog.field, "  My   work ")
    with qtbot.waitSignal(sidebar.folder_added) as told:
        QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert told.args == ["My work", "1"]


def test_new_chat_and_names_for_screen_readers(sidebar: Sidebar, qtbot: Any) -> None:
    with qtbot.waitSignal(sidebar.new_requested):
        QTest.mouseClick(sidebar.new_button, Qt.MouseButton.LeftButton)
    assert sidebar.new_button.accessibleName() == "New chat (Ctrl+N)"
    assert sidebar.list.accessibleName() == "Chats"
