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
from engine.errors import BadModelFile, UnsupportedModel
from engine.events import Finished
from engine.kernels.formats import Kind
from engine.kernels.store import load_packed, packed_path
from engine.kernels.weights import KernelWeights
from engine.models import import_prequantised, note_quality
from engine.models.import_folder import import_folder
from engine.models.model_folder import Imported, read_manifest
from engine.models.quality import read_quality
from engine.models.registry import Registry
from engine.paths import Paths
from engine.prompt import load_prompt_builder
from engine.runners import choose_runner
from engine.tokenizer import load_tokenizer
from tests.engine.models.gguf_files import finish
from tests.engine.models.quantised_folders import LINEARS, SCHEMES, Made, awq, bnb_4bit, bnb_8bit, compressed, gptq
from tests.engine.models.test_import_memory import allowed, peak

TinyModel = Callable[..., Path]

DOWN = "model.layers.1.mlp.down_proj"
GATE, UP = "model.layers.1.mlp.gate_proj", "model.layers.1.mlp.up_proj"
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


def run_import(folder: Path, target: Path, weights: str = "") -> Imported:
    target.mkdir()
    return finish(import_folder(folder, target, "Tiny", RequestHandle("test"), weights=weights))


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


def refused(made: Made, source: Path, tmp_path: Path) -> str:
    """The sentence of an import that fails."""
    folder = made.write(source, tmp_path / "My Model")
    with pytest.raises((BadModelFile, UnsupportedModel)) as caught:
        run_import(folder, tmp_path / "imported")
    assert caught.value.sentence.endswith(".")
    return caught.value.sentence


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"quant_method": "hqq"}, "quantised by hqq"),
        ({"quant_method": "mxfp4"}, "quantised by mxfp4"),
        ({"bits": 4}, "an unknown method"),
        ("odd", "an unknown method"),
    ],
)
def test_an_unknown_scheme_is_refused_by_its_name(config: Any, named: str, source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.config = config
    sentence = refused(made, source, tmp_path)
    assert named in sentence and "get it as GPTQ, AWQ or bitsandbytes" in sentence


@pytest.mark.parametrize(
    ("make", "change", "named"),
    [
        (gptq, {"checkpoint_format": "marlin"}, "the GPTQ format marlin"),
        (awq, {"version": "gemv_fast"}, "AWQ gemv_fast in 4 bits"),
        (awq, {"bits": 3}, "AWQ gemm in 3 bits"),
        (compressed, {"format": "float-quantized"}, "compressed-tensors float-quantized"),
        (compressed, {"sparsity_config": {"format": "sparse-24-bitmask"}}, "sparse-24-bitmask"),
        (gptq, {"group_size": "many"}, "makes no sense"),
    ],
)
def test_a_variant_that_is_not_read_is_named(
    make: Callable[[Path], Made], change: dict[str, Any], named: str, source: Path, tmp_path: Path
) -> None:
    made = make(source)
    made.config |= change
    assert named in refused(made, source, tmp_path)


MISSING = [
    (gptq, f"{DOWN}.scales"),
    (gptq, f"{DOWN}.qzeros"),
    (awq, f"{DOWN}.scales"),
    (awq, f"{DOWN}.qzeros"),
    (bnb_4bit, f"{DOWN}.weight.absmax"),
    (bnb_4bit, f"{DOWN}.weight.quant_map"),
    (bnb_4bit, f"{DOWN}.weight.nested_absmax"),
    (bnb_4bit, f"{DOWN}.weight"),
    (bnb_8bit, f"{DOWN}.weight"),
    (compressed, f"{DOWN}.weight_scale"),
    (compressed, f"{DOWN}.weight_shape"),
]


@pytest.mark.parametrize(("make", "part"), MISSING, ids=lambda value: getattr(value, "__name__", value))
def test_a_missing_part_is_named(make: Callable[[Path], Made], part: str, source: Path, tmp_path: Path) -> None:
    made = make(source)
    del made.tensors[part]
    sentence = refused(made, source, tmp_path)
    assert f"lacks a part of its quantised weights ({part})" in sentence


@pytest.mark.parametrize("part", ["qweight", "qzeros", "scales", "g_idx"])
@pytest.mark.parametrize("cut", [lambda t: t[:-1], lambda t: t.flatten()[:0], lambda t: t.double()])
def test_odd_shapes_of_gptq(part: str, cut: Callable[..., torch.Tensor], source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.{part}"] = cut(made.tensors[f"{DOWN}.{part}"])
    if part == "scales" and made.tensors[f"{DOWN}.scales"].dtype == torch.float64:
        run_import(made.write(source, tmp_path / "My Model"), tmp_path / "imported")  # more precise, and as good
        return
    assert "do not fit each other" in refused(made, source, tmp_path)


@pytest.mark.parametrize("part", ["qweight", "qzeros", "scales"])
def test_odd_shapes_of_awq(part: str, source: Path, tmp_path: Path) -> None:
    made = awq(source)
    made.tensors[f"{DOWN}.{part}"] = made.tensors[f"{DOWN}.{part}"][:, :-1]
    assert "do not fit each other" in refused(made, source, tmp_path)


ODD_BNB: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "weight": lambda tensor: tensor[:-1],
    "weight.absmax": lambda tensor: tensor[:-1],
    "weight.quant_map": lambda tensor: tensor[:-1],
    "weight.nested_absmax": lambda tensor: torch.cat([tensor, tensor]),
    "weight.nested_quant_map": lambda tensor: tensor[:200],
    "weight.quant_state.bitsandbytes__nf4": lambda tensor: tensor[:-2],
}


@pytest.mark.parametrize("part", ODD_BNB)
def test_odd_shapes_of_bitsandbytes(part: str, source: Path, tmp_path: Path) -> None:
    made = bnb_4bit(source)
    made.tensors[f"{DOWN}.{part}"] = ODD_BNB[part](made.tensors[f"{DOWN}.{part}"])
    assert "do not fit each other" in refused(made, source, tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        {"shape": [64, 128], "blocksize": 0},
        {"shape": [-64, 128], "blocksize": 64},
        {"shape": [64], "blocksize": 64},
        {"shape": "wide", "blocksize": 64},
        {"shape": [2**60, 2**60], "blocksize": 64},
        {"shape": [64, 128], "blocksize": 64, "nested_blocksize": 256, "nested_offset": float("nan")},
        [],
        None,
    ],
)
def test_a_state_of_bitsandbytes_that_lies(said: Any, source: Path, tmp_path: Path) -> None:
    made = bnb_4bit(source)
    text = json.dumps(said).encode()
    made.tensors[f"{DOWN}.weight.quant_state.bitsandbytes__nf4"] = torch.tensor(list(text), dtype=torch.uint8)
    assert "do not fit each other" in refused(made, source, tmp_path)


def test_a_matrix_of_another_size_than_the_architecture_has(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    for part in ("qweight", "qzeros", "scales", "g_idx"):
        made.tensors[f"{DOWN}.{part}"] = made.tensors[f"{UP}.{part}"].clone()
    assert "do not fit together" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq, compressed, bnb_8bit])
def test_matrices_of_nothing(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    for name in [name for name in made.tensors if name.startswith(f"{DOWN}.") and not name.endswith("_format")]:
        made.tensors[name] = made.tensors[name][:0]
    refused(made, source, tmp_path)


def test_a_weight_that_is_there_twice_is_taken_quantised(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.weight"] = torch.zeros(64, 128)
    run_import(made.write(source, tmp_path / "tiny"), tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


@pytest.mark.parametrize("group", [-1, 4, 2**31 - 1])
def test_groups_that_are_not_there(group: int, source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.g_idx"][7] = group
    assert "name groups that are not there" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq])
def test_groups_that_do_not_divide_a_row(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    made.config["group_size"] = 48
    for name in [name for name in made.tensors if name.endswith(".g_idx")]:
        del made.tensors[name]
    assert "groups of 48 in rows of 128" in refused(made, source, tmp_path)


def test_columns_in_order_need_no_list_of_groups(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    for name in [name for name in made.tensors if name.endswith(".g_idx")]:
        del made.tensors[name]
    run_import(made.write(source, tmp_path / "tiny"), tmp_path / "model")
    ours = load_file(tmp_path / "model" / "model.safetensors")
    assert torch.equal(ours[f"{DOWN}.weight"], made.floats[f"{DOWN}.weight"])


def test_other_numbers_of_bits_are_named(source: Path, tmp_path: Path) -> None:
    made = gptq(source)
    made.tensors[f"{DOWN}.qzeros"] = made.tensors[f"{DOWN}.qzeros"][:, :4]
    assert "by GPTQ in 2 bits" in refused(made, source, tmp_path)


@pytest.mark.parametrize("make", [gptq, awq])
def test_scales_that_are_no_numbers(make: Callable[[Path], Made], source: Path, tmp_path: Path) -> None:
    made = make(source)
    made.tensors[f"{DOWN}.scales"][0, 0] = float("inf")
    assert f"are damaged ({DOWN}.weight)" in refused(made, source, tmp_path)


def test_weights_that_are_not_quantised_after_all(source: Path, tmp_path: Path) -> None:
    made = Made(gptq(source).config, load_file(source / "model.safetensors"))
    assert "none of its weights is" in refused(made, source, tmp_path)


def test_scaled_activations_are_refused(source: Path, tmp_path: Path) -> None:
    made = awq(source)
    made.tensors["model.layers.0.mlp.act.scales"] = torch.ones(128)
    assert "scales its activations" in refused(made, source, tmp_path)


def test_codes_in_the_order_of_a_gpu_are_refused(source: Path, tmp_path: Path) -> None:
    made = bnb_8bit(source)
    made.tensors[f"{DOWN}.weight_format"] = torch.tensor(2, dtype=torch.uint8)
    assert "order of one kind of GPU" in refused(made, source, tmp_path)


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
