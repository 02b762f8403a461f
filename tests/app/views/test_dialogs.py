"""Dialogs of one shape: what Enter does, and when a button shows the ring of the keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.theme import Theme
from app.views.dialogs import ConfirmDialog, SheetDialog
from app.views.serve_dialog import ServeDialog


@pytest.fixture
def confirm(qtbot: Any, theme: Theme) -> ConfirmDialog:
    dialog = ConfirmDialog(theme, "Remove it?", "It is gone for good.", "Remove")
    qtbot.addWidget(dialog)
    with qtbot.waitActive(dialog):
        dialog.show()
    return dialog


def ringed(button: QPushButton, color: QColor) -> bool:
    image = button.grab().toImage()
    return image.pixelColor(image.width() // 2, 0) == color


def test_enter_does_not_do_what_cannot_be_undone(confirm: ConfirmDialog, qtbot: Any) -> None:
    assert confirm.cancel_button.hasFocus()
    assert not confirm.confirm_button.isDefault()
    with qtbot.assertNotEmitted(confirm.accepted), qtbot.waitSignal(confirm.rejected):
        QTest.keyClick(confirm.cancel_button, Qt.Key.Key_Return)


def test_what_cannot_be_undone_is_reached_with_tab(confirm: ConfirmDialog, qtbot: Any) -> None:
    QTest.keyClick(confirm, Qt.Key.Key_Tab)
    assert confirm.confirm_button.hasFocus()
    with qtbot.waitSignal(confirm.accepted):
        QTest.keyClick(confirm.confirm_button, Qt.Key.Key_Return)


def test_a_primary_button_has_a_ring_only_when_the_keyboard_came_to_it(qtbot: Any, theme: Theme) -> None:
    dialog = SheetDialog(theme, "Export", "Where to.", None)
    qtbot.addWidget(dialog)
    dialog.add_button("Cancel")
    primary = dialog.add_button("Export", primary=True)
    dialog.finish_layout()
    with qtbot.waitActive(dialog):
        dialog.show()
    assert primary.hasFocus()
    assert not ringed(primary, theme.color("text"))
    QTest.keyClick(dialog, Qt.Key.Key_Tab)
    QTest.keyClick(dialog, Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    assert primary.hasFocus()
    assert ringed(primary, theme.color("text"))


def test_a_port_is_written_in_digits_alone(qtbot: Any, theme: Theme) -> None:
    dialog = ServeDialog(theme, 1)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.port_field.clear()
    QTest.keyClicks(dialog.port_field, "8,080")
    with qtbot.waitSignal(dialog.start_requested) as told:
        dialog.switch.click()
    assert told.args == [8080, ""]
