"""Pins, folders, menus and dragging in the list of conversations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from app.records import Conversation, Folder
from app.theme import Theme
from app.views.controls import plain_tip
from app.views.conversation_list import ConversationList
from app.views.conversation_model import spoken
from app.views.conversation_rows import Listing, rows_of

WORK, HOME = Folder("Work", "f-work"), Folder("at home", "f-home")


def talk(name: str, **values: Any) -> Conversation:
    return Conversation(name, f"Talk {name}", time.time(), time.time(), **values)


LISTING = Listing(
    (talk("a"), talk("b", pinned=True), talk("c", folder_id="f-work"), talk("d", folder_id="gone"), talk("e")),
    (WORK, HOME),
    archived=3,
)


@pytest.fixture
def rows(qtbot: Any, theme: Theme) -> Iterator[ConversationList]:
    holder = QWidget()
    qtbot.addWidget(holder)
    made = ConversationList(theme, "Conversations", holder)
    holder.resize(260, 700)
    made.resize(260, 700)
    made.folded.connect(lambda ids: made.show_listing(Listing(**{**_fields(made.listing), "folded": ids})))
    with qtbot.waitActive(holder):
        holder.show()
    made.show_listing(LISTING)
    made.setFocus()
    yield made
    holder.close()


def _fields(listing: Listing) -> dict[str, Any]:
    return {name: getattr(listing, name) for name in Listing.__slots__}


def texts(rows: ConversationList) -> list[str]:
    return [rows.conversations.row(rows.conversations.index(at)).text for at in range(rows.conversations.rowCount())]


def select(rows: ConversationList, key: str) -> None:
    rows.setCurrentIndex(rows.conversations.index_of(key))


def menu_by_key(rows: ConversationList, key: str) -> QMenu:
    select(rows, key)
    QTest.keyClick(rows, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def action(menu: QMenu, text: str) -> QAction:
    return next(each for each in menu.actions() if each.text().split("\t")[0] == text)


def test_pinned_first_then_folders_by_name_then_time_then_the_archive(rows: ConversationList) -> None:
    assert texts(rows) == [
        *("Pinned", "Talk b", "Folders", "at home", "Work", "Talk c"),
        *("Today", "Talk a", "Talk d", "Talk e", "Archived"),  # the folder of d is not known
    ]


def test_a_folded_folder_hides_its_chats_and_says_how_many_and_that_one_is_busy() -> None:
    listing = Listing(LISTING.conversations, (WORK,), frozenset({"c"}), frozenset({"f-work"}))
    folder = next(row for row in rows_of(listing, time.time()) if row.kind == "folder")
    assert (folder.holds, folder.folded, folder.busy) == (1, True, True)
    assert spoken(folder, time.time()) == "Folder Work, chats: 1, folded"


def test_left_folds_right_unfolds_and_enter_does_either(rows: ConversationList, qtbot: Any) -> None:
    select(rows, "c")
    QTest.keyClick(rows, Qt.Key.Key_Left)
    assert rows.currentIndex() == rows.conversations.index_of("f-work")
    with qtbot.waitSignal(rows.folded) as told:
        QTest.keyClick(rows, Qt.Key.Key_Left)
    assert told.args == [frozenset({"f-work"})]
    assert "Talk c" not in texts(rows)
    QTest.keyClick(rows, Qt.Key.Key_Right)
    assert "Talk c" in texts(rows)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    assert "Talk c" not in texts(rows)


def test_shift_f10_opens_all_that_can_be_done_with_a_chat(rows: ConversationList, qtbot: Any) -> None:
    menu = menu_by_key(rows, "a")
    names = [each.text().split("\t")[0] for each in menu.actions() if each.text()]
    assert names == ["Open", "Rename", "Pin", "Move to folder", "Export…", "Archive", "Delete"]
    with qtbot.waitSignal(rows.wishes.pin_requested) as told:
        action(menu, "Pin").trigger()
    assert told.args == ["a", True]
    with qtbot.waitSignal(rows.wishes.archive_requested) as told:
        action(menu, "Archive").trigger()
    assert told.args == ["a", True]
    with qtbot.waitSignal(rows.wishes.export_requested) as told:
        action(menu, "Export…").trigger()
    assert told.args == ["a"]
    folders = action(menu, "Move to folder").menu()
    assert isinstance(folders, QMenu)
    with qtbot.waitSignal(rows.wishes.move_requested) as told:
        action(folders, "at home").trigger()
    assert told.args == ["a", "f-home"]
    with qtbot.waitSignal(rows.wishes.folder_wanted) as told:
        action(folders, "New folder…").trigger()
    assert told.args == ["a"]
    menu.close()


def test_the_row_that_the_menu_was_opened_for_is_renamed_also_when_rows_have_moved(rows: ConversationList) -> None:
    menu = menu_by_key(rows, "a")
    rows.show_listing(Listing((talk("new"), *LISTING.conversations), LISTING.folders))
    action(menu, "Rename").trigger()
    editor = rows.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    assert editor.text() == "Talk a"
    menu.close()


def test_a_title_is_never_taken_for_html(rows: ConversationList) -> None:
    title = "<img src='file:///etc/passwd'>"
    rows.show_listing(Listing((Conversation("x", title, time.time(), time.time()),)))
    index = rows.conversations.index_of("x")
    assert index.data(Qt.ItemDataRole.ToolTipRole) == plain_tip(title) != title


def test_a_pinned_chat_is_unpinned_and_one_in_a_folder_taken_out(rows: ConversationList, qtbot: Any) -> None:
    menu = menu_by_key(rows, "b")
    with qtbot.waitSignal(rows.wishes.pin_requested) as told:
        action(menu, "Unpin").trigger()
    assert told.args == ["b", False]
    menu.close()
    menu = menu_by_key(rows, "c")
    folders = action(menu, "Move to folder").menu()
    assert isinstance(folders, QMenu)
    assert action(folders, "Work").isChecked()
    with qtbot.waitSignal(rows.wishes.move_requested) as told:
        action(folders, "Out of the folder").trigger()
    assert told.args == ["c", ""]
    menu.close()


def test_the_menu_key_of_the_system_and_the_right_button_open_the_menu(rows: ConversationList) -> None:
    select(rows, "a")
    place = rows.visualRect(rows.conversations.index_of("e")).center()
    for reason, point in ((QContextMenuEvent.Reason.Keyboard, QPoint()), (QContextMenuEvent.Reason.Mouse, place)):
        event = QContextMenuEvent(reason, point, rows.viewport().mapToGlobal(point))
        QApplication.sendEvent(rows.viewport(), event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert all(each.icon().isNull() for each in menu.actions()), "no other menu of things to do has pictures"
        menu.close()


def test_a_heading_and_the_empty_place_offer_a_new_folder_alone(rows: ConversationList) -> None:
    for point in (rows.visualRect(rows.conversations.index(0)).center(), QPoint(50, 690)):
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, rows.viewport().mapToGlobal(point))
        QApplication.sendEvent(rows.viewport(), event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert [each.text() for each in menu.actions()] == ["New folder…"]
        menu.close()


def test_a_folder_is_renamed_in_place_and_deleted_from_its_menu(rows: ConversationList, qtbot: Any) -> None:
    select(rows, "f-work")
    QTest.keyClick(rows, Qt.Key.Key_F2)
    editor = rows.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.setText("Office")
    with qtbot.waitSignal(rows.conversations.folder_renamed) as told:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert told.args == ["f-work", "Office"]
    menu = menu_by_key(rows, "f-work")
    with qtbot.waitSignal(rows.wishes.folder_deleted) as told:
        action(menu, "Delete the folder, keep its chats").trigger()
    assert told.args == ["f-work"]
    menu.close()


def drop(rows: ConversationList, source: str, onto: QPoint) -> list[tuple[Any, ...]]:
    """Carry a row to a point, with the events that Qt sends; the wishes that came of it."""
    told: list[tuple[Any, ...]] = []
    rows.wishes.pin_requested.connect(lambda *what: told.append(("pin", *what)))
    rows.wishes.move_requested.connect(lambda *what: told.append(("move", *what)))
    rows.wishes.archive_requested.connect(lambda *what: told.append(("archive", *what)))
    data: QMimeData = rows.conversations.mimeData([rows.conversations.index_of(source)])
    carried = (Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(rows.viewport(), QDragEnterEvent(QPointF(onto), *carried))
    QApplication.sendEvent(rows.viewport(), QDragMoveEvent(QPointF(onto), *carried))
    QApplication.sendEvent(rows.viewport(), QDropEvent(QPointF(onto), *carried))
    return told


def middle(rows: ConversationList, key: str) -> QPoint:
    return rows.visualRect(rows.conversations.index_of(key)).center()


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("a", "f-work", [("move", "a", "f-work")]),
        ("a", "c", [("move", "a", "f-work")]),  # onto a chat of the folder
        ("c", "e", [("move", "c", "")]),
        ("c", "since", [("move", "c", "")]),  # onto a heading
        ("a", "pinned", [("pin", "a", True)]),
        ("b", "f-home", [("pin", "b", False), ("move", "b", "f-home")]),
        ("b", "e", [("pin", "b", False)]),
        ("a", "archive", [("archive", "a", True)]),
        ("a", "e", []),
        ("a", "a", []),
    ],
)
def test_dragging_moves(rows: ConversationList, source: str, target: str, told: list[tuple[Any, ...]]) -> None:
    keys = [rows.conversations.row(rows.conversations.index(at)).key for at in range(rows.conversations.rowCount())]
    key = next(key for key in keys if key.startswith(target))
    assert drop(rows, source, middle(rows, key)) == told
    assert texts(rows)[5] == "Talk c"  # nothing is taken out of the list but by a new list


def test_dragging_into_the_empty_place_takes_out_of_the_folder(rows: ConversationList) -> None:
    assert drop(rows, "c", QPoint(50, 690)) == [("move", "c", "")]
