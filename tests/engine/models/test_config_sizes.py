"""A config.json that asks for sizes the weights do not have is refused before anything of such a size is built."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from engine.bounded_build import bounded_build
from engine.chat import RequestHandle
from engine.decoder.config import DecoderConfig
from engine.errors import BadModelFile, EngineError
from engine.models.config_sizes import Held, check_sizes
from engine.models.registry import Registry
from tests.engine.models.gguf_files import finish

ROOT = Path(__file__).parents[3]
TinyModel = Callable[..., Path]
SIZES = "The sizes in the model's config.json do not fit together; get the model again."
DAMAGED = "The model's config.json is incomplete or damaged; get the model again."
LLAMA_70B = Held(70_553_706_496, 723, 128_256, 80)


@pytest.fixture
def source(tiny_model: TinyModel, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_model("llama"), tmp_path / "c-vocab")


def refusal(source: Path, changes: dict[str, Any]) -> BadModelFile:
    config = source / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | changes))
    models = source.parent / "models"
    start = time.thread_time()
    with pytest.raises(BadModelFile) as caught:
        finish(Registry(models).add(source, RequestHandle("test")))
    assert time.thread_time() - start < 2
    assert not list(models.glob("*"))
    return caught.value


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**9},
        {"num_hidden_layers": 9_999},
        {"num_hidden_layers": 100, "hidden_size": 60_000, "intermediate_size": 60_000},
        {"num_hidden_layers": 0},
        {"num_hidden_layers": True},
        {"vocab_size": 10**12},
        {"vocab_size": 10**30},
        {"vocab_size": 10**12 * 1.0},
        {"hidden_size": "64"},
        {"hidden_size": 64.5},
        {"hidden_size": nan},
        {"hidden_size": inf},
        {"hidden_size": -64},
        {"hidden_size": 128},
        {"hidden_size": 10**6},
        {"hidden_size": {"a": [1]}, "num_attention_heads": [[-1]]},
        {"num_attention_heads": 0},
        {"num_key_value_heads": 0},
        {"head_dim": 10**6},
        {"head_dim": 10**9},
        {"intermediate_size": 10**9},
        {"max_position_embeddings": 10**15},
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 0}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": nan}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": -1.0}},
        {"rms_norm_eps": nan},
        {"rms_norm_eps": inf},
    ],
    ids=str,
)
def test_sizes_that_the_weights_do_not_have(changes: dict[str, Any], source: Path) -> None:
    assert refusal(source, changes).sentence == SIZES


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_size": None},
        {"num_attention_heads": 3},
        {"attention_bias": "x"},
        {"rope_parameters": [1]},
        {"rope_parameters": {"rope_type": "abc"}},
        {"layer_types": 5},
        {"hidden_act": "nope"},
        {"text_config": [1]},
        {"dtype": "int8"},
        {"id2label": 5},
    ],
    ids=str,
)
def test_values_of_another_kind(changes: dict[str, Any], source: Path) -> None:
    error = refusal(source, changes)
    assert error.sentence == DAMAGED and error.detail


def test_half_a_character_is_no_text(source: Path) -> None:
    assert "cannot be read" in refusal(source, {"name": "\ud800"}).sentence


MIXTRAL = {"num_local_experts": 10**6, "num_experts_per_tok": 2}


@pytest.mark.parametrize(
    ("model_type", "changes"),
    [
        ("qwen2", {"num_hidden_layers": 10**9}),  # its configuration makes a list of that length
        ("gemma3_text", {"num_hidden_layers": 10**9, "layer_types": None}),
        ("mamba", {"num_hidden_layers": 10**9}),
        ("mamba", {"state_size": 10**6, "expand": 10**5}),
        ("mixtral", MIXTRAL),
        ("jamba", {"num_experts": 10**6}),  # one module for each
    ],
)
def test_other_architectures(model_type: str, changes: dict[str, Any], tiny_model: TinyModel, tmp_path: Path) -> None:
    source = shutil.copytree(tiny_model(model_type), tmp_path / "source")
    assert refusal(source, changes).sentence == SIZES


ADD = """
import sys
from pathlib import Path
import engine.hf_runner, engine.models.import_folder
from engine.cli_models import run
from engine.paths import Paths
from tests.fuzz.guard import limit_memory
limit_memory()
home = Path(sys.argv[2])
run(["add", sys.argv[1], "--json"], Paths(home, home, home, home))
"""


def test_a_billion_layers_take_no_memory(source: Path) -> None:
    config = source / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"num_hidden_layers": 10**9}))
    command = [sys.executable, "-c", ADD, str(source), str(source.parent / "home")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert SIZES in ended.stdout, ended.stderr


def test_layers_are_counted_behind_each_prefix() -> None:
    names = [f"model.layers.{i}.mlp.experts.{j}.w" for i in range(3) for j in range(8)] + [
        "vision.blocks.0.w",
        "head.w",
    ]
    assert Held.of(dict.fromkeys(names, (2, 5))) == Held(26 * 10, 26, 5, 3)
    assert Held.of({}) == Held(0, 0, 0, 0)


def test_what_real_models_have_is_let_through() -> None:
    """Large contexts, bases and vocabularies; sizes layer by layer; limits that are infinite."""
    config = {
        **{"hidden_size": 8192, "intermediate_size": [28_672] * 80, "num_hidden_layers": 80, "vocab_size": 128_256},
        **{"num_attention_heads": [64, 0, 64], "num_key_value_heads": None, "max_position_embeddings": 10_485_760},
        **{"rope_theta": 500_000_000, "time_step_limit": [0.0, inf], "bos_token_id": 128_000, "sliding_window": None},
        **{"vocab_size_per_layer_input": 262_144, "max_window_layers": 28, "rope_scaling": {"factor": 8.0}},
    }
    check_sizes(config, LLAMA_70B)
    with pytest.raises(BadModelFile):
        check_sizes({"text_config": config | {"num_hidden_layers": 10_001}}, LLAMA_70B)


def test_only_the_thread_that_builds_is_bounded() -> None:
    from threading import Thread

    from torch import nn

    made: list[nn.Module] = []
    with bounded_build(12, 1):
        nn.Linear(3, 3)
        thread = Thread(target=lambda: made.append(nn.Sequential(nn.Linear(100, 100), nn.Linear(1, 1))))
        thread.start()
        thread.join()
        assert made
    with pytest.raises(BadModelFile), bounded_build(11, 1):
        nn.Linear(3, 3)
    with pytest.raises(BadModelFile), bounded_build(1000, 1):
        nn.Sequential(nn.ReLU(), nn.ReLU())
    nn.Linear(100, 100)


KEYS = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size")
OTHERS = ("intermediate_size", "max_position_embeddings", "rope_parameters", "rms_norm_eps", "layer_types", "dtype")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("factor", "rope_type", "a")), inner),
    max_leaves=5,
)


@seed(1)
@settings(max_examples=150, deadline=None, database=None)
@given(st.dictionaries(st.sampled_from((*KEYS, *OTHERS, "text_config")), JSON, min_size=1, max_size=3))
def test_any_value_ends_in_a_sentence(tiny_source: tuple[Path, dict[str, Any]], changes: dict[str, Any]) -> None:
    source, config = tiny_source
    (source / "config.json").write_text(json.dumps(config | changes))
    registry = Registry(source.parent / "models")
    start = time.thread_time()
    try:
        registry.remove(finish(registry.add(source, RequestHandle("test"))).name)
    except EngineError as error:
        assert error.sentence.endswith(".") and len(error.sentence) < 300
    assert time.thread_time() - start < 2


@pytest.fixture(scope="module")
def tiny_source(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    source = shutil.copytree(tiny_model("llama"), tmp_path_factory.mktemp("fuzzed") / "source")
    return source, json.loads((source / "config.json").read_text())


@pytest.mark.parametrize("changes", [{"num_hidden_layers": 10**9}, {"num_attention_heads": 0, "head_dim": 16}])
def test_the_decoder_itself_makes_no_layers_of_them(changes: dict[str, Any], source: Path) -> None:
    with pytest.raises(BadModelFile) as caught:
        DecoderConfig.from_json(json.loads((source / "config.json").read_text()) | changes)
    assert caught.value.sentence == SIZES
