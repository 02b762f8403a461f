"""Whether a model has room on this machine, how long a conversation, and how fast it would be, before it is downloaded.

The budget's own arithmetic (`engine.memory`) over sizes that are foretold or read; the rates are this machine's. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from engine.explain.profile import MachineProfile
from engine.formats import SMALL_MODEL, Format, choose_format
from engine.memory import NO_LIMITS, SMALLEST_CONTEXT, Footprint, Limits, Machine, plan
from engine.models.catalogue import CatalogueEntry, catalogue
from engine.models.foretold import FLOATS, foretold_shape
from engine.models.shape import ModelShape
from engine.models.speed import ASSUMED, decode_s, prefill_s
from engine.units import binary

COMFORTABLE: Final = 8192  # tokens; a model that has room for so long a conversation fits
TYPICAL: Final = 1024  # tokens of the conversation for which the decode rate is told
SHORT: Final = 200  # tokens of a short question with what stands before it, and
LONG: Final = 1000  # of a long one
CHUNK: Final = 128  # tokens prefilled at a time, as `EngineConfig` has it
_FLOAT32, _FLOAT16 = 4, 2  # bytes of a weight as an import keeps it: of a small model, and of a larger one

FitKind = Literal["fits", "smaller", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Here:
    """This machine.

    Attributes:
        machine: Memory of the device that models run on.
        device: "cpu", "cuda" or "mps".
        profile: What it did with a model; None where it was never measured.
        bfloat16: Whether the device computes in it.
        limits: What the person has set.
    """

    machine: Machine
    device: str
    profile: MachineProfile | None = None
    bfloat16: bool = True
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, slots=True)
class Held:
    """How a model's own weights are to be held, as `choose_format` asks for it."""

    weights: str
    parameters: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What is foretold of a model on this machine.

    Attributes:
        kind: "fits" with a conversation of COMFORTABLE tokens or all that the model can hold, "smaller" with a shorter
            one, "no" with none, or "unknown".
        context: Tokens of the longest conversation that has room; 0 for none.
        needs: Bytes of memory that it takes with such a conversation, or with the shortest where it has no room.
        free: Bytes that Loquat may take.
        tokens_per_s: Decode rate to be expected in a conversation of TYPICAL tokens; None where nothing is known.
        ttft_s, ttft_long_s: Seconds to the first token after SHORT and after LONG tokens.
        measured: Whether the rates come from a measurement of this machine.
        reason: What more there is to say, in words; may be empty.
    """

    kind: FitKind = "unknown"
    context: int = 0
    needs: int = 0
    free: int = 0
    tokens_per_s: float | None = None
    ttft_s: float | None = None
    ttft_long_s: float | None = None
    measured: bool = False
    reason: str = ""


def held_here(here: Here, weights: str, parameters: int) -> Format:
    """How a model's weights would be held on this machine; `weights` is what was asked for at import, or ""."""
    return choose_format(here.device, "auto", bfloat16=here.bfloat16, model=Held(weights, parameters))[0]


def fit(shape: ModelShape, label: str, held: Format, here: Here) -> Fit:
    """What is foretold of a model of known sizes.

    Args:
        shape: Its sizes.
        label: For people.
        held: How its weights are held.
        here: The machine.
    """
    found = _room(shape.footprint(label, held, CHUNK), here)
    if found.kind == "no" and (held.device, held.name) == ("cuda", "bfloat16"):
        smaller = choose_format("cuda", "nf4")[0]  # what the loader falls back to
        return fit(shape, label, smaller, here)
    return _with_speed(found, shape, held, here)


def fit_config(config: Mapping[str, Any], stored: str, weights: str, here: Here, label: str = "") -> Fit:
    """What is foretold of a model that is not here.

    Args:
        config: Its config.json.
        stored: The format of its file, as `engine.models.foretold.file_type` has it, or "BF16" of safetensors.
        weights: How they are to be held, one of `engine.formats.WEIGHTS`; "" for what suits.
        here: The machine.
        label: For people.

    Raises:
        BadModelFile: The config makes no sense.
    """
    shape = foretold_shape(config, stored, weights if weights in ("int4", "int8") else "int4")
    parameters = shape.matrices + shape.embeddings + shape.vectors
    return fit(shape, label, held_here(here, weights, parameters), here)


def fit_size(
    parameters: int, here: Here, *, architecture: str = "", context: int = 0, stored: str = "", weights: str = ""
) -> Fit:
    """What is foretold of a model of which little more than its size is known: as of a known one that is like it.

    Args:
        parameters: Number of weights; 0 where even that is not known.
        here: The machine.
        architecture: Its `model_type`; "" where it is not known.
        context: Most tokens of a conversation; 0 where it is not known.
        stored: The format of its file, as for `fit_config`; "" where it is not known.
        weights: How they are to be held; "" for what suits.
    """
    if parameters <= 0:
        return Fit()
    like = _likest(parameters, architecture)
    shape = foretold_shape(like.config, stored or "Q4_K_M", weights if weights in ("int4", "int8") else "int4")
    scaled = _scaled(shape, parameters / like.parameters)
    found = fit(
        replace(scaled, context_limit=context or shape.context_limit), "", held_here(here, weights, parameters), here
    )
    return found if found.kind == "no" else replace(found, reason="Estimated from its size alone.")


def disk_bytes(parameters: int, download: int, stored: str) -> int:
    """Disk that the download and the import take at most: a GGUF's weights once more as floats, and the packed form.

    Args:
        parameters: Number of weights.
        download: Bytes that are downloaded.
        stored: The format of a GGUF file, or "BF16" of safetensors, which are kept as they are.
    """
    floats = 0 if stored in FLOATS else parameters * (_FLOAT32 if parameters < SMALL_MODEL else _FLOAT16)
    return download + floats + parameters


def _room(footprint: Footprint, here: Here) -> Fit:
    wanted = min(COMFORTABLE, footprint.context_limit)
    least = min(SMALLEST_CONTEXT, footprint.context_limit)
    longest = plan(footprint, here.machine, context=least, limits=here.limits)
    context = longest.longest_context if longest.fits else 0
    told = plan(footprint, here.machine, context=min(wanted, context) or least, limits=here.limits)
    needs = told.allowed - told.left
    if context == 0:
        missing = f"{binary(-told.left)} of memory are missing."
        return Fit("no", 0, needs, told.allowed, reason=missing)
    return Fit("fits" if context >= wanted else "smaller", context, needs, told.allowed)


def _with_speed(found: Fit, shape: ModelShape, held: Format, here: Here) -> Fit:
    profile = here.profile or (ASSUMED if here.device == "cpu" else None)
    if profile is None:
        return found
    step = decode_s(profile, shape, held, min(TYPICAL, shape.context_limit))
    first, long = (prefill_s(profile, shape, tokens) + step for tokens in (SHORT, LONG))
    careful = "" if here.profile else "The speed is a careful guess: this machine was never measured."
    return replace(
        found,
        tokens_per_s=1 / step,
        ttft_s=first,
        ttft_long_s=long,
        measured=here.profile is not None,
        reason=found.reason or careful,
    )


def _likest(parameters: int, architecture: str) -> CatalogueEntry:
    """The model of the catalogue that is nearest in size, of the same architecture if there is one."""
    alike = [entry for entry in catalogue() if entry.config["model_type"] == architecture] or list(catalogue())
    return min(alike, key=lambda entry: abs(math.log(entry.parameters / parameters)))


def _scaled(shape: ModelShape, factor: float) -> ModelShape:
    return replace(
        shape,
        matrices=int(shape.matrices * factor),
        embeddings=int(shape.embeddings * factor),
        packed_bytes={name: int(nbytes * factor) for name, nbytes in shape.packed_bytes.items()},
        unread_bytes={name: int(nbytes * factor) for name, nbytes in shape.unread_bytes.items()},
    )
