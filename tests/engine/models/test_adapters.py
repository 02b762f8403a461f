"""LoRA adapters as peft writes them: merged as peft computes them, and refused where they do not fit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from engine.cli_models import run
from engine.config import EngineConfig
from engine.decoder.merge import Merge
from engine.device import choose_device
from engine.engine import Engine
from engine.errors import BadModelFile, EngineError, ModelNotFound, UnsupportedModel
from engine.hf_runner import load_hf_runner
from engine.kernels.store import packed_path
from engine.loader import fingerprint
from engine.models import adapter_file
from engine.models.adapters import ADAPTERS, add_adapter, remove_adapter, switch_adapter
from engine.models.choices import read_choices
from engine.models.registry import Registry
from engine.paths import Paths
from engine.runners import choose_runner

IDS = list(range(7, 31))
FLOATS = EngineConfig(device="cpu", dtype="float32", threads=1)
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@pytest.fixture
def model(tiny_model: Callable[..., Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model("llama"), tmp_path / "models" / "tiny"))


def trained(model: Path, folder: Path, seed: int = 3, noise: float = 0.2, **options: Any) -> tuple[Path, torch.Tensor]:
    """An adapter with random weights as peft saves it, and peft's own logits with it, float32 [len(IDS), vocab]."""
    base = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    config = peft.LoraConfig(**{"r": 4, "lora_alpha": 12, "target_modules": ALL, "task_type": "CAUSAL_LM", **options})
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        wrapped = peft.get_peft_model(base, config).eval()
        with torch.no_grad():
            for name, weight in wrapped.named_parameters():
                if "lora_" in name:
                    weight.add_(noise * torch.randn_like(weight))
    wrapped.save_pretrained(folder)
    with torch.inference_mode():
        return folder, wrapped(torch.tensor([IDS])).logits[0]


def logits_of(model: Path, config: EngineConfig = FLOATS) -> torch.Tensor:
    runner = choose_runner(model, choose_device(config), config, model.parent / "cache", wait=True).runner
    return runner.prefill(IDS, runner.new_cache(), keep=len(IDS))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_rslora": True, "r": 9},
        {"use_dora": True},
        {
            "target_modules": ["q_proj", "down_proj"],
            "rank_pattern": {"down_proj": 7},
            "alpha_pattern": {r"^model\.layers.1.self_attn.q_proj": 40, "^q_proj": 90, "q_proj$": 1},
        },
    ],
    ids=["lora", "rank-stabilised", "dora", "patterns"],
)
def test_a_merged_adapter_computes_what_peft_computes(model: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    before = logits_of(model)
    folder, wanted = trained(model, tmp_path / "poet", **options)
    add_adapter(model, folder)
    got = logits_of(model)
    assert (got - before).abs().max() > 0.1, "the adapter changes something"
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    through_transformers = load_hf_runner(model, choose_device(FLOATS))
    torch.testing.assert_close(
        through_transformers.prefill(IDS, through_transformers.new_cache(), keep=len(IDS)), wanted, rtol=1e-4, atol=1e-4
    )
    switch_adapter(model, "poet", on=False)
    torch.testing.assert_close(logits_of(model), before, rtol=0, atol=0)


def test_two_adapters_add_up_and_the_kernels_have_them_too(model: Path, tmp_path: Path) -> None:
    packed = EngineConfig(device="cpu", dtype="int8", threads=1)
    plain = logits_of(model, packed)
    for number, name in enumerate(("poet", "pirate")):
        add_adapter(model, trained(model, tmp_path / name, seed=number, noise=0.08, r=2)[0])
    wanted, got = logits_of(model), logits_of(model, packed)
    assert torch.cosine_similarity(wanted, got, dim=-1).min() > 0.99
    assert torch.cosine_similarity(plain, got, dim=-1).min() < 0.9
    assert len(list(model.glob("packed-int8-*.safetensors"))) == 1, "what was packed with adapters is kept"
    torch.testing.assert_close(logits_of(model, packed), got, rtol=0, atol=0)
    switch_adapter(model, "pirate", on=False)
    logits_of(model, packed)
    assert len(list(model.glob("packed-int8-*.safetensors"))) == 1, "and only the newest of it"
    switch_adapter(model, "poet", on=False)
    torch.testing.assert_close(logits_of(model, packed), plain, rtol=0, atol=0)
    assert packed_path(model, "int8").is_file()


def test_caches_of_a_conversation_belong_to_what_is_merged(model: Path, tmp_path: Path) -> None:
    names = [fingerprint(model, "x")]
    add_adapter(model, trained(model, tmp_path / "poet")[0])
    names.append(fingerprint(model, "x"))
    assert len(set(names)) == 2
    switch_adapter(model, "poet", on=False)
    assert fingerprint(model, "x") == names[0]


def test_an_adapter_of_another_model_is_refused_with_the_reason(
    model: Path, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    wider = tiny_model("llama", hidden_size=96)
    folder, _ = trained(wider, tmp_path / "wide")
    with pytest.raises(BadModelFile, match=r"adapter wide does not fit this model: it was trained on .*tiny-llama"):
        add_adapter(model, folder)
    deeper = tiny_model("llama", num_hidden_layers=5)
    with pytest.raises(BadModelFile, match="does not fit this model"):
        add_adapter(model, trained(deeper, tmp_path / "deep")[0])
    assert read_choices(model).adapters == ()
    assert not (model / ADAPTERS).exists()


def changed(folder: Path, **values: Any) -> Path:
    config = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps({**config, **values}))
    return folder


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ({"peft_type": "IA3"}, UnsupportedModel, "of the kind IA3"),
        ({"modules_to_save": ["lm_head"]}, UnsupportedModel, "whole layers"),
        ({"bias": "all"}, UnsupportedModel, "biases"),
        ({"r": 5}, BadModelFile, "its rank is said to be 5, and is 4"),
        ({"lora_alpha": "many"}, BadModelFile, "lora_alpha is no number"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    model: Path, tmp_path: Path, values: dict[str, Any], kind: type[EngineError], said: str
) -> None:
    folder = changed(trained(model, tmp_path / "poet")[0], **values)
    with pytest.raises(kind, match=said):
        add_adapter(model, folder)


# What peft would do with it, and merging the matrices would not.
OTHERWISE: dict[str, dict[str, Any]] = {
    "copied layers of its own": {"layer_replication": [[0, 2], [1, 3]]},
    "counts only behind certain words": {"alora_invocation_tokens": [5, 6]},
    "weights that were changed for it (pissa_niter_4)": {"init_lora_weights": "pissa_niter_4"},
    "weights that were changed for it (olora)": {"init_lora_weights": "olora"},
    "by a pattern that Loquat does not read (q_proj|k_proj)": {"alpha_pattern": {"q_proj|k_proj": 1}},
    "of the kind xxxx": {"peft_type": "x" * 10_000},
    "its rank is said to be xxxx": {"r": "x" * 10_000},
}


def test_what_would_be_merged_wrongly_is_refused(model: Path, tmp_path: Path) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    config = (folder / "adapter_config.json").read_text()
    for said, values in OTHERWISE.items():
        with pytest.raises(EngineError) as caught:
            add_adapter(model, changed(folder, **values))
        assert said in caught.value.sentence and len(caught.value.sentence) < 200
        (folder / "adapter_config.json").write_text(config)
    add_adapter(model, folder)


def test_a_file_that_may_not_be_read_gets_a_sentence(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    add_adapter(model, folder)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(adapter_file, "read_entries", refuse)
    with pytest.raises(EngineError, match=r"could not add the adapter in .*Permission denied"):
        add_adapter(model, folder, "again")
    with pytest.raises(BadModelFile, match="adapter poet of tiny cannot be read; switch it off"):
        Merge.of(model)


def odd(tensors: dict[str, torch.Tensor], kind: str) -> dict[str, torch.Tensor]:
    first = next(name for name in tensors if "lora_A" in name)
    other = first.replace("lora_A", "lora_B")
    match kind:
        case "half":
            return {name: tensor for name, tensor in tensors.items() if name != other}
        case "rank":
            return {**tensors, other: tensors[other][:, :2].contiguous()}
        case "flat":
            return {**tensors, first: tensors[first].flatten()}
        case "integers":
            return {**tensors, first: tensors[first].to(torch.int8)}
        case "integer magnitudes":
            name = first.replace("lora_A.weight", "lora_magnitude_vector")
            return {**tensors, name: torch.ones(tensors[other].shape[0], dtype=torch.int8)}
        case _:
            return {**tensors, "base_model.model.lm_head.weight": torch.zeros(3, 3)}


@pytest.mark.parametrize("kind", ["half", "rank", "flat", "integers", "integer magnitudes", "more"])
def test_odd_shapes_are_refused(model: Path, tmp_path: Path, kind: str) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    path = folder / "adapter_model.safetensors"
    save_file(odd(load_file(path), kind), path)
    with pytest.raises((BadModelFile, UnsupportedModel), match=r"adapter poet (is damaged|holds something)"):
        add_adapter(model, folder)


def test_pickles_cut_files_and_absent_folders_are_refused(model: Path, tmp_path: Path) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    path = folder / "adapter_model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadModelFile):
        add_adapter(model, folder)
    path.rename(folder / "adapter_model.bin")
    with pytest.raises(EngineError, match=r"adapter_model\.bin"):
        add_adapter(model, folder)
    with pytest.raises(ModelNotFound, match="no folder"):
        add_adapter(model, tmp_path / "gone")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_numbers_that_are_none_are_refused(model: Path, tmp_path: Path, dtype: torch.dtype) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    path = folder / "adapter_model.safetensors"
    tensors = {name: tensor.to(dtype) for name, tensor in load_file(path).items()}
    save_file(tensors, path)
    read = add_adapter(model, folder, "sound")
    assert read.on
    tensors[max(tensors)][1, 0] = torch.inf
    save_file(tensors, path)
    with pytest.raises(BadModelFile, match="holds what is no number"):
        add_adapter(model, folder)


def test_the_same_adapter_is_not_added_twice(model: Path, tmp_path: Path) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    add_adapter(model, folder)
    switch_adapter(model, "poet", on=False)
    with pytest.raises(EngineError, match="there already, as poet, and is switched off"):
        add_adapter(model, folder, "again")


def test_one_matrix_of_another_shape_is_damage_and_no_other_model(model: Path, tmp_path: Path) -> None:
    folder, _ = trained(model, tmp_path / "poet")
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    name = next(name for name in tensors if "lora_A" in name)
    save_file({**tensors, name: tensors[name][:, :40].contiguous()}, path)
    with pytest.raises(BadModelFile, match=r"adapter poet is damaged .*has another shape"):
        add_adapter(model, folder)


def test_a_folder_that_is_no_adapter_is_told_so(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadModelFile, match=r"holds no adapter_config\.json, so it is no adapter"):
        add_adapter(model, tmp_path / "empty")


def test_numbers_that_became_none_are_found_at_load(model: Path, tmp_path: Path) -> None:
    add_adapter(model, trained(model, tmp_path / "poet")[0])
    path = model / ADAPTERS / "poet" / "adapter_model.safetensors"
    tensors = load_file(path)
    name = next(iter(tensors))
    save_file({**tensors, name: tensors[name] * torch.nan}, path)
    with pytest.raises(BadModelFile, match="poet holds what is no number; switch it off"):
        logits_of(model)


def test_a_copy_that_is_gone_is_told_and_can_be_switched_off(model: Path, tmp_path: Path) -> None:
    add_adapter(model, trained(model, tmp_path / "poet")[0])
    shutil.rmtree(model / ADAPTERS / "poet")
    with pytest.raises(BadModelFile, match="adapter poet of tiny cannot be read; switch it off"):
        Merge.of(model)
    switch_adapter(model, "poet", on=False)
    assert Merge.of(model).key == ""
    assert remove_adapter(model, "poet") == 0


def test_the_command_adds_lists_switches_and_removes(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Paths(tmp_path, tmp_path / "config", tmp_path / "cache", tmp_path / "logs")
    folder, wanted = trained(model, tmp_path / "Das Gedicht é")
    assert run(["adapter", "add", "tiny", f"{folder}/", "--name", "poet"], paths) == 0
    assert run(["adapter", "add", "tiny", str(folder), "--name", "poet"], paths) == 2
    assert run(["adapter", "off", "tiny", "poet"], paths) == 0
    assert run(["adapter", "list", "tiny", "--json"], paths) == 0
    said = capsys.readouterr().out
    assert json.loads(said[said.index("[") :])[0] | {"nbytes": 0} == {
        "name": "poet",
        "on": False,
        "nbytes": 0,
        "matrices": 21,
        "base": str(model),
    }
    assert run(["adapter", "on", "tiny", "poet"], paths) == 0
    engine = Engine(FLOATS, paths.cache)
    engine.load(Registry(paths.models).find("tiny"))
    assert engine._model is not None
    runner = engine._model.runner
    torch.testing.assert_close(runner.prefill(IDS, runner.new_cache(), keep=len(IDS)), wanted, rtol=1e-4, atol=1e-4)
    engine.unload()
    assert run(["adapter", "remove", "tiny", "poet"], paths) == 0
    assert run(["adapter", "on", "tiny", "poet"], paths) == 2
    assert "tiny has no adapter named poet; it has none." in capsys.readouterr().err
