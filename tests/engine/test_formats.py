"""Which format a model's weights are held in: as set, else as chosen for the model, else what suits the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from engine.budget import footprint_of, runnable
from engine.chat import RequestHandle
from engine.config import EngineConfig
from engine.device import choose_device
from engine.errors import BadRequest
from engine.formats import SMALL_MODEL, WEIGHTS, choose_format
from engine.loader import load_model
from engine.models.registry import Registry
from tests.engine.models.gguf_files import finish, write_gguf


@dataclass(frozen=True)
class Chosen:
    weights: str
    parameters: int = 1000


@pytest.mark.parametrize(
    ("device", "weights", "held"),
    [
        ("cpu", "", "int4"),
        ("cpu", "int4", "int4"),
        ("cpu", "int8", "int8"),
        ("cpu", "none", "float32"),
        ("cuda", "", "bfloat16"),
        ("cuda", "int4", "nf4"),
        ("cuda", "int8", "int8"),
        ("cuda", "none", "bfloat16"),
        ("mps", "int4", "float16"),
        ("mps", "int8", "float16"),
        ("mps", "none", "float16"),
    ],
)
def test_what_was_chosen_for_a_model_counts_on_every_device(device: str, weights: str, held: str) -> None:
    assert choose_format(device, "auto", model=Chosen(weights))[0].name == held
    assert choose_format(device, "float32", model=Chosen(weights))[0].name == "float32"  # what is set counts more


def test_the_reason_says_whose_choice_it_is() -> None:
    assert choose_format("cpu", "auto", model=Chosen("int8"))[1] == "8-bit weights, as chosen for this model"
    assert choose_format("cpu", "auto", model=Chosen(""))[1] == "4-bit weights: fewest bytes to read per token"


def test_a_gpu_that_only_emulates_bfloat16_computes_in_float16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Of 2018")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation)
    for weights, held in (("", "float16"), ("none", "float16"), ("int4", "nf4")):
        choice = choose_device(EngineConfig(), Chosen(weights))
        assert (choice.format.name, choice.dtype, choice.reason) == (held, torch.float16, "Of 2018")
    assert choose_format("cuda", "nf4")[0].compute == "bfloat16"
    assert choose_device(EngineConfig(dtype="bfloat16")).dtype == torch.bfloat16, "what is set counts more"


def test_a_large_model_as_floats_has_16_bits_on_a_cpu() -> None:
    assert choose_format("cpu", "auto", model=Chosen("none", SMALL_MODEL))[0].name == "bfloat16"


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_model_is_imported_planned_and_loaded_as_chosen(
    weights: str, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    registry = Registry(tmp_path / "models")
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    entry = finish(registry.add(file, RequestHandle("test"), weights=weights))
    packed = [path.name for path in entry.folder.glob("packed-*")]
    assert packed == ([] if weights == "none" else [f"packed-{weights}.safetensors"])
    held = choose_device(EngineConfig(device="cpu"), entry).format
    assert held.name == {"none": "float32"}.get(weights, weights)
    loaded = load_model(entry, EngineConfig(device="cpu", save_caches=False), tmp_path / "cache")
    assert loaded.info.dtype == held.name
    foretold = footprint_of(entry, runnable(entry, held), 128).weights
    assert abs(foretold / loaded.info.weight_bytes - 1) < 0.02
    loaded.store.close()


def test_the_same_file_is_imported_again_for_other_weights(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    registry = Registry(tmp_path / "models")
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    first = finish(registry.add(file, RequestHandle("test"), weights="int8"))
    assert finish(registry.add(file, RequestHandle("test"))).name == first.name
    assert finish(registry.add(file, RequestHandle("test"), weights="int8")).name == first.name
    other = finish(registry.add(file, RequestHandle("test"), weights="none"))
    assert (other.name, other.weights) == (f"{first.name}-2", "none")


def test_weights_of_a_kind_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="'int2'; choose one of int4, int8, none"):
        finish(Registry(tmp_path).add(tmp_path / "any.gguf", RequestHandle("test"), weights="int2"))
