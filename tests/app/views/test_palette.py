"""The Ctrl+K palette over a window, with real keys and a real mouse."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from app.palette import PaletteEntry
from app.theme import Theme
from app.views.palette import Palette

ENTRIES = (
    PaletteEntry("new", "New chat", "Ctrl+N", "Chat"),
    PaletteEntry("delete", "Delete this chat", "", "Chat"),
    PaletteEntry("settings", "Settings", "Ctrl+,", "Loquat", "preferences"),
    PaletteEntry("c1", "Packing list for Lisbon", "1 h", "Chats"),
)


@pytest.fixture
def palette(qtbot: Any, theme: Theme) -> Palette:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    window.below = QLineEdit(window)  # type: ignore[attr-defined]
    column.addWidget(window.below)  # type: ignore[attr-defined]
    window.resize(900, 700)
    made = Palette(theme, window)
    with qtbot.waitActive(window):
        window.show()
    window.below.setFocus()  # type: ignore[attr-defined]
    made.show_entries(ENTRIES)
    made.told = []  # type: ignore[attr-defined]
    made.chosen.connect(made.told.append)  # type: ignore[attr-defined]
    made.open()
    return made


def labels(palette: Palette) -> list[str]:
    return [row.label for row in palette.list.rows]


def test_it_opens_with_everything_under_headings_and_the_keyboard_in_its_field(palette: Any) -> None:
    assert palette.field.hasFocus()
    assert labels(palette) == [
        "Chat", "New chat", "Delete this chat", "Loquat", "Settings", "Chats", "Packing list for Lisbon"
    ]  # fmt: skip
    assert palette.list.current.id == "new"


def test_typing_narrows_and_enter_chooses(palette: Any) -> None:
    QTest.keyClicks(palette.field, "lisb")
    assert labels(palette) == ["Chats", "Packing list for Lisbon"]
    assert palette.list.rows[1].spans == ((17, 21),)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.told == ["c1"]
    assert not palette.isVisible()
    assert palette.window().below.hasFocus()


def test_arrows_pass_headings_and_go_round(palette: Any) -> None:
    seen = []
    for _ in range(4):
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
        seen.append(palette.list.current.id)
    assert seen == ["delete", "settings", "c1", "new"]
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.current.id == "c1"


def test_nothing_found_is_said_and_enter_does_nothing(palette: Any) -> None:
    QTest.keyClicks(palette.field, "zzz")
    assert palette.nothing.isVisible()
    assert palette.nothing.text() == "Nothing is called “zzz”."
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.told == []
    assert palette.isVisible()


def test_escape_closes_it_and_is_not_the_windows(palette: Any, qtbot: Any) -> None:
    taken: list[bool] = []
    QShortcut(QKeySequence("Escape"), palette.window()).activated.connect(lambda: taken.append(True))
    with qtbot.waitSignal(palette.closed):
        QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert taken == []
    assert palette.window().below.hasFocus()
    QTest.keyClick(palette.window().below, Qt.Key.Key_Escape)
    assert taken == [True]


def test_tab_stays_in_the_field(palette: Any) -> None:
    QTest.keyClick(palette.field, Qt.Key.Key_Tab)
    assert palette.field.hasFocus()


def test_the_mouse_chooses_and_a_click_beside_closes(palette: Any) -> None:
    row = palette.list.visualRect(palette.list.model().index(4, 0)).center()
    QTest.mouseMove(palette.list.viewport(), row)
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert palette.told == ["settings"]
    palette.open()
    heading = palette.list.visualRect(palette.list.model().index(0, 0)).center()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=heading)
    assert palette.isVisible()
    QTest.mouseClick(palette, Qt.MouseButton.LeftButton, pos=QPoint(5, 690))
    assert not palette.isVisible()
    assert palette.told == ["settings"]


def test_the_field_is_empty_when_it_opens_again(palette: Any) -> None:
    QTest.keyClicks(palette.field, "lis")
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    palette.open()
    assert palette.field.text() == ""
    assert len(palette.list.rows) == 7


def test_what_is_typed_stays_when_more_entries_come(palette: Any) -> None:
    QTest.keyClicks(palette.field, "p")
    palette.show_entries((*ENTRIES, PaletteEntry("c2", "Poem", "", "Chats")))
    assert palette.field.text() == "p"
    assert "Poem" in labels(palette)


def test_it_follows_the_window_and_fits_a_small_one(palette: Any) -> None:
    palette.window().resize(420, 430)
    assert palette.size() == palette.window().size()
    panel = palette.field.parentWidget().geometry()
    assert palette.rect().contains(panel)


def test_a_screen_reader_is_told_the_names(palette: Any) -> None:
    assert palette.field.accessibleName() == "Search actions and chats"
    assert palette.list.accessibleName() == "Actions and chats"
    row = palette.list.model().index(1, 0)
    assert row.data(Qt.ItemDataRole.AccessibleTextRole) == "New chat, Ctrl+N"
    assert QAccessible.queryAccessibleInterface(palette.list) is not None


def test_it_closes_also_when_what_had_the_keyboard_before_is_gone(palette: Any, qtbot: Any) -> None:
    palette.window().below.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    with qtbot.waitSignal(palette.closed):
        QTest.keyClick(palette.field, Qt.Key.Key_Escape)
