"""The settings: real keys in real fields, and nothing that is not allowed ever comes out."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.declarations import SETTINGS
from app.theme import Look, Theme
from app.views.dialogs import ConfirmDialog
from app.views.main_window import MainWindow
from app.views.settings_dialog import SettingRow, SettingsDialog


@pytest.fixture
def opened(make_window: Any, qtbot: Any) -> tuple[MainWindow, Any, SettingsDialog]:
    window, world = make_window()
    QTest.keySequence(window, "Ctrl+,")
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    return window, world, dialog


def row(dialog: SettingsDialog, name: str) -> SettingRow:
    return next(row for row in dialog.rows if row.setting.name == name)


def write(field: Any, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)


def test_every_setting_is_there_with_its_value(opened: Any) -> None:
    _, _, dialog = opened
    assert [r.setting.name for r in dialog.rows] == [s.name for s in SETTINGS if s.label]
    assert row(dialog, "temperature").field.text() == "0.7"
    assert row(dialog, "seed").field.text() == ""
    assert row(dialog, "theme").field.text() == "As the system says"
    assert not any(r.reset_button.isVisible() for r in dialog.rows)


def test_a_number_is_taken_as_it_is_typed_and_reset(opened: Any) -> None:
    _, world, dialog = opened
    temperature = row(dialog, "temperature")
    write(temperature.field, "1.25")
    assert world.settings.get("temperature") == 1.25
    assert temperature.field.text() == "1.25"
    assert temperature.reset_button.isVisible()
    QTest.mouseClick(temperature.reset_button, Qt.MouseButton.LeftButton)
    assert world.settings.get("temperature") == 0.7
    assert temperature.field.text() == "0.7"
    QTest.keyClick(temperature.field, Qt.Key.Key_Up)
    assert world.settings.get("temperature") == 0.75


@pytest.mark.parametrize(
    ("name", "typed", "kept"),
    [
        ("temperature", "7", 0.7),
        ("temperature", "", 0.7),
        ("temperature", "-", 0.7),
        ("top_k", "1.5", 40),
        ("threads", "0", None),
        ("cache_disk_gib", "-3", 8),
    ],
)
def test_what_is_not_allowed_is_said_and_does_not_stay(opened: Any, name: str, typed: str, kept: Any) -> None:
    _, world, dialog = opened
    wrong = row(dialog, name)
    write(wrong.field, typed)
    assert "must be" in wrong.refusal
    assert wrong.setting.check(world.settings.get(name)) == world.settings.get(name)
    world.settings.set(name, kept)
    dialog.search_field.setFocus()
    assert wrong.refusal == ""
    assert wrong.field.text() == ("" if kept is None else f"{kept:g}")


def test_letters_are_no_part_of_a_number_and_an_empty_field_is_automatic(opened: Any) -> None:
    _, world, dialog = opened
    seed = row(dialog, "seed")
    write(seed.field, "a4b2")
    assert (seed.field.text(), world.settings.get("seed")) == ("42", 42)
    write(seed.field, "")
    assert world.settings.get("seed") is None
    assert seed.field.placeholderText() == "Drawn"


def test_choices_switches_and_text_work_with_the_keyboard(opened: Any) -> None:
    _, world, dialog = opened
    theme = row(dialog, "theme")
    QTest.keyClick(theme.field, Qt.Key.Key_Down)
    assert world.settings.get("theme") == "light"
    assert theme.field.text() == "Light"
    menu = theme.field.menu_of_choices()
    assert [a.text() for a in menu.actions() if a.isChecked()] == ["Light"]
    menu.actions()[2].trigger()
    assert theme.field._theme.choice == "dark", "at once"
    QTest.keyClick(row(dialog, "read_ahead").field, Qt.Key.Key_Space)
    assert world.settings.get("read_ahead") is False
    QTest.keyClicks(row(dialog, "system_prompt").field, "Be brief.")
    assert world.settings.get("system_prompt") == "Be brief."
    QTest.mouseClick(dialog.reset_all_button, Qt.MouseButton.LeftButton)
    assert world.settings.get("system_prompt") == "Be brief.", "only after a question"
    QTest.mouseClick(dialog.findChild(ConfirmDialog).confirm_button, Qt.MouseButton.LeftButton)
    assert world.settings.get("system_prompt") == ""
    assert row(dialog, "system_prompt").field.toPlainText() == ""
    assert row(dialog, "read_ahead").field.isChecked()


def test_the_search_leaves_what_is_looked_for(opened: Any) -> None:
    _, _, dialog = opened
    QTest.keyClicks(dialog.search_field, "disk cach")
    assert [r.setting.name for r in dialog.rows if r.isVisible()] == ["save_caches", "cache_disk_gib"]
    assert [group for group, heading in dialog._headings.items() if heading.isVisible()] == ["Memory"]
    QTest.keyClicks(dialog.search_field, " xyz")
    assert not any(r.isVisible() for r in dialog.rows)
    assert dialog.nothing_label.isVisible()


def test_engine_settings_wait_for_the_model_to_be_loaded_again(opened: Any, qtbot: Any) -> None:
    _, world, dialog = opened
    assert not dialog.reload_button.isVisible()
    write(row(dialog, "threads").field, "2")
    assert dialog.reload_button.isVisible()
    QTest.mouseClick(row(dialog, "threads").reset_button, Qt.MouseButton.LeftButton)
    assert not dialog.reload_button.isVisible(), "nothing waits any more"
    write(row(dialog, "threads").field, "2")
    QTest.mouseClick(dialog.reload_button, Qt.MouseButton.LeftButton)
    assert world.worker.loaded == [None, "scripted"]
    assert [config.threads for config in world.worker.configs] == [0, 2]
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
    assert not dialog.reload_button.isVisible()


def test_the_settings_open_from_the_sidebar_and_only_once(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    window.sidebar._settings.click()
    world.conductor.dialogs.show_settings()
    assert len(window.findChildren(SettingsDialog)) == 1
    QTest.keyClick(window.findChild(SettingsDialog), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(SettingsDialog) is None)
    world.conductor.dialogs.show_settings()
    assert window.findChild(SettingsDialog).isVisible()


def test_large_text_in_a_narrow_window_cuts_no_control(theme: Theme, qtbot: Any) -> None:
    theme.set_look(Look(text_size=150))
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(640, 800)
    dialog = SettingsDialog(theme, SETTINGS, {each.name: each.default for each in SETTINGS}, window)
    dialog.show()
    for each in dialog.rows:
        seen = each.field.mapTo(dialog, QPoint(each.field.width(), 0)).x()
        assert each.isHidden() or seen <= dialog.width() - 24, each.setting.name
    theme.set_look(Look())


def test_what_the_model_says_is_no_change_of_the_persons(opened: Any) -> None:
    _, world, dialog = opened
    world.settings.set_own_sampling({"temperature": 0.0, "repetition_penalty": 1.1})
    assert row(dialog, "temperature").field.text() == "0"
    assert not any(r.reset_button.isVisible() for r in dialog.rows)
    write(row(dialog, "temperature").field, "1.25")
    assert row(dialog, "temperature").reset_button.isVisible()
    dialog.reset_all_requested.emit()
    assert row(dialog, "temperature").field.text() == "0"
    assert not any(r.reset_button.isVisible() for r in dialog.rows)
