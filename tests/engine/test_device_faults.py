from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
import torch

from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig
from engine.device import DeviceChoice, choose_device
from engine.device_faults import DeviceFaults, fault_words, is_device_fault, is_out_of_memory
from engine.engine import Engine
from engine.errors import DeviceFailed
from engine.events import Finished
from engine.formats import choose_format
from engine.heap import release_memory
from engine.loader import LoadedModel
from engine.models.registry import ModelEntry
from engine.runners import choose_runner
from tests.tiny_models import make_tiny_model

SHORT = dataclasses.replace(GREEDY, max_tokens=6)
CPU = EngineConfig(device="cpu", dtype="float32", threads=1, save_caches=False)


@pytest.fixture
def entry(tmp_path: Path) -> ModelEntry:
    folder = make_tiny_model("llama", tmp_path / "tiny")
    return ModelEntry("tiny", "Tiny", folder, "llama", 1, 1, "", "", True)


def absent_gpu() -> DeviceChoice:
    """A device that this machine's torch cannot use: every computation on it fails as a broken driver does."""
    chosen, _ = choose_format("mps", "float32")
    return DeviceChoice(torch.device("mps"), chosen, torch.float32, 1, "Apple GPU")


def loaded(entry: ModelEntry, cache_folder: Path, *, save_caches: bool = False) -> tuple[Engine, LoadedModel]:
    """An engine that holds a model on the CPU, and that model."""
    engine = Engine(dataclasses.replace(CPU, save_caches=save_caches), cache_folder)
    engine.load(entry)
    assert engine._model is not None
    return engine, engine._model


def ask(engine: Engine) -> Finished:
    request = ChatRequest("r", (Message("user", "hello"),), SHORT)
    last = list(engine.stream(request))[-1]
    assert isinstance(last, Finished)
    return last


@pytest.mark.expects_log("The mps device failed while a model was loaded")
def test_a_device_that_fails_at_load_gives_way_to_the_cpu_and_says_why(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torch.backends.mps.is_available():
        pytest.skip("this machine has the device that stands for a broken one here")
    real = choose_device

    def best_is_broken(config: EngineConfig, model: object = None, failed: dict[str, str] = {}) -> DeviceChoice:  # noqa: B006
        return real(config, model, failed) if "mps" in failed else absent_gpu()

    monkeypatch.setattr("engine.loader.choose_device", best_is_broken)
    engine = Engine(EngineConfig(dtype="float32", threads=1, save_caches=False), tmp_path / "cache")
    info = engine.load(entry)
    assert info.device == "cpu"
    assert "the Apple GPU failed: " in info.device_reason
    assert ask(engine).stats.completion_tokens > 0
    assert engine.load(entry).device == "cpu", "what failed once is not tried again"


def test_a_device_that_fails_in_an_answer_moves_the_model_and_says_to_ask_again(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, model = loaded(entry, tmp_path / "cache")
    wanted = ask(engine)
    monkeypatch.setattr(type(model.runner), "decode", _broken)
    object.__setattr__(model.info, "device", "cuda")
    with pytest.raises(DeviceFailed, match=r"GPU failed \(CUDA error: an illegal memory access .*\); .* ask again"):
        ask(engine)
    monkeypatch.undo()
    assert engine.info is not None
    assert engine.info.name == model.info.name
    assert engine.info.device == "cpu"
    again = ask(engine)
    assert again.token_ids == wanted.token_ids


def _broken(*_: object, **__: object) -> None:
    raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered\nmore", 700)


def test_a_request_that_was_interrupted_by_the_failure_does_not_move_the_model_again(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, model = loaded(entry, tmp_path / "cache")
    interrupted = engine.stream(ChatRequest("s", (Message("user", "hello"),), SHORT))
    next(interrupted)
    monkeypatch.setattr(model.runner, "prefill", _broken)
    object.__setattr__(model.info, "device", "cuda")
    with pytest.raises(DeviceFailed):
        ask(engine)
    moved = engine._model
    with pytest.raises(DeviceFailed):
        list(interrupted)
    assert engine._model is moved
    assert ask(engine).stats.completion_tokens > 0


def test_after_a_failure_caches_are_saved_as_before(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, model = loaded(entry, tmp_path / "cache", save_caches=True)
    monkeypatch.setattr(model.runner, "prefill", _broken)
    object.__setattr__(model.info, "device", "cuda")
    with pytest.raises(DeviceFailed):
        ask(engine)
    ask(engine)
    assert engine._model is not None
    assert engine._model.store.settle()
    assert len(list((tmp_path / "cache").rglob("*.safetensors"))) == 1
    assert [thread.name for thread in threading.enumerate()].count("kv-writer") == 1
    engine.unload()


def test_another_model_can_be_loaded_after_the_device_failed_unnoticed(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, model = loaded(entry, tmp_path / "cache", save_caches=True)
    ask(engine)
    object.__setattr__(model.info, "device", "cuda")
    monkeypatch.setattr("engine.kv_store.save", _broken)
    engine.load(entry)
    monkeypatch.undo()
    assert set(engine._faults.known) == {"cuda"}
    assert ask(engine).stats.completion_tokens > 0
    engine.unload()


@pytest.mark.expects_log("The mps device failed while a model was loaded")
def test_a_gpu_without_room_for_one_model_is_tried_for_the_next(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = choose_device, []

    def best(config: EngineConfig, model: object = None, failed: dict[str, str] = {}) -> DeviceChoice:  # noqa: B006
        asked.append(set(failed))
        return real(config, model, failed) if failed else absent_gpu()

    def full(_folder: object, choice: DeviceChoice, *others: object, **more: object) -> object:
        if choice.device.type == "mps":
            raise RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)")
        return choose_runner(entry.folder, choice, *others, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("engine.loader.choose_device", best)
    monkeypatch.setattr("engine.loader.choose_runner", full)
    engine = Engine(EngineConfig(dtype="float32", threads=1, save_caches=False), tmp_path / "cache")
    for _ in range(2):
        info = engine.load(entry)
        assert (info.device, "the Apple GPU failed: its memory ran out" in info.device_reason) == ("cpu", True)
    assert asked == [set(), {"mps"}, set(), {"mps"}]


@pytest.mark.expects_log("The cuda device failed while a model was loaded")
def test_a_driver_that_fails_when_its_device_is_looked_at_gives_way_too(
    entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: int = 0) -> str:
        raise RuntimeError("CUDA unknown error - this may be due to an incorrectly set up environment.")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", unknown)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    engine = Engine(EngineConfig(dtype="float32", threads=1, save_caches=False), tmp_path / "cache")
    info = engine.load(entry)
    assert (info.device, "the GPU failed: CUDA unknown error" in info.device_reason) == ("cpu", True)


@pytest.mark.expects_log("A device did not give its memory back: .*CUDA error")
def test_memory_that_a_broken_device_keeps_is_no_reason_to_load_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", _broken)
    release_memory()


@pytest.mark.parametrize(
    ("error", "ran_out"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_says_that_memory_ran_out(error: Exception, ran_out: bool) -> None:
    assert is_out_of_memory(error) is ran_out


@pytest.mark.parametrize(
    ("kind", "error", "is_fault"),
    [
        ("cpu", RuntimeError("CUDA error: nothing"), False),
        ("cuda", RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        ("cuda", RuntimeError("Found no NVIDIA driver on your system."), True),
        ("cuda", AssertionError("Torch not compiled with CUDA enabled"), True),
        ("cuda", torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        ("mps", NotImplementedError("The operator 'aten::x' is not currently implemented for the MPS device."), True),
        ("cuda", ValueError("CUDA"), False),
    ],
)
def test_only_errors_of_the_device_count_as_its_faults(kind: str, error: Exception, is_fault: bool) -> None:
    assert is_device_fault(kind, error) is is_fault


def test_what_a_driver_says_becomes_one_short_phrase() -> None:
    assert fault_words(torch.OutOfMemoryError("CUDA out of memory")) == "its memory ran out"
    assert fault_words(RuntimeError("Found no driver. Get one.\nSecond line")) == "Found no driver"
    assert len(fault_words(RuntimeError("x" * 900))) < 130
    assert fault_words(RuntimeError()) == "RuntimeError"


def test_a_device_that_was_asked_for_and_failed_is_named_and_its_dtype_is_dropped() -> None:
    faults = DeviceFaults()
    faults.note("cuda", RuntimeError("CUDA error: unspecified launch failure"))
    choice = choose_device(EngineConfig(device="cuda", dtype="nf4"), failed=faults.known)
    assert (choice.device.type, choice.format.name) == ("cpu", "int4")
    assert choice.reason.endswith("the GPU failed: CUDA error: unspecified launch failure")


@pytest.mark.parametrize(("driver", "reason"), [(False, "no NVIDIA driver found"), (True, "no CUDA device found")])
def test_a_build_for_cuda_without_a_gpu_or_its_driver_computes_on_the_processor_and_says_why(
    monkeypatch: pytest.MonkeyPatch, driver: bool, reason: str
) -> None:
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr("engine.device.nvidia_driver", lambda: driver)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    chosen = choose_device(EngineConfig())
    assert (chosen.device.type, chosen.reason.split(" · ")[-1]) == ("cpu", reason)
