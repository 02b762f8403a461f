"""Products, and a pass of a small random decoder, for the processor that Numba was told to compile for.

python -m tests.engine.kernels.on_target      prints the results as JSON
"""

from __future__ import annotations

import json

import numpy as np

from engine.decoder.config import DecoderConfig
from engine.kernels.formats import Kind, stack
from engine.kernels.packing import pack
from engine.kernels.quantize import quantize
from engine.kernels.runner import KernelRunner
from engine.kernels.target import TARGET

CONFIG = {
    "model_type": "llama",
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
}


class RandomSource:
    """Weights that depend on their names alone."""

    def matrix(self, parts, kind):
        return stack([quantize(kind, self.vector(name, shape) * 0.1) for name, shape in parts])

    def vector(self, name, shape):
        seed = sum(name.encode())
        return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


def results() -> dict[str, object]:
    """Logits after a prompt and one more token, for each format."""
    config = DecoderConfig.from_json(CONFIG)
    ids = [int(i) for i in np.random.default_rng(1).integers(0, 100, 150)]
    found: dict[str, object] = {"target": {"vnni": TARGET.vnni, "lanes": TARGET.lanes}}
    for kind in (Kind.Q4A, Kind.Q8):
        runner = KernelRunner(config, pack(config, RandomSource(), kind), threads=2)
        cache = runner.new_cache()
        # Few layers and a short prompt: before any difference in a float's last bit can turn an activation's code.
        found[f"{kind.name} prefill"] = runner.prefill(ids[:9], cache, keep=3).flatten().tolist()
        found[f"{kind.name} decode"] = runner.decode(7, cache).tolist()
    return found


if __name__ == "__main__":
    print(json.dumps(results()))
