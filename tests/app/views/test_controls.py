"""Small controls."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QTextDocument

from app.theme import Theme
from app.views.controls import ElidedLabel, IconButton, plain_tip


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
