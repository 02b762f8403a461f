"""The window opens where it was left, and within reach where that place is gone."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication

from app.theme import Theme
from app.views.main_window import SIZE, MainWindow


def opened(qtbot: Any, theme: Theme, kept: str) -> MainWindow:
    window = MainWindow(theme)
    qtbot.addWidget(window)
    window.restore_geometry(kept)
    with qtbot.waitExposed(window):
        window.show()
    return window


def left_at(qtbot: Any, theme: Theme, place: QRect) -> str:
    window = opened(qtbot, theme, "")
    window.setGeometry(place)
    kept = window.geometry_to_keep()
    window.hide()
    return kept


def test_it_opens_where_it_was_left(qtbot: Any, theme: Theme) -> None:
    kept = left_at(qtbot, theme, QRect(60, 70, 640, 500))
    window = opened(qtbot, theme, kept)
    assert window.geometry() == QRect(60, 70, 640, 500)


def test_a_screen_that_is_gone_leaves_it_within_reach(qtbot: Any, theme: Theme) -> None:
    kept = left_at(qtbot, theme, QRect(5000, 3000, 640, 500))
    there = QGuiApplication.primaryScreen().availableGeometry()
    window = opened(qtbot, theme, kept)
    assert there.contains(window.geometry())
    assert window.size() == QSize(640, 500)


def test_nonsense_that_was_kept_opens_it_as_new(qtbot: Any, theme: Theme) -> None:
    window = opened(qtbot, theme, "bm90IGEgZ2VvbWV0cnk=")
    assert window.isVisible()
    as_new = opened(qtbot, theme, "")
    assert window.size() == as_new.size()


def test_it_is_not_larger_than_the_screen(qtbot: Any, theme: Theme) -> None:
    there = QGuiApplication.primaryScreen().availableGeometry()
    assert there.width() < SIZE[0], "the screen of the tests shows what a small one does"
    first = opened(qtbot, theme, "")  # a window that nobody holds may be collected while it is shown
    assert there.contains(first.frameGeometry())
    again = opened(qtbot, theme, left_at(qtbot, theme, QRect(0, 0, *SIZE)))
    assert there.contains(again.frameGeometry())
