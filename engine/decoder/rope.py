"""Rotary position embedding (Su et al. 2021) and its scaled variants, as tables of cosines and sines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from engine.errors import BadModelFile, UnsupportedModel

FIRST_ROWS: Final = 1024
KINDS: Final = ("default", "linear", "dynamic", "llama3", "yarn", "longrope")


@dataclass(frozen=True, slots=True)
class RopeConfig:
    """One rotary embedding, as a config.json states it.

    Attributes:
        kind: One of KINDS.
        theta: Base wavelength.
        rotary_dim: Leading elements of a head that are rotated; even.
        factor: How much the context was stretched.
        original_context: Context in tokens before stretching.
        attention_factor: Multiplies cosines and sines.
        low_freq_factor, high_freq_factor: Bounds of the llama3 variant.
        beta_fast, beta_slow, truncate: Bounds of the yarn variant (Peng et al. 2023, section 3.2).
        short_factor: Divisors per frequency of the longrope variant within the original context.
    """

    kind: str
    theta: float
    rotary_dim: int
    factor: float = 1.0
    original_context: int = 0
    attention_factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    short_factor: tuple[float, ...] = ()

    @classmethod
    def from_json(cls, parameters: Mapping[str, Any], *, head_dim: int, context: int) -> RopeConfig:
        """Read one `rope_parameters` entry that holds `rope_theta`.

        Raises:
            UnsupportedModel: A variant that is not known here.
            BadModelFile: A number that the variant needs is missing.
        """
        kind = parameters.get("rope_type") or parameters.get("type") or "default"
        if kind not in KINDS:
            raise UnsupportedModel(f"This model's position embedding, {kind}, is not supported.", str(parameters))
        rotary_dim = int(head_dim * (parameters.get("partial_rotary_factor") or 1.0))
        try:
            return cls(kind, float(parameters["rope_theta"]), rotary_dim, **_scaling(kind, parameters, context))
        except KeyError as error:
            raise BadModelFile(
                "The model's config.json lacks a part of its position embedding; get the model again.", str(error)
            ) from error

    def fits(self, head_dim: int) -> bool:
        """Whether the sizes make sense for heads of `head_dim`, and all numbers can be computed with."""
        pairs, odd = divmod(self.rotary_dim, 2)
        sized = 0 < self.rotary_dim <= head_dim and not odd and len(self.short_factor) in (0, pairs)
        bounds = (self.attention_factor, self.low_freq_factor, self.high_freq_factor, self.beta_fast, self.beta_slow)
        divisors = (self.theta, self.factor, *self.short_factor)
        return sized and all(map(math.isfinite, bounds)) and all(0 < number < math.inf for number in divisors)

    @property
    def context_limit(self) -> int | None:
        """Most tokens for which the frequencies stay what they are; None if they never change.

        The longrope variant changes all frequencies beyond its original context, which would make keys that are
        already cached wrong: it is used up to there.
        """
        return self.original_context if self.kind == "longrope" else None


def _scaling(kind: str, parameters: Mapping[str, Any], context: int) -> dict[str, Any]:
    original = int(parameters.get("original_max_position_embeddings") or context)
    if kind == "linear":
        return {"factor": float(parameters["factor"])}
    if kind == "llama3":
        names = ("factor", "low_freq_factor", "high_freq_factor")
        return {"original_context": original, **{name: float(parameters[name]) for name in names}}
    if kind == "yarn":
        return {"original_context": original, **_yarn_scaling(parameters, context / original)}
    if kind == "longrope":
        factor = float(parameters.get("factor") or context / original)
        implied = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1.0 else 1.0
        return {
            "original_context": original,
            "attention_factor": _or(parameters.get("attention_factor"), implied),
            "short_factor": tuple(float(value) for value in parameters["short_factor"]),
        }
    return {}  # "dynamic" stretches beyond the model's context only, where no token is read


def _or(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def _yarn_scaling(parameters: Mapping[str, Any], stretch: float) -> dict[str, Any]:
    factor = _or(parameters.get("factor"), stretch)
    mscale, mscale_all = parameters.get("mscale"), parameters.get("mscale_all_dim")
    implied = _mscale(factor, mscale) / _mscale(factor, mscale_all) if mscale and mscale_all else _mscale(factor, 1.0)
    return {
        "factor": factor,
        "attention_factor": _or(parameters.get("attention_factor"), implied),
        "beta_fast": float(parameters.get("beta_fast") or 32.0),
        "beta_slow": float(parameters.get("beta_slow") or 1.0),
        "truncate": bool(parameters.get("truncate", True)),
    }


def _mscale(factor: float, scale: float) -> float:
    return 0.1 * scale * math.log(factor) + 1.0 if factor > 1.0 else 1.0


def inverse_frequencies(rope: RopeConfig) -> Tensor:
    """Angle per position of each pair of elements; float32 [rotary_dim / 2]."""
    exponents = torch.arange(0, rope.rotary_dim, 2, dtype=torch.float32) / rope.rotary_dim
    frequencies = 1.0 / (rope.theta**exponents)
    if rope.kind == "linear":
        return frequencies / rope.factor
    if rope.kind == "llama3":
        return _llama3(rope, frequencies)
    if rope.kind == "yarn":
        return _yarn(rope, frequencies)
    if rope.kind == "longrope":
        return frequencies / torch.tensor(rope.short_factor, dtype=torch.float32)
    return frequencies


def _llama3(rope: RopeConfig, frequencies: Tensor) -> Tensor:
    """Long waves are stretched, short ones kept, those between interpolated (Llama 3.1)."""
    turns = rope.original_context * frequencies / (2 * math.pi)
    kept = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor)
    kept = kept.clamp(0.0, 1.0)
    return (1 - kept) * frequencies / rope.factor + kept * frequencies


def _yarn(rope: RopeConfig, frequencies: Tensor) -> Tensor:
    """NTK by parts (Peng et al. 2023, section 3.2)."""
    low, high = _yarn_dim(rope, rope.beta_fast), _yarn_dim(rope, rope.beta_slow)
    if rope.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rope.rotary_dim - 1)
    steps = torch.arange(rope.rotary_dim // 2, dtype=torch.float32)
    ramp = ((steps - low) / ((high - low) or 0.001)).clamp(0.0, 1.0)
    return ramp * frequencies / rope.factor + (1 - ramp) * frequencies


def _yarn_dim(rope: RopeConfig, rotations: float) -> float:
    turns = rope.original_context / (rotations * 2 * math.pi)
    return rope.rotary_dim * math.log(turns) / (2 * math.log(rope.theta))


class RopeTable:
    """Cosines and sines by position, grown by doubling as positions are asked for.

    A row spans the whole head: elements that are not rotated have cosine 1 and sine 0, and the sign of the
    rotation is in the sine, so that rotating is `x * cos + swap_halves(x) * sin`.
    """

    def __init__(self, rope: RopeConfig, head_dim: int, *, dtype: torch.dtype, device: torch.device) -> None:
        self._rope, self._head_dim, self._dtype, self._device = rope, head_dim, dtype, device
        self._half = rope.rotary_dim // 2
        self._cos, self._sin = self._build(0)

    def rows(self, start: int, end: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines of positions start to end - 1; two of [end - start, 1, head_dim]."""
        if end > self._cos.shape[0]:
            self._cos, self._sin = self._build(max(end, 2 * self._cos.shape[0], FIRST_ROWS))
        return self._cos[start:end], self._sin[start:end]

    def rotate(self, x: Tensor, rows: tuple[Tensor, Tensor]) -> Tensor:
        """Rotate heads [n, heads, head_dim] by the rows of their positions."""
        cos, sin = rows
        return torch.addcmul(x * cos, self._swap_halves(x), sin)

    def _swap_halves(self, x: Tensor) -> Tensor:
        half = self._half
        if 2 * half == self._head_dim:
            return torch.roll(x, half, -1)
        return torch.cat((x[..., half : 2 * half], x[..., :half], x[..., 2 * half :]), -1)

    def _build(self, rows: int) -> tuple[Tensor, Tensor]:
        # On the CPU whatever the device: the same angles everywhere. Written in place: for a long context a copy of the
        # tables takes as much as many a small model.
        angles = torch.arange(rows, dtype=torch.float32)[:, None] * inverse_frequencies(self._rope)
        cos, sin = torch.ones(rows, 1, self._head_dim), torch.zeros(rows, 1, self._head_dim)
        for first, sign in ((0, -1), (self._half, 1)):
            place = slice(first, first + self._half)
            cos[:, 0, place] = angles.cos().mul_(self._rope.attention_factor)
            sin[:, 0, place] = angles.sin().mul_(sign * self._rope.attention_factor)
        return cos.to(self._device, self._dtype), sin.to(self._device, self._dtype)
