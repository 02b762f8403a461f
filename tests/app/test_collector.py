"""What is there when a model is ready is exempt from garbage collection, and only the window's thread collects."""

from __future__ import annotations

import gc
import threading
from typing import Any

from app import collector
from app.live import ModelState


def test_a_ready_model_freezes_what_is_there() -> None:
    before = gc.get_freeze_count()
    try:
        collector.model_changed(ModelState("working"))
        assert gc.get_freeze_count() == before
        collector.model_changed(ModelState("ready"))
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()


class Cycle:
    """Garbage that only a collection finds; notes the thread in which it goes."""

    gone: list[threading.Thread]

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        self.gone.append(threading.current_thread())


def test_what_other_threads_leave_goes_in_the_windows(qtbot: Any) -> None:
    Cycle.gone = []
    collecting = collector.Collector()
    try:
        thread = threading.Thread(target=lambda: [Cycle() for _ in range(5_000)] and None)
        thread.start()
        thread.join()
        assert Cycle.gone == []
        qtbot.waitUntil(lambda: len(Cycle.gone) == 5_000)
    finally:
        collecting.close()
    assert set(Cycle.gone) == {threading.main_thread()}
    assert gc.isenabled()
