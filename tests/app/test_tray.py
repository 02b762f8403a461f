"""The tray and the notification; the offscreen platform has no tray, as stock GNOME has none."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.theme import app_icon
from app.tray import Tray

NOTIFIER = """#!/bin/sh
for argument in "$@"; do printf '%s\\n' "$argument"; done > "$0.new"
mv "$0.new" "$0.told"
"""


@pytest.fixture
def tray(qapp: QApplication) -> Any:
    made = Tray(app_icon())
    yield made
    made.close()


@pytest.fixture
def with_tray(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """As on a desktop that has one; what it is given to show."""
    shown: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _icon, title, text, *_: shown.append((title, text)))
    return shown


@pytest.mark.parametrize(
    ("row", "signal"),
    list(enumerate(["open_requested", "quick_ask_requested", "new_chat_requested", "quit_requested"])),
)
def test_the_menu_asks_for_what_it_says(tray: Tray, qtbot: Any, row: int, signal: str) -> None:
    actions = [action for action in tray.menu.actions() if not action.isSeparator()]
    assert [action.text() for action in actions] == ["Open Loquat", "Quick ask", "New chat", "Quit"]
    with qtbot.waitSignal(getattr(tray, signal)):
        actions[row].trigger()


def test_a_click_on_the_icon_opens_the_window(tray: Tray, qtbot: Any) -> None:
    with qtbot.waitSignal(tray.open_requested):
        tray._icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    with qtbot.assertNotEmitted(tray.open_requested):
        tray._icon.activated.emit(QSystemTrayIcon.ActivationReason.Context)


def test_without_a_tray_it_is_never_present(tray: Tray) -> None:
    tray.set_wanted(True)
    assert not tray.present, "the window must not hide where nothing brings it back"


IGNORED = pytest.mark.qt_log_ignore("systemTrayWindowChanged")  # the offscreen platform, of the tray it lacks


@IGNORED
def test_a_tray_that_starts_later_is_waited_for(tray: Tray, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tray._wait.setInterval(5)
    tray.set_wanted(True)
    assert not tray.present
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    qtbot.waitUntil(lambda: tray.present)
    assert not tray._wait.isActive()


def test_no_tray_is_waited_for_in_vain(tray: Tray, qtbot: Any) -> None:
    tray._wait.setInterval(1)
    tray.set_wanted(True)
    qtbot.waitUntil(lambda: not tray._wait.isActive())


@IGNORED
def test_it_is_present_while_it_is_wanted_and_there_is_a_tray(tray: Tray, with_tray: Any) -> None:
    assert not tray.present
    tray.set_wanted(True)
    assert tray.present
    tray.set_wanted(False)
    assert not tray.present


@IGNORED
def test_a_long_answer_is_told_and_its_notification_opens_the_chat(tray: Tray, with_tray: Any, qtbot: Any) -> None:
    tray.set_wanted(True)
    assert not tray.tell_finished("c1", "Short", 9.9)
    assert tray.tell_finished("c1", "Packing list", 12.0)
    assert tray.tell_finished("c2", "", 12.0)
    assert with_tray == [("The answer is there", "Packing list"), ("The answer is there", "Untitled chat")]
    with qtbot.waitSignals([tray.open_requested, tray.chat_requested]):
        tray._icon.messageClicked.emit()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a tray")
def test_without_a_tray_the_desktops_own_service_tells_it(
    tray: Tray, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "notify-send"
    program.write_text(NOTIFIER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    assert tray.tell_finished("c1", "--urgency=critical $(rm x)", 12.0)
    told = tmp_path / "notify-send.told"
    qtbot.waitUntil(told.exists)
    assert told.read_text().splitlines()[-3:] == ["--", "The answer is there", "--urgency=critical $(rm x)"]


def test_with_nothing_to_tell_it_by_it_says_so(tray: Tray, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not tray.tell_finished("c1", "Title", 12.0)
