"""What is there when a model is ready is exempt from garbage collection."""

from __future__ import annotations

import gc

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
