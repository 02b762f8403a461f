"""The switch in the window that lets other programs ask: a real server over a real worker with a fake model."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.engine_bridge import EngineBridge
from app.serving import Serving
from app.theme import Theme
from app.views.serve_dialog import ServeDialog
from engine.config import EngineConfig
from engine.paths import Paths
from engine.server.control import ServerState
from engine.worker import Worker
from tests.engine.fakes import FakeRunner, engine_with


def ask(url: str, key: str = "") -> Any:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"{url}/models", headers=headers)  # noqa: S310 - the server of this test
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        return json.load(answer)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serving(qapp: QApplication, loquat_home: Paths) -> Iterator[Serving]:
    def make(emit: Any) -> Worker:
        worker = Worker(emit, EngineConfig(), loquat_home)
        engine = engine_with(FakeRunner(), folder=loquat_home.cache)
        worker._engine, worker.info = engine, engine._model.info
        return worker

    bridge = EngineBridge(make)
    made = Serving(bridge)
    yield made
    assert made.close()
    assert bridge.close()


def test_programs_are_answered_until_it_is_switched_off(serving: Serving, qtbot: Any) -> None:
    with qtbot.waitSignal(serving.changed, timeout=20_000) as told:
        serving.start(free_port(), "secret")
    url = told.args[0].url
    assert url.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(url, "wrong")
    assert "data" in ask(url, "secret")
    with qtbot.waitSignal(serving.changed, timeout=20_000) as told:
        serving.stop()
    assert told.args[0] == ServerState()
    with pytest.raises(urllib.error.URLError):
        ask(url, "secret")


def test_a_port_that_is_taken_is_said_in_one_sentence(serving: Serving, qtbot: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with qtbot.waitSignal(serving.changed, timeout=20_000) as told:
            serving.start(other.getsockname()[1], "")
    assert told.args[0].url == ""
    assert told.args[0].error.endswith(".")


def test_the_dialog_switches_and_says_what_came_of_it(theme: Theme, qtbot: Any) -> None:
    dialog = ServeDialog(theme, 8000)
    qtbot.addWidget(dialog)
    with qtbot.waitSignal(dialog.start_requested) as told:
        dialog.switch.click()
    assert told.args == [8000, ""]
    dialog.take_state(ServerState("http://127.0.0.1:8000/v1"))
    assert "http://127.0.0.1:8000/v1 " in dialog.said and dialog.said.endswith(".")
    dialog.copy_button.click()
    assert QApplication.clipboard().text() == "http://127.0.0.1:8000/v1"
    with qtbot.waitSignal(dialog.stop_requested):
        dialog.switch.click()
    dialog.take_state(ServerState(error="Port 8000 is taken; choose another."))
    assert "taken" in dialog.said
    dialog.port_field.setText("0")
    assert not dialog.switch.isEnabled()
