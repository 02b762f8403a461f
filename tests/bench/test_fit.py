"""The memory that is foretold of the default model is what it takes; what measures that runs with random weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import EngineConfig
from engine.loader import load_model
from engine.models.catalogue import find
from engine.models.registry import Registry
from engine.models.shape import read_shape
from engine.paths import Paths
from tests.bench.fit import MEMORY_LIMIT, compile_kernels, measure_all
from tests.bench.random_models import write_random_model


@pytest.mark.model
def test_the_default_model_takes_the_memory_that_is_foretold(home_with_model: Paths) -> None:
    compile_kernels()  # the process that does it takes more
    results = measure_all(("smollm2-135m-instruct",), (2048, 2048), rates=False)
    least = min(results, key=lambda one: one.taken_bytes)  # what comes on top is the system's, or something compiled
    assert abs(least.memory_error) < MEMORY_LIMIT, results
    assert least.taken_bytes > 300 << 20


def test_random_weights_load_as_a_real_model_does(tmp_path: Path) -> None:
    entry = find("qwen2.5-0.5b-instruct")
    assert entry is not None
    config = {**entry.config, "num_hidden_layers": 2, "vocab_size": 2000, "hidden_size": 128, "intermediate_size": 256}
    small = replace(entry, config={**config, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 64})
    write_random_model(small, tmp_path / "small")
    shape = read_shape(tmp_path / "small")
    model = load_model(
        Registry(tmp_path).find("small"),
        EngineConfig(device="cpu", dtype="int4", save_caches=False, max_context=256),
        tmp_path / "cache",
    )
    assert shape.packed_bytes["int4"] == pytest.approx(model.runner.weight_bytes, rel=0.01)
    logits = model.runner.prefill([1, 2, 3], model.runner.new_cache())
    assert logits.isfinite().all()
    assert logits.std() > 0
