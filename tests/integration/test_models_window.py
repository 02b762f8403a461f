"""The whole program with the engine's own worker and commands: models found on a hub, downloaded, loaded and deleted.

The hub is a stand-in on the loopback address; everything else is what a person has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.desktop import Desktop
from app.views.dialogs import ConfirmDialog
from app.views.models.models_dialog import ModelsDialog
from engine.config import EngineConfig
from engine.keys import Keys
from engine.paths import Paths
from engine.worker import Worker
from tests.engine.hub.conftest import content_of
from tests.engine.hub.stand_in import StandIn, serve, single
from tests.integration.whole_window import ask, no_freeze, shut
from tests.memory_keyring import MemoryKeyring

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LLAMA, QWEN = "tiny/llama-chat", "tiny/qwen-chat"
LARGER = {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 6}  # 6 MB of weights
PATIENCE_MS = 90_000


@pytest.fixture
def hub(tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    about = {"cardData": {"license": "apache-2.0"}}
    repos = {
        LLAMA: single(content_of(tiny_model("llama", **LARGER)), about=about),
        QWEN: single(content_of(tiny_model("qwen2")), about=about),
    }
    made = StandIn(repos, rate=3_000_000)
    with serve(made):
        monkeypatch.setenv("HF_ENDPOINT", made.address)
        yield made


@pytest.fixture
def desktop(qtbot: Any, loquat_home: Paths) -> Iterator[Desktop]:
    keys, application = Keys(MemoryKeyring()), QApplication.instance()
    assert isinstance(application, QApplication)
    made = Desktop(application, loquat_home, lambda emit: Worker(emit, EngineConfig(), loquat_home, keys=keys))
    with qtbot.waitActive(made.window):
        made.show()
    yield made
    shut(made)


def look_up(qtbot: Any, dialog: ModelsDialog, repository: str) -> None:
    dialog.search_field.clear()
    QTest.keyClicks(dialog.search_field, repository)
    QTest.keyClick(dialog.search_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.list.current_id == f"found:{repository}", timeout=PATIENCE_MS)


def press(dialog: ModelsDialog, action: str) -> None:
    QTest.mouseClick(dialog.details.buttons[action], Qt.MouseButton.LeftButton)


def ready(desktop: Desktop, name: str) -> bool:
    info = desktop.chats.model.info
    return desktop.chats.model.phase == "ready" and info is not None and info.name == name


def test_from_a_repository_to_an_answer_and_back(qtbot: Any, hub: StandIn, desktop: Desktop) -> None:
    assert hub.paths() == [], "nothing goes online by itself"
    desktop.conductor.commands.run("models")
    dialog = desktop.conductor.providing.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog._shelf.catalogue is not None, timeout=PATIENCE_MS)
    assert len(dialog._shelf.catalogue or ()) > 20
    assert hub.paths() == []
    look_up(qtbot, dialog, LLAMA)
    with no_freeze():
        press(dialog, "get")
        qtbot.waitUntil(lambda: "MB of" in dialog.details.progress, timeout=PATIENCE_MS)
        press(dialog, "pause")
        qtbot.waitUntil(lambda: dialog.details.progress.startswith("Paused"), timeout=PATIENCE_MS)
        press(dialog, "resume")
        qtbot.waitUntil(lambda: dialog.list.current_id.startswith("installed:llama"), timeout=PATIENCE_MS)
    first = dialog.list.current_id.removeprefix("installed:")
    qtbot.waitUntil(lambda: ready(desktop, first), timeout=PATIENCE_MS)
    ask(desktop, qtbot)
    look_up(qtbot, dialog, QWEN)
    press(dialog, "get")
    qtbot.waitUntil(lambda: dialog.list.current_id.startswith("installed:qwen"), timeout=PATIENCE_MS)
    second = dialog.list.current_id.removeprefix("installed:")
    assert ready(desktop, first), "who chats is not taken away"
    press(dialog, "load")
    qtbot.waitUntil(lambda: ready(desktop, second), timeout=PATIENCE_MS)
    desktop.chats.back_to_previous_model()
    qtbot.waitUntil(lambda: ready(desktop, first), timeout=PATIENCE_MS)
    ask(desktop, qtbot, "And now?")
    remove_loaded(qtbot, desktop, first, second)


def remove_loaded(qtbot: Any, desktop: Desktop, loaded: str, other: str) -> None:
    """Delete the model that answers: the one that is left takes its place."""
    desktop.conductor.providing.show_dialog()
    dialog = desktop.conductor.providing.dialog
    assert dialog is not None
    assert dialog.list.current_id == f"installed:{loaded}"
    press(dialog, "delete")
    QTest.mouseClick(dialog.findChild(ConfirmDialog).confirm_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [model.name for model in desktop.chats.models.models] == [other], timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: ready(desktop, other), timeout=PATIENCE_MS)
