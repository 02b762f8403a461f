"""A load can be given up between any two of its tensors, and leaves the engine as if it had not begun."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.config import EngineConfig
from engine.engine import Engine
from engine.errors import Cancelled
from engine.models.registry import ModelEntry


class CancelledAfter(RequestHandle):
    """Cancelled once it was asked so often."""

    def __init__(self, times: int) -> None:
        super().__init__("load")
        self._times = times

    @property
    def cancelled(self) -> bool:
        self._times -= 1
        return self._times < 0


@pytest.mark.parametrize("dtype", ["float32", "int4"])
@pytest.mark.parametrize("times", [1, 8])
def test_a_cancelled_load_leaves_nothing(
    tiny_model: Callable[..., Path], tmp_path: Path, dtype: str, times: int
) -> None:
    folder = shutil.copytree(
        tiny_model("llama"), tmp_path / "tiny"
    )  # packed anew: what was packed before is only mapped
    entry = ModelEntry("tiny", "Tiny", folder, "llama", 0, 0, "", "", True)
    engine = Engine(EngineConfig(device="cpu", dtype=dtype), tmp_path / "cache")
    with pytest.raises(Cancelled):
        engine.load(entry, handle=CancelledAfter(times))
    assert engine.loaded == ""
    assert engine.load(entry).name == engine.loaded == "tiny"
    engine.unload()
