"""The plan of real model folders, and what the loader makes of it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoConfig

from engine import budget
from engine.config import EngineConfig
from engine.device import choose_device
from engine.errors import BadModelFile, DoesNotFit
from engine.formats import choose_format
from engine.loader import LoadedModel, load_model
from engine.memory import Machine, plan
from engine.models.registry import ModelEntry, Registry
from engine.models.shape import read_shape
from tests.tiny_models import FAMILIES

FLOATS, INT4 = (choose_format("cpu", name)[0] for name in ("float32", "int4"))
PACKED = "packed-int4.safetensors"
TinyModel = Callable[..., Path]


def entry_of(folder: Path) -> ModelEntry:
    return Registry(folder.parent).find(folder.name)


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[..., LoadedModel]]:
    loaded: list[LoadedModel] = []

    def make(folder: Path, **config: object) -> LoadedModel:
        loaded.append(
            load_model(
                entry_of(folder),
                EngineConfig(save_caches=False, **{"device": "cpu", "dtype": "float32", **config}),
                tmp_path,
            )
        )
        return loaded[-1]

    yield make
    for model in loaded:
        model.store.close()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("architecture", FAMILIES)
def test_the_files_foretell_what_loading_takes(
    architecture: str, dtype: str, tiny_model: TinyModel, load: Callable[..., LoadedModel]
) -> None:
    folder = tiny_model(architecture)
    foretold = budget.footprint_of(entry_of(folder), choose_format("cpu", dtype)[0], 128)
    runner = load(folder, dtype=dtype).runner
    assert foretold.weights == pytest.approx(runner.weight_bytes, rel=0.05)
    assert foretold.kv_bytes_per_token == runner.kv_bytes_per_token
    assert foretold.context_limit == runner.context_limit


def test_tokens_are_counted_as_the_cache_holds_them(tiny_model: TinyModel) -> None:
    # 3 layers, 2 key/value heads of 64 / 4 = 16 numbers, keys and values, 4 bytes; the kernels hold 2.
    shape = read_shape(tiny_model("llama"))
    assert shape.footprint("Tiny", FLOATS, 128).kv_bytes_per_token == 3 * 2 * 16 * 2 * 4
    assert shape.footprint("Tiny", INT4, 128).kv_bytes_per_token == 3 * 2 * 16 * 2 * 2
    assert shape.footprint("Tiny", INT4, 128, "int8").kv_bytes_per_token == 3 * 2 * 2 * (16 + 4)


def test_layers_without_a_cache_cost_nothing_a_token(tmp_path: Path, tiny_model: TinyModel) -> None:
    folder = copy_of(tiny_model("llama"), tmp_path, layer_types=["full_attention", "linear_attention", "mamba"])
    assert read_shape(folder).layers == 1


@pytest.mark.parametrize("architecture", ["gpt2", "mamba"])
def test_other_names_and_other_kinds_of_models_are_read_too(tmp_path: Path, architecture: str) -> None:
    config = AutoConfig.for_model(architecture)
    config.save_pretrained(tmp_path)
    save_file({"weight": torch.zeros(3, 5)}, tmp_path / "model.safetensors")
    made = read_shape(tmp_path).footprint("Other", FLOATS, 128)
    assert made.weights == 60
    if architecture == "gpt2":  # 12 layers of 12 heads of 64, keys and values
        assert (made.kv_bytes_per_token, made.context_limit) == (12 * 12 * 64 * 2 * 4, 1024)
    else:
        assert made.kv_bytes_per_token == 0


def copy_of(folder: Path, target: Path, **changes: object) -> Path:
    """The model with another config.json."""
    (target / "model.safetensors").symlink_to(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, **changes}))
    return target


@pytest.mark.parametrize(
    "changes", [{"hidden_size": "many"}, {"hidden_size": None}, {"vocab_size": []}, {"layer_types": 7}]
)
def test_senseless_sizes_are_refused_in_a_sentence(
    tmp_path: Path, tiny_model: TinyModel, changes: dict[str, object]
) -> None:
    with pytest.raises(BadModelFile, match=r"make no sense; get the model again\.$"):
        read_shape(copy_of(tiny_model("llama"), tmp_path, **changes))


def test_a_folder_without_weights_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadModelFile, match="cannot be read; get the model again"):
        read_shape(tmp_path)


def test_the_store_gets_what_the_plan_leaves(tiny_model: TinyModel, load: Callable[..., LoadedModel]) -> None:
    assert load(tiny_model("llama"), cache_memory_bytes=1 << 20).store._budget <= 1 << 20
    assert load(tiny_model("llama")).store._budget > 100 << 20


def test_weights_that_turn_out_smaller_leave_more_for_caches_up_to_what_is_set(tiny_model: TinyModel) -> None:
    folder, machine = tiny_model("llama"), Machine("cpu", 8 << 30, None, 0)
    planned = plan(read_shape(folder).footprint("Tiny", FLOATS, 128), machine, context=100)
    less = planned.weights // 4
    assert budget.cache_budget(planned, less, EngineConfig()) == planned.caches + planned.weights - less
    assert budget.cache_budget(planned, less, EngineConfig(cache_memory_bytes=300)) == 300
    assert budget.cache_budget(planned, 9 << 30, EngineConfig()) == 0


def test_weights_are_counted_by_the_bit_or_as_their_packed_file(tmp_path: Path, tiny_model: TinyModel) -> None:
    folder = copy_of(tiny_model("llama"), tmp_path)
    plain = read_shape(folder)
    # 3 layers of 64 * (64 + 2 * 32 + 64 + 3 * 128); 300 vectors of 64, which are the head too; 7 norms of 64.
    assert plain.matrices == 3 * 64 * (64 + 2 * 32 + 64 + 3 * 128)
    assert (plain.embeddings, plain.vectors) == (300 * 64, 7 * 64)
    assert plain.weights(FLOATS) == 4 * (plain.matrices + plain.embeddings + plain.vectors)
    by_the_bit = plain.matrices * 5 / 8 + plain.embeddings * 8.5 / 8 + plain.vectors * 4
    assert plain.weights(INT4) == int(by_the_bit)
    save_file({"layers.0.qkv": torch.zeros(1000, dtype=torch.uint8), "norm": torch.zeros(64)}, folder / PACKED)
    packed = read_shape(folder)
    assert packed.weights(INT4) == 1000 + 64 * 4
    assert packed.weights(FLOATS) == plain.weights(FLOATS)


def test_what_the_kernels_cannot_run_is_held_in_floats(tmp_path: Path, tiny_model: TinyModel) -> None:
    assert budget.runnable(entry_of(tiny_model("llama")), INT4) == INT4
    odd = tiny_model("llama", hidden_size=40)  # which 32 does not divide
    assert budget.runnable(entry_of(odd), INT4) == FLOATS


def test_floats_need_room_of_their_own(tiny_model: TinyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, config = entry_of(tiny_model("llama")), EngineConfig(device="cpu", max_context=512)
    choice = choose_device(config)
    small = small_machine(entry.folder, tokens=512)
    monkeypatch.setattr(budget, "measure_machine", lambda kind: small)
    assert budget.floats_fit(entry, choice, config)
    less = dataclasses.replace(small, available=small.available - 1)
    monkeypatch.setattr(budget, "measure_machine", lambda kind: less)
    assert not budget.floats_fit(entry, choice, config)


def test_weights_in_several_files_are_added_up(tmp_path: Path) -> None:
    AutoConfig.for_model("llama").save_pretrained(tmp_path)
    names = {f"w{n}": f"model-0000{n}-of-00002.safetensors" for n in (1, 2)}
    for name, file in names.items():
        save_file({name: torch.zeros(2, 5)}, tmp_path / file)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    assert read_shape(tmp_path).matrices == 20
    (tmp_path / names["w2"]).unlink()
    with pytest.raises(BadModelFile, match="cannot be read; get the model again"):
        read_shape(tmp_path)


def test_the_context_shrinks_to_what_fits(
    tiny_model: TinyModel, load: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model("llama", max_position_embeddings=4096)
    monkeypatch.setattr(budget, "measure_machine", lambda kind: small_machine(folder, tokens=1000))
    model = load(folder)
    assert model.runner.context_limit == 1000
    assert model.info.context_limit == 1000


def small_machine(folder: Path, tokens: int) -> Machine:
    """One whose allowance is what the model and a context of that many tokens need."""
    made = budget.footprint_of(entry_of(folder), FLOATS, EngineConfig().prefill_chunk)
    per_token = made.kv_bytes_per_token + made.activations_per_token
    needed = made.weights + made.code + made.activations + made.logits + per_token * tokens
    return Machine("cpu", 8 << 30, needed + (512 << 20), 0)  # a sixteenth of all is kept free


def test_a_context_that_is_set_and_does_not_fit_is_refused_before_loading(
    tiny_model: TinyModel, load: Callable[..., LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model("llama", max_position_embeddings=4096)
    monkeypatch.setattr(budget, "measure_machine", lambda kind: small_machine(folder, tokens=1000))
    monkeypatch.setattr("engine.loader.choose_runner", lambda *_, **__: pytest.fail("loaded all the same"))
    with pytest.raises(DoesNotFit, match=r"the largest that fits is a context of 1,000 tokens \(float32\)\.$"):
        load(folder, max_context=2000)


@pytest.mark.expects_log("A context of 600 tokens is set, but .* holds 512")
def test_a_context_beyond_the_models_is_the_models(tiny_model: TinyModel, load: Callable[..., LoadedModel]) -> None:
    assert load(tiny_model("llama"), max_context=600).runner.context_limit == 512


@pytest.mark.parametrize(("fits", "waits"), [(True, False), (False, True)])
def test_where_floats_do_not_fit_the_kernels_are_waited_for(
    tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: bool, waits: bool
) -> None:
    class Asked(Exception):
        pass

    def choose(*_: object, wait: bool, **_others: object) -> None:
        assert wait == waits
        raise Asked

    monkeypatch.setattr("engine.loader.floats_fit", lambda *_: fits)
    monkeypatch.setattr("engine.loader.choose_runner", choose)
    with pytest.raises(Asked):
        load_model(entry_of(tiny_model("llama")), EngineConfig(device="cpu", save_caches=False), tmp_path, wait=False)


@pytest.mark.parametrize("kv_dtype", ["float32", "float16", "bfloat16", "int8"])
def test_the_plan_counts_keys_and_values_as_they_will_be_held(
    tiny_model: TinyModel, load: Callable[..., LoadedModel], kv_dtype: str
) -> None:
    folder = tiny_model("qwen3")
    foretold = budget.footprint_of(entry_of(folder), FLOATS, 128, kv_dtype)
    assert foretold.kv_bytes_per_token == load(folder, kv_dtype=kv_dtype).runner.kv_bytes_per_token


def test_only_formats_that_can_be_had_are_offered_where_memory_is_short(tiny_model: TinyModel) -> None:
    kernels, floats, stateful = (
        budget.footprint_of(entry_of(tiny_model(name)), held, 128, "bfloat16")
        for name, held in (("llama", INT4), ("llama", FLOATS), ("falcon_h1", FLOATS))
    )
    assert (kernels.kv_dtype, floats.kv_dtype, stateful.kv_dtype) == ("float16", "bfloat16", "float32")
    assert "float16" in kernels.smaller_kv
    assert floats.smaller_kv == ("float16", "int8")
    assert stateful.smaller_kv == ()
