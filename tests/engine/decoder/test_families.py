"""Every family gives the logits that transformers gives, however the tokens come in."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.decoder import FAMILIES, load_decoder
from tests.engine.decoder.conftest import TOKENS, TOLERANCE

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 128}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": [1.0, 1.5, 2.0, 2.5],
    "long_factor": [9.0] * 4,
    "factor": 2.0,
    "partial_rotary_factor": 0.5,
}
GEMMA3_ROPES = {
    "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{family: (family, {}) for family in FAMILIES},
    "llama with biases": ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False}),
    "llama without shared heads": ("llama", {"num_key_value_heads": 4}),
    "llama with one key head, wide heads": ("llama", {"num_key_value_heads": 1, "head_dim": 24}),
    "llama 3 positions": ("llama", {"rope_parameters": LLAMA3}),
    "linear positions": ("llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}}),
    "dynamic positions": ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}}),
    "yarn positions": ("qwen2", {"rope_parameters": YARN}),
    "mistral with a window": ("mistral", {"sliding_window": 16}),
    "qwen2 with a window": ("qwen2", {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}),
    "qwen3 with biases": ("qwen3", {"attention_bias": True}),
    "gemma2 without caps": ("gemma2", {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    "gemma3 scaled": ("gemma3_text", {"rope_parameters": GEMMA3_ROPES, "final_logit_softcapping": 5.0}),
    "phi3 with a window": ("phi3", {"sliding_window": 20, "tie_word_embeddings": True}),
    "phi3 partly rotated": ("phi3", {"partial_rotary_factor": 0.5}),
    "phi3 long": ("phi3", {"rope_parameters": LONGROPE, "original_max_position_embeddings": 256}),
    "smollm3 with a window": (
        "smollm3",
        {"use_sliding_window": True, "sliding_window": 12, "tie_word_embeddings": False},
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request, pair):
    architecture, config = request.param
    return pair(architecture, **config)


def test_prefill_gives_the_logits_of_every_position(case):
    cache = case.runner.new_cache()
    assert case.far_from(case.runner.prefill(case.ids, cache, keep=TOKENS), 0, TOKENS) < TOLERANCE
    assert cache.length == TOKENS


def test_prefill_in_chunks_continues_where_the_last_one_ended(case):
    cache = case.runner.new_cache()
    for start, end in ((0, 1), (1, 10), (10, 31), (31, 32), (32, TOKENS)):
        logits = case.runner.prefill(case.ids[start:end], cache, keep=min(5, end - start))
        assert case.far_from(logits, end - logits.shape[0], end) < TOLERANCE


def test_decode_continues_a_prefill(case):
    cache = case.runner.new_cache()
    case.runner.prefill(case.ids[:10], cache)
    for position in range(10, TOKENS):
        logits = case.runner.decode(case.ids[position], cache)
        assert case.far_from(logits[None], position, position + 1) < TOLERANCE


def test_a_cropped_cache_continues_as_if_nothing_else_had_been_read(case):
    cache = case.runner.new_cache()
    case.runner.prefill(case.ids[:20] + case.ids[:35], cache)
    assert cache.crop(20)
    assert case.far_from(case.runner.prefill(case.ids[20:45], cache, keep=25), 20, 45) < TOLERANCE
    case.runner.decode(7, cache)
    cache.crop(30)
    assert case.far_from(case.runner.decode(case.ids[30], cache)[None], 30, 31) < TOLERANCE


def test_half_precision_is_as_near_as_transformers_in_half_precision(case):
    runner = load_decoder(case.folder, dtype=torch.bfloat16)
    ours = runner.prefill(case.ids, runner.new_cache(), keep=TOKENS)
    with torch.inference_mode():
        theirs = copy.deepcopy(case.model).to(torch.bfloat16)(torch.tensor([case.ids]), use_cache=False).logits[0]
    error, allowed = ((logits - case.logits).abs().mean() for logits in (ours, theirs))
    assert error < 1.3 * allowed


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_decode_in_half_precision_agrees_with_its_prefill(pair, dtype):
    tiny = pair("gemma3_text")
    runner = load_decoder(tiny.folder, dtype=dtype)
    together, apart = runner.new_cache(), runner.new_cache()
    expected = runner.prefill(tiny.ids[:30], together)[0]
    runner.prefill(tiny.ids[:29], apart)
    assert (runner.decode(tiny.ids[29], apart) - expected).abs().max() < 0.1


@pytest.mark.parametrize("kv_dtype", [torch.bfloat16, torch.float16])
def test_keys_and_values_in_half_precision_stay_near(pair, kv_dtype):
    tiny = pair("llama")
    runner = load_decoder(tiny.folder, kv_dtype=kv_dtype)
    cache = runner.new_cache()
    runner.prefill(tiny.ids[:30], cache)
    far = tiny.far_from(runner.decode(tiny.ids[30], cache)[None], 30, 31)
    assert 0 < far < 0.1
    assert runner.kv_bytes_per_token == tiny.runner.kv_bytes_per_token // 2


@pytest.mark.parametrize("architecture", ["gemma2", "gemma3_text", "smollm3"])
def test_a_text_of_many_blocks_gives_the_same(pair, architecture):
    tiny = pair(architecture)
    ids = (tiny.ids * 6)[:331]
    with torch.inference_mode():
        expected = tiny.model(torch.tensor([ids]), use_cache=False).logits[0]
    cache = tiny.runner.new_cache()
    for start, end in ((0, 200), (200, 329)):
        got = tiny.runner.prefill(ids[start:end], cache, keep=end - start)
        assert (got - expected[start:end]).abs().max() < TOLERANCE
    for position in (329, 330):
        assert (tiny.runner.decode(ids[position], cache) - expected[position]).abs().max() < TOLERANCE


def test_the_text_part_of_a_multimodal_model_is_read(tmp_path, pair):
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, SiglipVisionConfig

    tiny = pair("gemma3_text")
    vision = SiglipVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8
    )
    model = Gemma3ForConditionalGeneration(
        Gemma3Config(text_config=tiny.model.config, vision_config=vision, mm_tokens_per_image=4)
    )
    model.model.language_model.load_state_dict(tiny.model.model.state_dict())
    model.tie_weights()
    model.save_pretrained(tmp_path)
    runner = load_decoder(tmp_path)
    assert tiny.far_from(runner.prefill(tiny.ids, runner.new_cache(), keep=TOKENS), 0, TOKENS) < TOLERANCE


def test_a_folder_in_the_format_before_transformers_5_gives_the_same(tmp_path, pair):
    tiny = pair("llama", rope_parameters=LLAMA3)
    shutil.copytree(tiny.folder, tmp_path / "old")
    path: Path = tmp_path / "old" / "config.json"
    config = json.loads(path.read_text())
    scaling = config.pop("rope_parameters")
    path.write_text(json.dumps(config | {"rope_theta": scaling.pop("rope_theta"), "rope_scaling": scaling}))
    runner = load_decoder(tmp_path / "old")
    assert tiny.far_from(runner.prefill(tiny.ids, runner.new_cache(), keep=TOKENS), 0, TOKENS) < TOLERANCE
