"""Checkpoints that came quantised: weights arrive as the scheme's own program reads them, or a sentence says why."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from engine.bench.text import prose
from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig, SamplingParams
from engine.decoder import DecoderConfig
from engine.decoder.checkpoint import read_json
from engine.device import choose_device
from engine.engine import Engine
from engine.errors import BadModelFile
from engine.events import Finished
from engine.kernels.formats import Kind
from engine.kernels.store import load_packed, packed_path
from engine.kernels.weights import KernelWeights
from engine.models import import_prequantised, note_quality
from engine.models.model_folder import read_manifest
from engine.models.quality import read_quality
from engine.models.registry import Registry
from engine.paths import Paths
from engine.prompt import load_prompt_builder
from engine.runners import choose_runner
from engine.tokenizer import load_tokenizer
from tests.engine.models.gguf_files import finish
from tests.engine.models.quantised_folders import (
    DOWN,
    GATE,
    LINEARS,
    SCHEMES,
    UP,
    Made,
    awq,
    bnb_4bit,
    gptq,
    run_import,
)
from tests.engine.models.test_import_memory import allowed, peak

TinyModel = Callable[..., Path]

# Codes that the kernels' layout holds as they came; the others are quantised again.
REPACKED = {
    "gptq": Kind.Q4A,
    "gptq, symmetric": Kind.Q4S,
    "gptq, version 2": Kind.Q4A,
    "gptq, groups of 64": Kind.Q4A,
    "gptq, a group a row": Kind.Q4A,
    "gptq, 8 bits, symmetric": Kind.Q8,
    "awq": Kind.Q4A,
    "awq, groups of 64": Kind.Q4A,
    "bitsandbytes int8": Kind.Q8,
    "compressed-tensors": Kind.Q4S,
    "compressed-tensors, zero points": Kind.Q4A,
    "compressed-tensors, 8 bits": Kind.Q8,
    "compressed-tensors, int8": Kind.Q8,
}


@pytest.fixture(scope="module")
def source(tiny_model: TinyModel) -> Path:
    return tiny_model("llama")


@pytest.fixture(scope="module")
def checkpoints(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Made]]:
    """The folder of a scheme, made once."""
    made: dict[str, tuple[Path, Made]] = {}

    def make(scheme: str) -> tuple[Path, Made]:
        if scheme not in made:
            checkpoint = SCHEMES[scheme](source)
            made[scheme] = checkpoint.write(source, tmp_path_factory.mktemp("quantised") / "model"), checkpoint
        return made[scheme]

    return make


def packed(folder: Path, weights: str) -> KernelWeights:
    return load_packed(packed_path(folder, weights), DecoderConfig.from_json(read_json(folder / "config.json")))


def logits(folder: Path, ids: list[int]) -> torch.Tensor:
    """transformers' in float32."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    # With gradients: without, bitsandbytes computes in bfloat16 where the processor can.
    return model(torch.tensor([ids])).logits[0].detach()


def greedy(folder: Path, ids: list[int], count: int) -> list[int]:
    """transformers' tokens after `ids`, in float32."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    said: list[int] = []
    with torch.no_grad():
        for _ in range(count):
            said.append(int(model(torch.tensor([ids + said])).logits[0, -1].argmax()))
    return said


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_are_unpacked_exactly_and_packed_in_their_own_codes(
    scheme: str, checkpoints: Any, tmp_path: Path
) -> None:
    folder, made = checkpoints(scheme)
    imported = run_import(folder, tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert ours.keys() == made.floats.keys()
    for name, expected in made.floats.items():
        assert torch.allclose(ours[name].float(), expected.float(), rtol=1e-6, atol=1e-8), name
    assert imported.parameters == sum(tensor.numel() for tensor in made.floats.values())
    assert "quantization_config" not in json.loads((tmp_path / "model" / "config.json").read_text())
    eight = "8" in scheme.replace("bitsandbytes", "")
    assert imported.weights == ("int8" if eight else "int4")
    layer = packed(tmp_path / "model", imported.weights).layers[1]
    assert layer.down.matrix.kind is REPACKED.get(scheme, Kind.Q8 if eight else Kind.Q4A)
    # As they came, what is rounded is a scale, or its product with a zero point; packed again, it is half a step.
    far = (0.07 if eight else 0.01) if scheme in REPACKED else 0.6
    gate_up = torch.cat([made.floats[f"{GATE}.weight"], made.floats[f"{UP}.weight"]])
    for matrix, floats in ((layer.down.matrix, made.floats[f"{DOWN}.weight"]), (layer.gate_up.matrix, gate_up)):
        error = float(np.abs(matrix.dequantize() - floats.numpy()).max())
        step = float(floats.abs().max()) / (127 if eight else 7)
        assert error == 0 if matrix.kind is Kind.Q4S else error < far * step


@pytest.mark.parametrize("scheme", ["gptq, reordered", "nf4, doubly quantised"])
def test_a_chat_says_what_the_unpacked_model_says_in_float32(
    scheme: str, checkpoints: Any, source: Path, tmp_path: Path
) -> None:
    folder, made = checkpoints(scheme)
    entry = finish(Registry(tmp_path / "models").add(folder, RequestHandle("test"), "tiny"))
    engine = Engine(EngineConfig(device="cpu", dtype="float32", save_caches=False), tmp_path / "cache")
    engine.load(entry)
    params = SamplingParams(temperature=0.0, max_tokens=12)
    request = ChatRequest("r", (Message("user", "the 12345"),), params, conversation_id="c")
    done = list(engine.stream(request))[-1]
    engine.unload()
    assert isinstance(done, Finished)
    ids = load_prompt_builder(entry.folder).encode(request)
    floats = made.write_floats(source, tmp_path / "floats")
    assert list(done.token_ids) == greedy(floats, ids, len(done.token_ids))


@pytest.mark.parametrize("scheme", ["nf4", "nf4, doubly quantised", "fp4"])
def test_transformers_says_the_same_of_the_quantised_folder(scheme: str, checkpoints: Any, tmp_path: Path) -> None:
    folder, _ = checkpoints(scheme)
    run_import(folder, tmp_path / "model")
    ids = list(range(3, 67))
    assert torch.allclose(logits(tmp_path / "model", ids), logits(folder, ids), atol=1e-4)


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("scheme", "held"),
    [("gptq", "nf4"), ("nf4, doubly quantised", "nf4"), ("awq", "nf4"), ("bitsandbytes int8", "int8")],
)
def test_a_gpu_holds_it_in_as_many_bits(scheme: str, held: str, checkpoints: Any, tmp_path: Path) -> None:
    """By bitsandbytes, from the floats: NF4 finds the very codes again that it made them of."""
    folder, _ = checkpoints(scheme)
    entry = finish(Registry(tmp_path / "models").add(folder, RequestHandle("test"), "tiny"))
    config = EngineConfig(device="cuda")
    choice = choose_device(config, entry)
    assert choice.format.name == held
    runner = choose_runner(entry.folder, choice, config, tmp_path / "cache", wait=True).runner
    ids = list(range(3, 67))
    got = runner.prefill(ids, runner.new_cache(), keep=16)
    likeness = torch.cosine_similarity(got, logits(entry.folder, ids)[-16:], dim=-1).min()
    assert likeness > (0.99 if scheme in ("nf4, doubly quantised", "bitsandbytes int8") else 0.8)


def test_large_models_stay_in_16_bits(checkpoints: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_prequantised, "SMALL_MODEL", 1)
    folder, made = checkpoints("awq")
    run_import(folder, tmp_path / "model")
    weight = load_file(tmp_path / "model" / "model.safetensors")[f"{DOWN}.weight"]
    assert weight.dtype == torch.bfloat16
    assert torch.equal(weight, made.floats[f"{DOWN}.weight"].bfloat16())


@pytest.mark.parametrize("weights", ["int4", "int8", "none"])
def test_weights_are_held_as_asked(weights: str, checkpoints: Any, tmp_path: Path) -> None:
    folder, _ = checkpoints("gptq, 8 bits, symmetric")
    entry = finish(Registry(tmp_path / "models").add(folder, RequestHandle("test"), "tiny", weights=weights))
    assert entry.weights == weights
    manifest = read_manifest(entry.folder)
    assert manifest is not None and manifest.weights == weights
    files = [path.name for path in entry.folder.glob("packed-*")]
    assert files == ([] if weights == "none" else [f"packed-{weights}.safetensors"])
    if weights == "int4":
        assert packed(entry.folder, weights).layers[0].down.matrix.kind is Kind.Q4A


def test_what_packing_cost_is_noted(checkpoints: Any, tmp_path: Path) -> None:
    folder, _ = checkpoints("gptq, reordered")
    run_import(folder, tmp_path / "model")
    noted = read_quality(tmp_path / "model")
    assert noted is not None and noted.weights == "int4" and noted.tokens == 256
    assert 0 < abs(noted.packed / noted.floats - 1) < 0.05
    assert noted.sentence.startswith(f"As it came, its mean NLL over 256 tokens is {noted.floats:.3f}; packed in int4")
    ids = load_tokenizer(tmp_path / "model").encode(prose())[: noted.tokens]
    expected = torch.nn.functional.cross_entropy(logits(tmp_path / "model", ids)[:-1], torch.tensor(ids[1:]))
    assert abs(noted.floats - float(expected)) < 1e-3


def test_nothing_is_measured_of_a_very_large_model(
    checkpoints: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note_quality, "LARGEST", 1)
    run_import(checkpoints("awq")[0], tmp_path / "model")
    assert read_quality(tmp_path / "model") is None


@pytest.mark.parametrize(("name", "make"), [("quantize_config.json", gptq), ("quant_config.json", awq)])
def test_older_checkpoints_say_it_in_a_file_of_their_own(
    name: str, make: Callable[[Path], Made], source: Path, tmp_path: Path
) -> None:
    made = make(source)
    folder = made.write(source, tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text())
    said = {key: value for key, value in config.pop("quantization_config").items() if key != "quant_method"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / name).write_text(json.dumps(said))
    run_import(folder, tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])
    (folder / name).write_text("{")
    with pytest.raises(BadModelFile, match=f"The file {name} in tiny cannot be read"):
        run_import(folder, tmp_path / "again")


def test_codes_may_be_declared_as_floats(source: Path, tmp_path: Path) -> None:
    """bitsandbytes' `bnb_4bit_quant_storage`: the same bytes under another dtype."""
    made = bnb_4bit(source)
    held = made.tensors[f"{DOWN}.weight"]
    made.tensors[f"{DOWN}.weight"] = held.reshape(-1).view(torch.bfloat16)[:, None]
    run_import(made.write(source, tmp_path / "tiny"), tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


def test_shards_may_hold_parts_of_one_weight(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    folder = made.write(source, tmp_path / "tiny")
    (folder / "model.safetensors").unlink()
    names = sorted(made.tensors)
    places = {name: f"model-0000{1 + n % 2}-of-00002.safetensors" for n, name in enumerate(names)}
    for shard in set(places.values()):
        save_file({name: made.tensors[name].contiguous() for name in names if places[name] == shard}, folder / shard)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    run_import(folder, tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of the most memory that was held")
def test_the_memory_of_an_import(model_home: Paths, tmp_path: Path) -> None:
    """Random codes of 4 bits in the sizes of the default model, as AWQ."""
    default = Registry(model_home.models).find(None).folder
    made = Made({"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemm"})
    for name, tensor in load_file(default / "model.safetensors").items():
        prefix = name.removesuffix(".weight")
        if prefix.rpartition(".")[2] not in LINEARS:
            made.tensors[name] = tensor.half()
            continue
        rows, columns = tensor.shape
        made.tensors[f"{prefix}.qweight"] = torch.randint(-(2**31), 2**31 - 1, (columns, rows // 8), dtype=torch.int32)
        made.tensors[f"{prefix}.qzeros"] = torch.full((columns // 64, rows // 8), 0x77777777, dtype=torch.int32)
        made.tensors[f"{prefix}.scales"] = torch.full((columns // 64, rows), 0.005, dtype=torch.float16)
    source = tmp_path / "default"
    source.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(default / name, source)
    folder = made.write(source, tmp_path / "awq")
    del made
    assert peak(folder, tmp_path / "models") < allowed((folder / "model.safetensors").stat().st_size)
