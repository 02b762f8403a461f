"""Which runner a model gets, and what its reason says of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.config import KV_DTYPES, EngineConfig
from engine.decoder import DecoderRunner
from engine.device import choose_device
from engine.formats import choose_kv_dtype
from engine.kv_cache import KVCache
from engine.runners import Choice, choose_runner

TinyModel = Callable[..., Path]
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1}


def choose(folder: Path, cache: Path, **config: str) -> Choice:
    made = EngineConfig(device="cpu", **{"dtype": "float32", **config})
    return choose_runner(folder, choose_device(made), made, cache, wait=True)


@pytest.mark.parametrize("name", BYTES)
def test_the_decoder_holds_keys_and_values_as_set(tiny_model: TinyModel, tmp_path: Path, name: str) -> None:
    chosen = choose(tiny_model("llama"), tmp_path, kv_dtype=name)
    assert isinstance(chosen.runner, DecoderRunner)
    scale = 4 if name == "int8" else 0
    assert chosen.runner.kv_bytes_per_token == 12 * (16 * BYTES[name] + scale)
    cache = KVCache(chosen.runner)
    cache.prefill([1, 2, 3, 4])
    held = {str(tensor.dtype) for tensor in cache.snapshot().tensors.values() if tensor.dim() == 3}
    assert held == {f"torch.{name}"}
    assert (f"keys and values in {name}" in chosen.reason) == (name != "float32")


def test_formats_are_told_apart(tiny_model: TinyModel, tmp_path: Path) -> None:
    runners = [choose(tiny_model("llama"), tmp_path, kv_dtype=name).runner for name in KV_DTYPES]
    assert len({runner.cache_format for runner in runners}) == len(BYTES)
    assert runners[0].cache_format == runners[1].cache_format  # "auto" is the weights' own


def test_transformers_keeps_its_own_and_says_so(tiny_model: TinyModel, tmp_path: Path) -> None:
    folder = tiny_model("llama", use_bidirectional_attention=True)  # which the decoder does not know
    assert "keys and values" not in choose(folder, tmp_path).reason
    reason = choose(folder, tmp_path, kv_dtype="int8").reason
    assert reason.endswith("keys and values in float32: transformers cannot hold them in int8")


def test_what_the_kernels_lack_is_said() -> None:
    assert choose_kv_dtype("kernels", "float32", "auto") == ("float16", "")
    assert choose_kv_dtype("kernels", "float32", "float16") == ("float16", "")
    assert choose_kv_dtype("kernels", "float32", "bfloat16") == (
        "float16",
        "keys and values in float16: the compiled kernels cannot hold them in bfloat16",
    )


@pytest.mark.parametrize("name", KV_DTYPES[1:])
def test_every_format_is_a_dtype_of_torch(name: str) -> None:
    assert isinstance(getattr(torch, name), torch.dtype)


def test_a_format_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kv_dtype must be one of auto, float32, .* not float7\."):
        EngineConfig(kv_dtype="float7")
