"""Accents and fonts are chosen with real keys and clicks; the settings dialog goes on where another one was."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.declarations import REBUILDS, SETTINGS
from app.fonts import text_families
from app.theme import Theme
from app.views.look_fields import AccentField, FontDialog, FontField
from app.views.settings_dialog import SettingsDialog

BY_NAME = {setting.name: setting for setting in SETTINGS}
SHOWN = [setting for setting in SETTINGS if setting.label]


@pytest.fixture
def dialog(qtbot: Any, theme: Theme) -> SettingsDialog:
    made = SettingsDialog(theme, SHOWN, {setting.name: setting.default for setting in SHOWN})
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def field(dialog: SettingsDialog, name: str) -> Any:
    return next(row.field for row in dialog.rows if row.setting.name == name)


def test_an_accent_is_chosen_by_mouse_and_by_arrow_keys(dialog: SettingsDialog, qtbot: Any) -> None:
    accents = field(dialog, "accent")
    assert isinstance(accents, AccentField)
    assert [swatch.accessibleName() for swatch in accents.swatches] == list(BY_NAME["accent"].shown_choices.values())
    with qtbot.waitSignal(dialog.changed) as told:
        QTest.mouseClick(accents.swatches[3], Qt.MouseButton.LeftButton)
    assert told.args == ["accent", "blue"]
    dialog.show_value("accent", "blue")
    accents.swatches[3].setFocus()
    with qtbot.waitSignal(dialog.changed) as told:
        QTest.keyClick(accents.swatches[3], Qt.Key.Key_Right)
    assert told.args == ["accent", "teal"]
    assert accents.swatches[4].hasFocus()


def test_any_installed_font_is_found_by_a_few_letters(dialog: SettingsDialog, qtbot: Any) -> None:
    font = field(dialog, "font")
    assert isinstance(font, FontField)
    texts = [action.text() for action in font.menu_of_choices().actions() if action.text()]
    assert texts == ["Inter", "The system's", "Serif for reading", "Other…"]
    font.choose_other()
    fonts = dialog.findChild(FontDialog)
    wanted = next(name for name in text_families() if "Serif" in name)
    QTest.keyClicks(fonts.search_field, wanted)
    assert fonts.families.currentItem().text().startswith(wanted)
    with qtbot.waitSignal(dialog.changed) as told:
        QTest.keyClick(fonts.search_field, Qt.Key.Key_Return)
    assert told.args == ["font", fonts.families.currentItem().text()]
    dialog.show_value("font", told.args[1])
    assert font.text() == told.args[1]
    QTest.keyClicks(fonts.search_field, "zzz")
    assert not fonts.use_button.isEnabled()


def test_custom_sampling_is_said_but_cannot_be_chosen(dialog: SettingsDialog) -> None:
    manner = field(dialog, "preset")
    assert [a.text() for a in manner.menu_of_choices().actions() if a.isEnabled()] == [
        "Exact (greedy)",
        "Balanced",
        "Creative",
        "The model's own",
    ]
    dialog.show_value("preset", "custom")
    assert manner.text() == "Custom"


def test_another_dialog_goes_on_at_the_same_place(dialog: SettingsDialog, theme: Theme, qtbot: Any) -> None:
    QTest.keyClicks(dialog.search_field, "e")
    dialog._area.verticalScrollBar().setValue(200)
    field(dialog, "text_size").setFocus()
    place = dialog.place()
    assert (place.search, place.scroll, place.setting) == ("e", 200, "text_size")
    again = SettingsDialog(theme, SHOWN, {setting.name: setting.default for setting in SHOWN})
    qtbot.addWidget(again)
    with qtbot.waitExposed(again):
        again.show()
    again.show_place(place)
    assert again.place() == place


def test_what_makes_the_window_anew_is_declared(theme: Theme) -> None:
    assert BY_NAME.keys() >= REBUILDS
