"""The whole program over a home of the test's own, with a scripted worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.desktop import Desktop
from engine.paths import Paths
from tests.app.fake_worker import FakeWorker, Reply
from tests.integration.whole_window import PATIENCE_MS, shut


@pytest.fixture
def open_window(qtbot: Any, loquat_home: Paths) -> Iterator[Callable[..., Desktop]]:
    """`open_window(*replies)`: the whole program over this home, its model loaded; no report of a crash is shown."""
    made: list[Desktop] = []

    def start(*replies: Reply) -> Desktop:
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        desktop = Desktop(application, loquat_home, partial(FakeWorker, replies=replies))
        made.append(desktop)
        with qtbot.waitActive(desktop.window):
            desktop.show()
        qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready", timeout=PATIENCE_MS)
        return desktop

    yield start
    for desktop in made:
        if desktop.bridge._worker.thread.is_alive():  # type: ignore[attr-defined]
            shut(desktop)
