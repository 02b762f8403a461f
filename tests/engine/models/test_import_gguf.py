"""A GGUF file made from a transformers model, imported, is that model again."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize, quantize
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.chat import RequestHandle
from engine.errors import BadModelFile, Cancelled, DiskFull, EngineError, UnsupportedModel
from engine.models import import_gguf as importer
from engine.models import weight_files
from engine.models.files import need_room
from engine.models.gguf_config import config_of
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_weights import READABLE, weights_of
from engine.models.import_gguf import import_gguf
from engine.models.model_folder import Imported, unfinished_folder
from tests.engine.models.gguf_files import ARCH, finish, write_gguf

TinyModel = Callable[..., Path]
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ARCH},
    # Which layers slide (Gemma 2) or have no rotary embedding (SmolLM3) is not in the file: every 2nd, every 4th.
    "gemma2": ("gemma2", {"layer_types": ["sliding_attention", "full_attention"] * 2}),
    "smollm3": ("smollm3", {"num_hidden_layers": 5, "no_rope_layer_interval": 4}),
    "gemma3 with a window of 5": ("gemma3_text", {"sliding_window": 5}),
    "gemma3 with linear scaling": (
        "gemma3_text",
        {
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            }
        },
    ),
    "llama with its own head": ("llama", {"tie_word_embeddings": False}),
    "llama with biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "llama with yarn": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "factor": 4.0,
                "rope_theta": 1e4,
                "original_max_position_embeddings": 128,
            }
        },
    ),
    "phi3 with a part rotated": (
        "phi3",
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}},
    ),
    "phi3 with a window": ("phi3", {"sliding_window": 7}),
}


def run_import(source: Path, folder: Path) -> Imported:
    folder.mkdir()
    return finish(import_gguf(source, folder, "Tiny", RequestHandle("test")))


def logits(folder: Path) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.arange(3, 63).remainder(267)[None]
    with torch.no_grad():
        return model(ids).logits[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_imported_model_gives_the_same_logits(variant: str, tiny_model: TinyModel, tmp_path: Path) -> None:
    family, changes = VARIANTS[variant]
    source = tiny_model(family, **changes)
    imported = run_import(write_gguf(source, tmp_path / "tiny.gguf"), tmp_path / "model")
    expected = logits(source)
    assert (logits(tmp_path / "model") - expected).abs().max() < 1e-4
    assert expected.std() > 0.1, "the comparison would not see a difference"
    assert imported.parameters == AutoModelForCausalLM.from_pretrained(source).num_parameters()


def test_llama3_scaling_is_found_again_from_its_factors(tiny_model: TinyModel, tmp_path: Path) -> None:
    source = tiny_model("llama", head_dim=64, rope_parameters=LLAMA3, max_position_embeddings=16384)
    factors = llama3_factors(64)
    assert len(set(factors.tolist())) > 1 and factors.max() == 8
    file = write_gguf(source, tmp_path / "tiny.gguf", extra={"rope_freqs.weight": factors})
    run_import(file, tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["rope_parameters"] == LLAMA3
    assert (logits(tmp_path / "model") - logits(source)).abs().max() < 1e-4


def llama3_factors(head_dim: int) -> np.ndarray:
    """As llama.cpp's conversion script computes them, one frequency at a time."""
    factors = []
    for frequency in 1.0 / (10000.0 ** (np.arange(0, head_dim, 2) / head_dim)):
        wavelength = 2 * np.pi / frequency
        if wavelength < 8192 / 4.0:
            factors.append(1.0)
        elif wavelength > 8192 / 1.0:
            factors.append(8.0)
        else:
            smooth = (8192 / wavelength - 1.0) / (4.0 - 1.0)
            factors.append(1 / ((1 - smooth) / 8.0 + smooth))
    return np.array(factors, np.float32)


def test_unknown_scaling_factors_are_refused(tiny_model: TinyModel, tmp_path: Path) -> None:
    odd = np.linspace(1, 9, 8, dtype=np.float32)
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra={"rope_freqs.weight": odd})
    with pytest.raises(UnsupportedModel, match="scales its positions"):
        run_import(file, tmp_path / "model")


def test_scaling_factors_in_a_form_that_none_are_kept_in(tiny_model: TinyModel, tmp_path: Path) -> None:
    name = b"rope_freqs.weight"
    extra = {name.decode(): np.ones(8, np.float32)}
    data = bytearray(write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra=extra).read_bytes())
    struct.pack_into("<I", data, data.index(name) + len(name) + 12, GGMLQuantizationType.I8)
    (tmp_path / "lie.gguf").write_bytes(data)
    with pytest.raises(BadModelFile, match=r"the shape of rope_freqs\.weight"):
        run_import(tmp_path / "lie.gguf", tmp_path / "model")


def test_scaling_factors_that_are_no_numbers(tiny_model: TinyModel, tmp_path: Path) -> None:
    extra = {"rope_freqs.weight": np.full(8, np.nan, np.float32)}
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra=extra)
    with pytest.raises(BadModelFile, match=r"weights are damaged \(rope_freqs\.weight\)"):
        run_import(file, tmp_path / "model")


def test_phi3_long_factors_arrive_in_the_config(tiny_model: TinyModel, tmp_path: Path) -> None:
    rope = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "partial_rotary_factor": 1.0,
        "long_factor": [1.0 + 0.25 * i for i in range(8)],
        "short_factor": [1.0 + 0.125 * i for i in range(8)],
        "original_max_position_embeddings": 128,
        "factor": 4.0,
        "attention_factor": 1.1338934190276817,
    }
    source = tiny_model("phi3", rope_parameters=rope, original_max_position_embeddings=128)
    extra = {
        "rope_factors_long.weight": np.array(rope["long_factor"], np.float32),
        "rope_factors_short.weight": np.array(rope["short_factor"], np.float32),
    }
    run_import(write_gguf(source, tmp_path / "tiny.gguf", extra=extra), tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["rope_parameters"] == rope
    assert (logits(tmp_path / "model") - logits(source)).abs().max() < 1e-4


@pytest.mark.parametrize("name", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_packed_weights_arrive_exactly(name: str, tiny_model: TinyModel, tmp_path: Path) -> None:
    packing = GGMLQuantizationType[name]
    file = write_gguf(tiny_model("qwen2"), tmp_path / "tiny.gguf", packing)
    run_import(file, tmp_path / "model")
    weights = load_file(tmp_path / "model" / "model.safetensors")
    stored = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    for ours, theirs in {"mlp.down_proj": "ffn_down", "self_attn.q_proj": "attn_q"}.items():
        tensor = stored[f"blk.1.{theirs}.weight"]
        assert tensor.tensor_type == packing
        expected = dequantize(tensor.data, packing)
        np.testing.assert_array_equal(weights[f"model.layers.1.{ours}.weight"], expected)


def test_packed_rows_can_be_had_in_the_order_of_transformers(tiny_model: TinyModel, tmp_path: Path) -> None:
    """Kernels repack the blocks as they are: rows change place as a whole, so no number changes."""
    packing = GGMLQuantizationType.Q4_1
    source = tiny_model("llama")
    original = load_file(source / "model.safetensors")
    with open_gguf(write_gguf(source, tmp_path / "tiny.gguf", packing)) as file:
        weights = {weight.name: weight for weight in weights_of(file, config_of(file))}
        for part in ("self_attn.q_proj", "self_attn.k_proj", "mlp.up_proj"):
            name = f"model.layers.2.{part}.weight"
            blocks = weights[name].blocks(0, weights[name].shape[0])
            np.testing.assert_array_equal(blocks, quantize(original[name], packing))
        del weights, blocks


def test_every_packing_called_readable_can_be_unpacked() -> None:
    for packing in READABLE:
        block, size = GGML_QUANT_SIZES[packing]
        assert dequantize(np.zeros((2, size), np.uint8), packing).shape == (2, block)


def test_the_tokenizer_template_and_end_tokens_come_along(tiny_model: TinyModel, tmp_path: Path) -> None:
    source = tiny_model("llama")
    run_import(write_gguf(source, tmp_path / "tiny.gguf"), tmp_path / "model")
    theirs, ours = AutoTokenizer.from_pretrained(source), AutoTokenizer.from_pretrained(tmp_path / "model")
    for text in ("the other thing<|im_end|>\n", "naïve 12345  \t你好 🎉", "<|im_start|>user\n"):
        assert ours(text).input_ids == theirs(text).input_ids
        assert ours.decode(ours(text).input_ids) == text
    assert ours.chat_template == theirs.chat_template
    assert (ours.bos_token_id, ours.eos_token_id, ours.pad_token_id) == (0, 2, 0)
    assert json.loads((tmp_path / "model" / "generation_config.json").read_text())["eos_token_id"] == [2, 0]


def test_large_models_are_stored_in_16_bits_and_in_shards(
    tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "SMALL_MODEL", 1)
    monkeypatch.setattr(weight_files, "SHARD_BYTES", 50_000)
    source = tiny_model("llama")
    run_import(write_gguf(source, tmp_path / "tiny.gguf"), tmp_path / "model")
    index = json.loads((tmp_path / "model" / "model.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) > 2
    reference = AutoModelForCausalLM.from_pretrained(source)
    for dtype, packing in ((torch.bfloat16, "F32"), (torch.float16, "F16")):
        folder = tmp_path / packing
        run_import(write_gguf(source, tmp_path / f"{packing}.gguf", GGMLQuantizationType[packing]), folder)
        model = AutoModelForCausalLM.from_pretrained(folder)
        assert model.dtype == dtype
        for (name, ours), theirs in zip(model.named_parameters(), reference.parameters(), strict=True):
            assert torch.equal(ours, theirs.to(dtype)), name


def test_bfloat16_rounds_as_torch_does() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 100_000, np.uint32)
    values = np.concatenate([bits.view(np.float32), np.float32([0, -0.0, np.inf, -np.inf, 3.4e38])])
    ours = torch.from_numpy(weight_files._bfloat16(values).view(np.int16)).view(torch.bfloat16)
    theirs = torch.from_numpy(values).to(torch.bfloat16)
    number = ~torch.isnan(theirs)
    assert torch.equal(ours[number], theirs[number])
    assert torch.isnan(ours[~number]).all()


def test_an_unsupported_architecture_is_named(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "mamba.gguf", "mamba")
    writer.add_block_count(1)
    _close(writer)
    with pytest.raises(UnsupportedModel) as caught:
        run_import(tmp_path / "mamba.gguf", tmp_path / "model")
    assert "mamba" in caught.value.sentence and "llama, mistral, qwen2" in caught.value.sentence


def _close(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_tensor_without_a_place_is_refused(tiny_model: TinyModel, tmp_path: Path) -> None:
    extra = {"blk.0.attn_sinks.weight": np.ones(4, np.float32)}
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra=extra)
    with pytest.raises(UnsupportedModel, match="attn_sinks"):
        run_import(file, tmp_path / "model")


def test_a_wrong_shape_is_refused(tiny_model: TinyModel, tmp_path: Path) -> None:
    extra = {"output_norm.weight": np.ones(32, np.float32)}
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra=extra)
    with pytest.raises(BadModelFile, match="shape of output_norm"):
        run_import(file, tmp_path / "model")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(bad: float, tiny_model: TinyModel, tmp_path: Path) -> None:
    weights = np.ones(64, np.float32)
    weights[5] = bad
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", extra={"output_norm.weight": weights})
    with pytest.raises(BadModelFile, match=r"weights are damaged \(output_norm\.weight\)"):
        run_import(file, tmp_path / "model")


@pytest.mark.parametrize("key", ["llama.block_count", "llama.attention.head_count", "llama.attention.key_length"])
@pytest.mark.parametrize("value", [0, 2**31, 2**32 - 1])
def test_a_size_that_lies_takes_no_memory(key: str, value: int, tiny_model: TinyModel, tmp_path: Path) -> None:
    data = bytearray(write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf").read_bytes())
    struct.pack_into("<I", data, data.index(key.encode() + struct.pack("<I", 4)) + len(key) + 4, value)
    (tmp_path / "lie.gguf").write_bytes(data)
    with pytest.raises(BadModelFile, match=r"contradicts itself|does not describe"):
        run_import(tmp_path / "lie.gguf", tmp_path / "model")


@pytest.fixture(scope="module")
def sound(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tiny_model("gemma3_text"), tmp_path_factory.mktemp("sound") / "sound.gguf")


@given(st.lists(st.tuples(st.integers(24, 20_000), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
def test_changed_metadata_never_crashes(sound: Path, changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(sound.read_bytes())
    for place, change in changes:
        data[place : place + len(change)] = change
    changed, folder = sound.with_name("changed.gguf"), sound.with_name("model")
    changed.write_bytes(data)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run_import(changed, folder)
    except EngineError as error:
        assert error.sentence.endswith(".")


def test_a_mixture_of_experts_is_refused(tiny_model: TinyModel, tmp_path: Path) -> None:
    def tokenizer(writer: gguf.GGUFWriter, size: int) -> None:
        writer.add_expert_count(8)

    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", tokenizer=tokenizer)
    with pytest.raises(UnsupportedModel, match="mixture of experts"):
        run_import(file, tmp_path / "model")


def test_a_file_without_tokenizer_is_refused(tiny_model: TinyModel, tmp_path: Path) -> None:
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf", tokenizer=lambda writer, size: None)
    with pytest.raises(BadModelFile, match="holds no tokenizer"):
        run_import(file, tmp_path / "model")


def test_an_import_can_be_cancelled_at_every_step(tiny_model: TinyModel, tmp_path: Path) -> None:
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    (tmp_path / "all").mkdir()
    total = len(list(import_gguf(file, tmp_path / "all", "Tiny", RequestHandle("test"))))
    for number in (1, 2, total // 2, total - 1):
        folder = tmp_path / f"cancelled-{number}"
        folder.mkdir()
        handle = RequestHandle("test")
        steps = import_gguf(file, folder, "Tiny", handle)
        for _ in range(number):
            next(steps)
        handle.cancel()
        with pytest.raises(Cancelled):
            next(steps)


def test_a_full_disk_is_seen_before_anything_is_written(
    tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: _Usage(free=1_000_000))
    with pytest.raises(DiskFull, match="1 MB are free"):
        run_import(file, tmp_path / "model")
    assert list((tmp_path / "model").iterdir()) == []
    models = tmp_path / "models"
    with unfinished_folder(models) as folder, pytest.raises(DiskFull) as told:
        need_room(folder, 200_000_000, "import Tiny")
    assert told.value.sentence.endswith(f"it needs 267 MB in {models}, and 1 MB are free.")


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free


def test_progress_grows_to_its_end(tiny_model: TinyModel, tmp_path: Path) -> None:
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    (tmp_path / "model").mkdir()
    all_steps = list(import_gguf(file, tmp_path / "model", "Tiny", RequestHandle("test")))
    steps = [step for step in all_steps if step.sentence.startswith("Importing")]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == steps[-1].total > 0
    assert steps[-1].sentence == "Importing Tiny: 100 %"
