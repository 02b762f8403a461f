"""How fast a model would answer on this machine, from what the machine did with another one. Pure arithmetic.

A decode step reads the weights once, at the rate at which memory of that size is read; each layer takes its time
besides (norms, roundings, threads that wait for one another); attention reads the keys and values of what is said.
A prompt is computed, at the rate at which another one was.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from engine.explain.profile import FOLDER, Bandwidth, MachineProfile, load_profile
from engine.formats import Format
from engine.models.shape import ModelShape

# Of a slow laptop: where nothing was measured, no one shall be promised more.
ASSUMED: Final = MachineProfile(
    device="cpu",
    bandwidths=(Bandwidth(256 << 20, 10e9),),
    matrix_rate=60e9,
    step_s=0.0128,
    step_bytes=96_000_000,
    layers=30,
    kv_rate=4e9,
)
_ATTENTION: Final = 0.5  # of the rate of matrices, at which a prompt's attention is computed


def decode_s(profile: MachineProfile, shape: ModelShape, held: Format, kv_bytes_per_token: int, context: int) -> float:
    """Seconds of a decode step.

    Args:
        profile: What the machine does.
        shape: The model's sizes.
        held: How its weights are held.
        kv_bytes_per_token: What a token's keys and values take.
        context: Tokens that are attended to.
    """
    nbytes = shape.step_bytes(held)
    reading = nbytes / (profile.read_bandwidth(nbytes) or _first(ASSUMED))
    layers = (profile.overhead_s or 0.0) * shape.layers / (profile.layers or ASSUMED.layers)
    attending = shape.attended_bytes(context, kv_bytes_per_token) / (profile.kv_rate or ASSUMED.kv_rate or 1.0)
    return reading + layers + attending


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


def _first(profile: MachineProfile) -> float:
    return profile.bandwidths[0].per_s
