"""A model that moves or goes without being asked to: the window is told of it, whatever was being done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.chat import Message
from engine.config import EngineConfig
from engine.errors import DoesNotFit
from engine.events import UPGRADE, Failed, Finished, Loaded, Unloaded
from engine.paths import Paths
from engine.runners import INTERIM
from engine.worker import Worker
from tests.engine.fakes import FakeRunner
from tests.engine.running import Running, a_model, ask

QUESTION = (Message("user", "Why is the sky blue? " * 4),)


def breaks_once(runner: Any) -> None:
    """The next pass fails as on a GPU that does; what comes after it is another runner's."""

    def broken(*_: object, **__: object) -> None:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered", 700)

    runner.prefill = broken


@pytest.mark.parametrize(
    "work",
    [
        lambda worker: worker.submit(ask("a")),
        lambda worker: worker.prefill_ahead(ask("ahead", "x" * 300)),
        lambda worker: worker.compare_cache(QUESTION),
        lambda worker: worker.check(QUESTION),
    ],
    ids=["an answer", "reading ahead", "a comparison", "a check"],
)
def test_a_device_that_fails_in_whatever_is_done_is_told(
    work: Callable[[Worker], object], loquat_home: Paths, tiny_model: Callable[..., Path]
) -> None:
    shutil.copytree(tiny_model("llama"), loquat_home.models / "tiny-llama")
    config = EngineConfig(device="cpu", dtype="float32", threads=1, save_caches=False)
    with Running(loquat_home) as running:
        running.worker.load("tiny-llama", config)
        before = running.until(Loaded, Failed)[-1].info
        engine = running.worker._engine
        assert engine is not None
        assert engine._model is not None
        breaks_once(engine._model.runner)
        object.__setattr__(before, "device", "cuda")
        work(running.worker)
        told = running.until(Loaded)[-1]
        assert (told.request_id, told.info.name, told.info.device) == (UPGRADE, "tiny-llama", "cpu")
        assert running.worker.info is told.info is not before
        running.worker.submit(ask("b"))
        assert running.until(Finished, Failed)[-1].request_id == "b"


def test_kernels_that_cannot_be_compiled_are_waited_for_no_longer(loquat_home: Paths) -> None:
    class Given:
        failed = True

    with Running(loquat_home, FakeRunner()) as running:
        engine = running.worker._engine
        assert engine is not None
        assert engine._model is not None
        waiting = replace(engine._model.info, compiling=True, runner=f"{INTERIM}; drafts by Small")
        engine._model = replace(engine._model, info=waiting, pending=Given())  # type: ignore[arg-type]
        engine._entry, running.worker.info = a_model(loquat_home, "fake"), waiting
        running.worker.submit(ask("a"))
        told, *_, done = running.until(Finished)
        assert isinstance(told, Loaded)
        assert (told.request_id, told.info.compiling) == (UPGRADE, False)
        assert told.info.runner == "torch, as the CPU kernels could not be compiled; drafts by Small"
        assert done.request_id == "a"


def test_a_model_that_cannot_be_loaded_again_is_said_to_be_gone(loquat_home: Paths) -> None:
    with Running(loquat_home, FakeRunner()) as running:
        engine = running.worker._engine
        assert engine is not None
        running.worker.info = engine.info

        def too_large() -> None:
            engine.unload()
            raise DoesNotFit("There is no room for it any more.")

        engine.upgrade = too_large  # type: ignore[method-assign,assignment]
        running.worker.submit(ask("a"))
        failed, gone = running.until(Unloaded)
        assert isinstance(failed, Failed)
        assert "no room" in failed.error.sentence
        assert gone == Unloaded(UPGRADE, "fake")
        assert running.worker.info is None
