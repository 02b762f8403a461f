"""What this machine can do, measured with random weights where no model was measured yet. Takes a second or two."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psutil

from engine.config import EngineConfig
from engine.decoder.config import DecoderConfig
from engine.device import choose_threads
from engine.explain.measure import measure_runner
from engine.explain.profile import MachineProfile, processor_name, profile_path, save_profile
from engine.explain.trace import ModelFacts
from engine.explain.version import program_version
from engine.kernels.cache_folder import kept, kernels_root, use_cache

_log = logging.getLogger(__name__)

# Some 90 MB of weights: more than processors keep to themselves, and made in an instant.
_CONFIG: Final[dict[str, Any]] = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "vocab_size": 16_384,
    "tie_word_embeddings": True,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-6,
}
_NAME: Final = "random weights"
_BUSY: Final = 0.3  # processors that other programs keep busy


def quick_profile(cache_folder: Path, tell: Callable[[str], None] | None = None) -> MachineProfile | None:
    """Measure the compiled CPU kernels, and keep what was found.

    Args:
        cache_folder: Where profiles and kernels are kept.
        tell: Given a sentence before it takes seconds.

    Returns:
        None where they were not compiled yet: that would take half a minute.
    """
    if not kept(kernels_root(cache_folder)):
        return None
    if tell is not None:
        tell("Measuring what this machine can do, once; that takes some seconds.")
    use_cache(kernels_root(cache_folder))
    before = _busy_s()
    began = time.perf_counter()
    profile = measure_kernels()
    others = (_busy_s() - before) / (time.perf_counter() - began)
    if profile is not None and others < _BUSY:  # else it is good enough for now, and measured again another time
        try:
            save_profile(profile, profile_path(cache_folder, _facts(profile.threads, 0, 0), processor_name()))
        except OSError as error:
            _log.warning("What this machine can do was not kept and will be measured again: %s", error)
    return profile


def _busy_s() -> float:
    """Seconds of all processors that other programs have used."""
    times, own = psutil.cpu_times(), psutil.Process().cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - own.user - own.system)


def measure_kernels() -> MachineProfile | None:
    """Measure now, on this thread; None where this processor cannot run them."""
    # After `use_cache`: Numba reads where compiled kernels lie when it is imported.
    from engine.kernels.random_weights import random_weights  # noqa: PLC0415
    from engine.kernels.runner import KernelRunner  # noqa: PLC0415
    from engine.kernels.warm import available  # noqa: PLC0415

    if not available()[0]:
        return None
    decoder = DecoderConfig.from_json(_CONFIG)
    weights = random_weights(decoder)
    threads, _ = choose_threads(EngineConfig().threads)
    runner = KernelRunner(decoder, weights, threads=threads)
    linears = sum(linear.matrix.rows * linear.matrix.columns for layer in weights.layers for linear in layer.linears)
    return measure_runner(runner, _facts(threads, weights.bytes_per_token, linears, runner.kv_bytes_per_token))


def _facts(threads: int, nbytes: int, linears: int, kv_bytes: int = 0) -> ModelFacts:
    return ModelFacts(
        name=_NAME,
        version=program_version(),
        device="cpu",
        dtype="int4",
        path="kernels",
        threads=threads,
        weight_bytes_per_token=nbytes,
        linear_parameters=linears,
        kv_bytes_per_token=kv_bytes,
        kv_dtype="float16",
        layers=int(_CONFIG["num_hidden_layers"]),
        kv_heads=int(_CONFIG["num_key_value_heads"]),
        head_dim=int(_CONFIG["head_dim"]),
    )
