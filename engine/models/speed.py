"""How fast a model would answer on this machine, from what the machine did with another one. Pure arithmetic.

A decode step of the CPU kernels reads the weights once, as fast as they are multiplied, or as memory is read if that is
slower; each layer takes its time besides (norms, roundings, threads that wait for one another); attention takes its
time for each key/value head and each token behind. Measured on one machine beside six models of 135 M to 1.2 B: one of
them foretells the others within 20 %. A prompt is computed at the rate at which another one was.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.explain.profile import FOLDER, HEAD_DIM, Bandwidth, MachineProfile, load_profile
from engine.formats import Format
from engine.models.shape import ModelShape

# Of a slow laptop: where nothing was measured, no one shall be promised more.
ASSUMED: Final = MachineProfile(
    device="cpu",
    path="kernels",
    bandwidths=(Bandwidth(256 << 20, 10e9),),
    matrix_rate=60e9,
    step_s=0.0105,
    step_bytes=96_000_000,
    layers=30,
    row_s=40e-9,
)
_LAYER_S: Final = 30e-6  # that a layer of the CPU kernels takes beyond its weights; at most
_LAYERS_SHARE: Final = 0.4  # of a step
_KEY_AND_VALUE: Final = 4  # bytes of a number of each
_ATTENTION: Final = 0.5  # of the rate of matrices, at which a prompt's attention is computed


def decode_s(profile: MachineProfile, shape: ModelShape, held: Format, context: int) -> float:
    """Seconds of a decode step.

    Args:
        profile: What the machine does.
        shape: The model's sizes.
        held: How its weights are held.
        context: Tokens that are attended to.
    """
    nbytes, layer_s = shape.step_bytes(held), _layer_s(profile)
    rate = _reading_rate(profile, nbytes, layer_s)
    return nbytes / rate + shape.layers * layer_s + _attending_s(profile, shape, context, rate)


def _attending_s(profile: MachineProfile, shape: ModelShape, context: int, rate: float) -> float:
    """Seconds of attention: measured, or else those of reading 16-bit keys and values."""
    heads = shape.attended(context) * shape.kv_heads
    if profile.row_s is None:
        return heads * shape.head_dim * _KEY_AND_VALUE / rate
    return heads * max(1.0, shape.head_dim / HEAD_DIM) * profile.row_s


def _layer_s(profile: MachineProfile) -> float:
    """Seconds of a layer beyond reading its weights."""
    layers = max(1, profile.layers)
    if profile.path == "kernels":
        return min(_LAYER_S, _LAYERS_SHARE * (profile.step_s or 0.0) / layers)
    return (profile.overhead_s or 0.0) / layers


def _reading_rate(profile: MachineProfile, nbytes: int, layer_s: float) -> float:
    """Bytes of weights a second."""
    assumed = ASSUMED.bandwidths[0].per_s
    memory = profile.read_bandwidth(nbytes) or assumed
    rest = (profile.step_s or 0.0) - profile.layers * layer_s
    return min(memory, profile.step_bytes / rest) if rest > 0 and profile.step_bytes else memory


def prefill_s(profile: MachineProfile, shape: ModelShape, tokens: int) -> float:
    """Seconds of reading a prompt of so many tokens."""
    rate = profile.matrix_rate or ASSUMED.matrix_rate or 1.0
    products = 2 * shape.matrices * tokens
    # Each query with all keys before it, and with all values.
    attention = 2 * shape.layers * shape.heads * shape.head_dim * tokens * tokens
    return products / rate + attention / (_ATTENTION * rate)


def known_profile(cache_folder: Path, held: Format, processor: str) -> MachineProfile | None:
    """The newest profile that was kept of this machine with weights held like that; None if there is none."""
    kept = sorted(_profiles(cache_folder), key=lambda pair: pair[0], reverse=True)
    alike = (profile for _, profile in kept if _alike(profile, held, processor))
    return next(alike, None)


def _alike(profile: MachineProfile, held: Format, processor: str) -> bool:
    same_path = profile.path == held.path or (held.path == "torch" and profile.path in ("torch", "graph"))
    return same_path and (profile.processor, profile.device) == (processor, held.device) and bool(profile.step_s)


def _profiles(cache_folder: Path) -> Iterator[tuple[float, MachineProfile]]:
    """All that are kept, with the time when."""
    for path in (cache_folder / FOLDER).glob("*.json"):
        profile = load_profile(path)
        if profile is not None:
            yield path.stat().st_mtime, profile
