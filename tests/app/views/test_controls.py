"""Small controls."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.controls import ElidedLabel, IconButton, Menu, plain_tip


def test_a_tool_tip_is_shown_as_it_is_written(qtbot: Any, theme: Theme) -> None:
    title = "<img src='file:///etc/passwd'> & <b>bold</b>"
    document = QTextDocument()
    document.setHtml(plain_tip(title))
    assert document.toPlainText() == title
    assert plain_tip("a & b") == "a & b"
    label = ElidedLabel(theme, title)
    qtbot.addWidget(label)
    label.resize(40, 20)
    label.grab()
    assert label.toolTip() == plain_tip(title)
    button = IconButton(theme, "close", "Remove <b>x.txt")
    qtbot.addWidget(button)
    assert button.accessibleName() == "Remove <b>x.txt"
    assert button.toolTip() == "<qt>Remove &lt;b&gt;x.txt</qt>"


@pytest.mark.parametrize(
    ("key", "reached"), [("Key_Down", "c"), ("Key_Up", "a"), ("Key_End", "d"), ("Key_Return", "b")]
)
def test_a_menu_of_choices_opens_at_the_one_in_force(qtbot: Any, theme: Theme, key: str, reached: str) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    menu, chosen = Menu(theme, parent), []
    for name in "abcd":
        action = menu.addAction(name)
        action.setCheckable(True)
        action.setChecked(name == "b")
        action.triggered.connect(lambda _=False, name=name: chosen.append(name))
    menu.popup(QPoint(10, 10))
    qtbot.waitUntil(menu.isVisible)
    assert menu.activeAction().text() == "b"
    QTest.keyClick(menu, Qt.Key[key])
    if not chosen:
        QTest.keyClick(menu, Qt.Key.Key_Return)
    assert chosen == [reached]
