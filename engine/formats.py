"""The formats of weights and of cached keys and values: which there are on which device, and the default and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from engine.errors import BadRequest

Path = Literal["kernels", "torch", "bitsandbytes"]
Holder = Literal["kernels", "torch", "transformers"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to hold a model's weights on one kind of device.

    Attributes:
        name: As `EngineConfig.dtype` has it.
        device: "cpu", "cuda" or "mps".
        path: What computes with it.
        compute: The dtype of activations outside the matrices.
        words: What it is, for people.
    """

    name: str
    device: str
    path: Path
    compute: str
    words: str


FORMATS: Final = (
    Format("int4", "cpu", "kernels", "float32", "4-bit weights"),
    Format("int8", "cpu", "kernels", "float32", "8-bit weights"),
    Format("float32", "cpu", "torch", "float32", "32-bit weights"),
    Format("bfloat16", "cpu", "torch", "bfloat16", "16-bit weights"),
    Format("bfloat16", "cuda", "torch", "bfloat16", "16-bit weights"),
    Format("float16", "cuda", "torch", "float16", "16-bit weights"),
    Format("float32", "cuda", "torch", "float32", "32-bit weights"),
    Format("nf4", "cuda", "bitsandbytes", "bfloat16", "4-bit weights (NF4)"),
    Format("int8", "cuda", "bitsandbytes", "float16", "8-bit weights"),
    Format("float16", "mps", "torch", "float16", "16-bit weights"),
    Format("float32", "mps", "torch", "float32", "32-bit weights"),
)
# Decode is bound by the bytes of weights read per token, so on a CPU the fewest bytes within the quality bar win;
# a GPU has bandwidth to spare, and 16 bits are what models were trained in.
DEFAULTS: Final = {"cpu": "int4", "cuda": "bfloat16", "mps": "float16"}
WHY_DEFAULT: Final = {
    "cpu": "4-bit weights: fewest bytes to read per token",
    "cuda": "16-bit weights: the precision of training",
    "mps": "16-bit weights: half the bytes of 32",
}

# What a model's weights can be asked to be held in, once for all devices, when it is imported.
WEIGHTS: Final = ("int4", "int8", "none")
# What that comes to where it is not what the device holds anyway; Apple's GPUs hold 16 bits in any case.
_OWN: Final[Mapping[tuple[str, str], str]] = {
    ("int4", "cpu"): "int4",
    ("int8", "cpu"): "int8",
    ("int4", "cuda"): "nf4",
    ("int8", "cuda"): "int8",
}
# A smaller model is held in 32 bits where its weights are to stay floats: CPUs compute faster with them.
SMALL_MODEL: Final = 1_000_000_000
# What says that it has more is no model: none has a tenth of it.
MOST_LAYERS: Final = 10_000

# What can hold keys and values in what; transformers only in the dtype it computes in.
KV_DTYPES_OF: Final[Mapping[Holder, tuple[str, ...]]] = {
    "kernels": ("float16",),
    "torch": ("float32", "float16", "bfloat16", "int8"),
    "transformers": (),
}
_HOLDERS: Final[Mapping[Holder, str]] = {
    "kernels": "the compiled kernels",
    "torch": "torch",
    "transformers": "transformers",
}


class Choosy(Protocol):
    """A model that may have a format of its own: a manifest, or an entry of the registry."""

    @property
    def weights(self) -> str:
        """One of WEIGHTS, or "" for whatever suits the device."""
        ...

    @property
    def parameters(self) -> int:
        """Number of weights."""
        ...


def choose_format(
    device: str, wanted: str, *, bfloat16: bool = True, model: Choosy | None = None
) -> tuple[Format, str]:
    """The format to hold weights in, and the phrase that says why.

    Args:
        device: "cpu", "cuda" or "mps".
        wanted: As `EngineConfig.dtype` has it; "auto" takes the model's own, else the device's default.
        bfloat16: Whether the device computes in bfloat16; older GPUs only in float16.
        model: Which model, where its own choice counts.

    Raises:
        BadRequest: The device has no such format; the sentence names those it has.
    """
    own = _own(device, model) if model and wanted == "auto" else None
    if own:
        found = _computable(_find(device, own), bfloat16)
        return found, f"{found.words}, as chosen for this model"
    if wanted == "auto":
        name = "float16" if device == "cuda" and not bfloat16 else DEFAULTS[device]
        return _find(device, name), WHY_DEFAULT[device]
    found = _computable(_find(device, wanted), bfloat16)
    return found, f"{found.words}, as set"


def _computable(held: Format, bfloat16: bool) -> Format:
    """NF4 is computed with in 16 bits of either kind."""
    return replace(held, compute="float16") if held.name == "nf4" and not bfloat16 else held


def _own(device: str, model: Choosy) -> str | None:
    """The name of the format that a model's own choice comes to; None for the device's default."""
    if model.weights == "none" and device == "cpu":
        return "float32" if model.parameters < SMALL_MODEL else "bfloat16"
    return _OWN.get((model.weights, device))


def choose_kv_dtype(holder: Holder, compute: str, wanted: str) -> tuple[str, str]:
    """How keys and values are held, and why not as wanted: a phrase for the reason, mostly "".

    Args:
        holder: What runs the model.
        compute: The dtype it computes in.
        wanted: As `EngineConfig.kv_dtype` has it; "auto" takes 16 bits in the kernels, elsewhere `compute`.
    """
    own = "float16" if holder == "kernels" else compute
    if wanted in ("auto", own):
        return own, ""
    if wanted in KV_DTYPES_OF[holder]:
        return wanted, ""
    return own, f"keys and values in {own}: {_HOLDERS[holder]} cannot hold them in {wanted}"


def _find(device: str, name: str) -> Format:
    here = [known for known in FORMATS if known.device == device]
    found = next((known for known in here if known.name == name), None)
    if found is None:
        names = ", ".join(known.name for known in here)
        raise BadRequest(f"There is no {name} format for the {device} device; choose one of {names}.")
    return found
