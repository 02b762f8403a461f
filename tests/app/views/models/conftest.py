"""The model dialog over a window, for its tests; the commands behind it are real child processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.views.main_window import MainWindow
from app.views.models.models_dialog import ModelsDialog
from engine.events import InstalledModel
from tests.app.conftest import World
from tests.app.fake_worker import Load, model_info
from tests.app.model_commands import Commands
from tests.pictures.model_scenes import CATALOGUE

QWEN = "qwen2.5-1.5b"
OTHER = InstalledModel("other", "Another model", 494_000_000, 398_000_000, False, folder="/models/other")


@dataclass
class Opened:
    """The dialog over a window, and what is behind both."""

    window: MainWindow
    world: World
    dialog: ModelsDialog
    commands: Commands

    def press(self, action: str) -> None:
        button = self.dialog.details.buttons[action]
        assert button.isVisible() and button.isEnabled()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    @property
    def titles(self) -> list[str]:
        return [row.label for row in self.dialog.list.rows]

    @property
    def shown(self) -> set[str]:
        return {name for name, button in self.dialog.details.buttons.items() if button.isVisible()}

    @property
    def facts(self) -> dict[str, str]:
        return {fact.name: fact.value for fact in self.dialog.details.table.facts}


@pytest.fixture
def opened(make_window: Callable[..., tuple[MainWindow, World]], qtbot: Any) -> Callable[..., Opened]:
    def make(**said: Any) -> Opened:
        window, world = make_window(loads=(Load(), Load(model_info("other"))))
        world.worker.models.append(OTHER)
        assert world.commands is not None
        for command, lines in {"catalogue": [CATALOGUE], **said}.items():
            world.commands.say(command, *lines)
        QTest.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        dialog = world.conductor.providing.dialog
        qtbot.waitUntil(lambda: any(row.id == f"offer:{QWEN}" for row in dialog.list.rows))
        qtbot.waitUntil(lambda: any(row.id == "installed:other" for row in dialog.list.rows))
        qtbot.waitUntil(lambda: not world.parts.shelf.jobs._jobs)
        return Opened(window, world, dialog, world.commands)

    return make
