"""config.json of each family, old and new, sound and damaged."""

from __future__ import annotations

import copy

import pytest

from engine.decoder import DecoderConfig
from engine.decoder.rope import RopeConfig
from engine.errors import BadModelFile, UnsupportedModel

LLAMA = {
    "model_type": "llama",
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
}
# As published before transformers 5: whatever equals transformers' default is left out.
OLD = {
    "llama": LLAMA | {"rope_theta": 500_000.0, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "llama, scaling set to null": LLAMA | {"rope_scaling": None, "num_key_value_heads": None, "head_dim": None},
    "mistral": LLAMA | {"model_type": "mistral"},
    "qwen2": LLAMA
    | {"model_type": "qwen2", "num_key_value_heads": 2, "use_sliding_window": True, "max_window_layers": 2},
    "qwen3": LLAMA | {"model_type": "qwen3", "num_key_value_heads": 2, "rope_theta": 1e6},
    "gemma2": LLAMA | {"model_type": "gemma2", "hidden_act": "gelu_pytorch_tanh", "num_key_value_heads": 4},
    "gemma3_text": LLAMA
    | {
        "model_type": "gemma3_text",
        "num_hidden_layers": 7,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "rope_local_base_freq": 20_000.0,
        "sliding_window_pattern": 3,
    },
    "phi3": LLAMA
    | {
        "model_type": "phi3",
        "max_position_embeddings": 8192,
        "partial_rotary_factor": 0.5,
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [4.0, 5.0], "factor": 2.0},
    },
    "smollm3": LLAMA | {"model_type": "smollm3", "use_sliding_window": True, "sliding_window": 32},
    "granite": LLAMA | {"model_type": "granite", "attention_multiplier": 0.5, "embedding_multiplier": 12},
}


@pytest.mark.parametrize("old", OLD.values(), ids=OLD.keys())
def test_an_old_config_means_what_transformers_makes_of_it(old):
    from transformers import AutoConfig

    new = AutoConfig.for_model(**copy.deepcopy(old)).to_dict()  # it writes into what it is given
    assert DecoderConfig.from_json(old) == DecoderConfig.from_json(new)


def test_layers_alternate_between_window_and_full_view():
    config = DecoderConfig.from_json(OLD["gemma3_text"])
    assert [layer.window for layer in config.layers] == [4096, 4096, None, 4096, 4096, None, 4096]
    local, whole = (config.ropes[config.layers[index].rope] for index in (0, 2))
    assert (local.theta, local.kind) == (20_000.0, "default")
    assert (whole.theta, whole.kind, whole.factor) == (1_000_000.0, "linear", 8.0)


def test_layers_without_positions_have_no_rotary_embedding():
    config = DecoderConfig.from_json(OLD["smollm3"])
    assert [layer.rope for layer in config.layers] == [0, 0, 0, None]
    assert [layer.window for layer in config.layers] == [None, None, None, 32]


def test_a_stretched_embedding_ends_the_context_where_its_frequencies_change():
    config = DecoderConfig.from_json(OLD["phi3"])
    assert (config.context_limit, config.stated_context) == (4096, 8192)


def test_the_oldest_name_of_longrope_is_known():
    scaling = OLD["phi3"]["rope_scaling"] | {"type": "su"}
    assert DecoderConfig.from_json(OLD["phi3"] | {"rope_scaling": scaling}) == DecoderConfig.from_json(OLD["phi3"])


def test_the_text_part_of_a_multimodal_config_is_read():
    text = {key: value for key, value in OLD["gemma3_text"].items() if key != "model_type"}
    assert DecoderConfig.from_json({"model_type": "gemma3", "text_config": text}) == DecoderConfig.from_json(
        OLD["gemma3_text"]
    )


UNSUPPORTED = {
    "another architecture": {"model_type": "mamba"},
    "no architecture": {"model_type": None},
    "another position embedding": {"rope_scaling": {"rope_type": "axial"}},
    "another activation": {"hidden_act": "relu6"},
    "quantised weights": {"quantization_config": {"quant_method": "gptq"}},
    "attention in both directions": {"model_type": "gemma3_text", "use_bidirectional_attention": True},
    "another kind of layer": {"model_type": "qwen3", "layer_types": ["full_attention", "linear_attention"] * 2},
}


@pytest.mark.parametrize("change", UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_is_not_computed_is_refused_so_that_another_runner_can_take_over(change):
    with pytest.raises(UnsupportedModel) as raised:
        DecoderConfig.from_json(LLAMA | change)
    assert raised.value.sentence.endswith(".")


DAMAGED = {
    "a word for a number": {"hidden_size": "wide"},
    "no width": {"hidden_size": 0},
    "heads that do not share evenly": {"num_key_value_heads": 3},
    "no heads": {"num_attention_heads": 0},
    "no layers": {"num_hidden_layers": 0},
    "an odd head": {"head_dim": 7},
    "a window of nothing": {"model_type": "mistral", "sliding_window": -1},
    "scaling without its factor": {"rope_scaling": {"rope_type": "linear"}},
    "scaling that is a word": {"rope_scaling": "linear"},
    "positions stated for too few layers": {"model_type": "smollm3", "no_rope_layers": [1]},
    "divisors for too few frequencies": OLD["phi3"] | {"partial_rotary_factor": 1.0},
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_config_that_makes_no_sense_is_refused_with_a_sentence(change):
    with pytest.raises(BadModelFile) as raised:
        DecoderConfig.from_json(LLAMA | change)
    assert raised.value.sentence.endswith("get the model again.")
    assert raised.value.detail


@pytest.mark.parametrize("name", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"])
def test_a_config_that_lacks_a_size_is_refused(name):
    with pytest.raises(BadModelFile, match=r"config\.json"):
        DecoderConfig.from_json({key: value for key, value in LLAMA.items() if key != name})


def test_a_longrope_without_a_factor_takes_the_ratio_of_its_contexts():
    parameters = {
        "rope_type": "longrope",
        "rope_theta": 1e4,
        "short_factor": [1.0, 1.0],
        "original_max_position_embeddings": 4096,
    }
    rope = RopeConfig.from_json(parameters, head_dim=4, context=131_072)
    assert rope.attention_factor == pytest.approx(1.1902380714238083)  # sqrt(1 + ln 32 / ln 4096), as Phi-3 has it
