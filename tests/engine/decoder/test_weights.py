"""Loading: sharded, memory-mapped, fused; what is missing, foreign or damaged is named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from engine.decoder import linear, load_decoder
from engine.decoder.linear import DenseFactory, DenseLinear, multiply
from engine.errors import BadModelFile
from tests.engine.decoder.conftest import TOKENS, TOLERANCE


@pytest.fixture
def folder(tmp_path, pair) -> Path:
    """A copy of a tiny model that a test may damage."""
    shutil.copytree(pair("qwen3").folder, tmp_path / "copy")
    return tmp_path / "copy"


def change_weights(folder: Path, change) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def test_a_sharded_model_loads_like_a_whole_one(folder, pair):
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    shards = {f"model-0000{i + 1}-of-00002.safetensors": sorted(tensors)[i::2] for i in range(2)}
    for name, names in shards.items():
        save_file({key: tensors[key] for key in names}, folder / name)
    weight_map = {key: name for name, names in shards.items() for key in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    runner = load_decoder(folder)
    tiny = pair("qwen3")
    assert tiny.far_from(runner.prefill(tiny.ids, runner.new_cache(), keep=TOKENS), 0, TOKENS) < TOLERANCE


def test_weights_stored_in_half_precision_are_computed_in_the_dtype_asked_for(folder):
    change_weights(folder, lambda tensors: tensors.update({name: t.bfloat16() for name, t in tensors.items()}))
    runner = load_decoder(folder, dtype=torch.float32)
    assert runner.weights.dtype == torch.float32
    assert runner.prefill([1, 2], runner.new_cache()).isfinite().all()


def test_weight_bytes_counts_every_weight_once(pair):
    tiny = pair("qwen3")  # tied; its query and key norms are held once per head
    repeated = 4 * len(tiny.runner.config.layers) * tiny.runner.config.head_dim * (4 + 2 - 2)
    assert tiny.runner.weight_bytes == 4 * sum(p.numel() for p in tiny.model.parameters()) + repeated


def test_a_factory_gives_the_linears_their_format(pair):
    seen: list[tuple[int, ...]] = []
    dense = DenseFactory(torch.float32, torch.device("cpu"))

    def factory(weights, biases) -> DenseLinear:
        seen.append(tuple(weight.shape[0] for weight in weights))
        return dense(weights, biases)

    tiny = pair("qwen2")
    runner = load_decoder(tiny.folder, factory=factory)
    assert seen == [(64, 32, 32), (64,), (128, 128), (64,)] * 3
    assert tiny.far_from(runner.prefill(tiny.ids, runner.new_cache(), keep=TOKENS), 0, TOKENS) < TOLERANCE


def test_transformers_is_not_needed(pair):
    script = (
        "import sys; from pathlib import Path; from engine.decoder import load_decoder; "
        f"runner = load_decoder(Path({str(pair('llama').folder)!r})); runner.prefill([1, 2], runner.new_cache()); "
        "sys.exit('transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def expect_refusal(folder: Path, detail: str) -> None:
    with pytest.raises(BadModelFile) as raised:
        load_decoder(folder)
    assert raised.value.sentence.endswith("get the model again.")
    assert detail in raised.value.detail


@pytest.mark.parametrize(
    "name",
    ["model.embed_tokens.weight", "model.norm.weight", "model.layers.1.self_attn.k_norm.weight"]
    + [f"model.layers.2.mlp.{part}_proj.weight" for part in ("gate", "up", "down")],
)
def test_a_missing_tensor_is_named(folder, name):
    change_weights(folder, lambda tensors: tensors.pop(name))
    expect_refusal(folder, name.removeprefix("model.").removesuffix(".weight"))


def test_a_tensor_of_another_shape_is_named(folder):
    name = "model.layers.0.self_attn.v_proj.weight"
    change_weights(folder, lambda tensors: tensors.update({name: torch.zeros(3, 64)}))
    expect_refusal(folder, name)


def test_a_tensor_of_whole_numbers_is_no_weight(folder):
    name = "model.layers.0.self_attn.o_proj.weight"
    change_weights(folder, lambda tensors: tensors.update({name: tensors[name].to(torch.int8)}))
    expect_refusal(folder, "int8")


def test_a_config_of_another_size_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": 256}))
    expect_refusal(folder, "mlp.gate_proj")


@pytest.mark.parametrize("size", [0, 5, 2000, -10])
def test_a_truncated_file_is_refused(folder, size):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:size])
    expect_refusal(folder, "")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(BadModelFile, match=name):
        load_decoder(folder)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"weight_map": 3}', '{"weight_map": {"a": "../../b"}}'])
def test_a_damaged_index_is_refused(folder, text):
    (folder / "model.safetensors.index.json").write_text(text)
    expect_refusal(folder, "")


def test_a_shard_that_is_not_there_is_named(folder):
    tensors = load_file(folder / "model.safetensors")
    index = {"weight_map": dict.fromkeys(tensors, "gone.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(BadModelFile, match=r"gone\.safetensors"):
        load_decoder(folder)


@pytest.mark.parametrize("rows", [1, 2, 8, 9, 32, 37, 128, 129, 300])
@pytest.mark.parametrize("biased", [False, True])
def test_the_faster_product_equals_torchs_own(rows, biased):
    generator = torch.Generator().manual_seed(3)
    weight, x = (torch.randn(n, 64, generator=generator) for n in (96, rows))
    bias = torch.randn(96, generator=generator) if biased else None
    got = multiply(x, weight, bias)
    assert got.shape == (rows, 96)
    assert (got - F.linear(x, weight, bias)).abs().max() < 1e-4


def test_the_faster_product_meets_few_shapes_however_long_the_texts(monkeypatch):
    shapes = set()
    product = linear._by_onednn

    def record(x, weight, bias) -> torch.Tensor:
        shapes.add(x.shape[0])
        return product(x, weight, bias)

    monkeypatch.setattr(linear, "_by_onednn", record)
    weight = torch.ones(8, 4)
    for rows in range(1, 257):
        multiply(torch.ones(rows, 4), weight)
    if not linear.uses_onednn(weight):
        pytest.skip("this build of torch has no oneDNN")
    assert shapes == {1, 8, 32, 64, 96, 128, 256}
