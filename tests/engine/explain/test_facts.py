"""What is read off a loaded model, for each kind of runner."""

from __future__ import annotations

import json
import shutil

import pytest

from engine.config import EngineConfig
from engine.device import choose_device
from engine.engine import Engine
from engine.explain.facts import memory_state, model_facts
from engine.hf_runner import load_hf_runner
from engine.models.registry import Registry


@pytest.mark.parametrize(
    ("architecture", "dtype", "path"),
    [("llama", "float32", "torch"), ("llama", "int4", "kernels")],
)
def test_the_facts_of_a_model(tiny_model, loquat_home, architecture: str, dtype: str, path: str):
    shutil.copytree(tiny_model(architecture), loquat_home.models / "tiny")
    engine = Engine(EngineConfig(device="cpu", dtype=dtype, save_caches=False), loquat_home.cache)
    info = engine.load(Registry(loquat_home.models).find("tiny"))
    facts, memory = model_facts(engine._model), memory_state(engine._model, 0)
    number = {"float32": 4, "float16": 2}[facts.kv_dtype]
    engine.unload()
    assert facts.path == path
    assert facts.kv_bytes_per_token == 2 * facts.layers * facts.kv_heads * facts.head_dim * number
    assert 0 < facts.weight_bytes_per_token <= facts.weight_bytes
    assert 0 < facts.linear_parameters <= facts.parameters
    assert memory.weights == facts.weight_bytes
    assert memory.kv_bytes_per_token == facts.kv_bytes_per_token
    assert (memory.kv_dtype, memory.context_limit) == (facts.kv_dtype, info.context_limit)
    assert memory.allowed > memory.weights and memory.budget > 0


def test_a_plain_model_through_transformers_has_a_shape(tiny_model):
    config = EngineConfig(dtype="float32", device="cpu")
    folder = tiny_model("llama")
    runner = load_hf_runner(folder, choose_device(config))
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    layers, kv_heads, head_dim = runner.kv_shape
    assert (layers, kv_heads) == (about["num_hidden_layers"], about["num_key_value_heads"])
    assert runner.kv_bytes_per_token == 2 * layers * kv_heads * head_dim * 4
    assert runner.kv_dtype == "float32"


def test_a_model_that_keeps_states_has_none(tiny_model, loquat_home):
    shutil.copytree(tiny_model("lfm2"), loquat_home.models / "tiny")
    engine = Engine(EngineConfig(device="cpu", dtype="float32", save_caches=False), loquat_home.cache)
    engine.load(Registry(loquat_home.models).find("tiny"))
    facts = model_facts(engine._model)
    engine.unload()
    assert (facts.path, facts.layers) == ("transformers", 0)
