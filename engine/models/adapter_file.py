"""A LoRA adapter as peft saves it: read from its folder, nothing in it trusted. Torch-free.

Sources: Hu et al. 2021, "LoRA", section 4.1 (W + alpha/r * B A); Kalajdzievski 2023 for rank-stabilised scaling; Liu et
al. 2024, "DoRA", section 4.1; peft's `save_pretrained` for the names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.model_folder import read_object
from engine.models.names import shown
from engine.models.safetensors_file import TensorEntry, pickle_refused, pickles_in, read_entries

CONFIG: Final = "adapter_config.json"
WEIGHTS: Final = "adapter_model.safetensors"
# How models name the same decoder; what is left behind the prefix is the same for all.
PREFIXES: Final = ("model.language_model.", "language_model.model.", "model.")
# A number whose exponent is all ones is none, or infinite.
_EXPONENTS: Final[Mapping[str, tuple[type[np.unsignedinteger[Any]], int]]] = {
    "F32": (np.uint32, 0x7F800000),
    "F16": (np.uint16, 0x7C00),
    "BF16": (np.uint16, 0x7F80),
}
_PEFT: Final = "base_model.model."
_PART: Final = re.compile(r"(.+)\.(lora_A|lora_B|lora_magnitude_vector)(?:\.default)?(?:\.weight)?")
_PATTERN: Final = re.compile(r"(?P<whole>\^?)(?P<name>(?:\w|\\?\.)+)\$?")
# Ways to begin that take from the model's weights what they put into the adapter (`init_lora_weights` of peft).
_TAKING: Final = ("pissa", "olora", "corda", "loftq", "lora_ga")


@dataclass(frozen=True, slots=True)
class Target:
    """One matrix that an adapter changes.

    Attributes:
        weight: Its name behind the model's prefix, e.g. "layers.0.self_attn.q_proj.weight".
        down, up: Names of A [rank, columns] and B [rows, rank] in the adapter's file.
        magnitude: Name of DoRA's vector [rows]; empty for plain LoRA.
        rank, rows, columns: Sizes.
        scale: What B A is multiplied by.
        transposed: Whether the model stores the matrix [columns, rows].
    """

    weight: str
    down: str
    up: str
    magnitude: str
    rank: int
    rows: int
    columns: int
    scale: float
    transposed: bool


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter whose files were read.

    Attributes:
        folder: Where it lies.
        base: The model it was trained on, as its makers call it; may be empty.
        targets: What it changes, by weight.
        nbytes: Of its weights.
    """

    folder: Path
    base: str
    targets: Mapping[str, Target]
    nbytes: int


def plain_name(name: str) -> str:
    """A weight's name behind the prefix that differs between architectures."""
    prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), "")
    return name.removeprefix(prefix)


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds a peft adapter."""
    return (folder / CONFIG).is_file()


def read_adapter(folder: Path) -> Adapter:
    """Read and check an adapter by itself; of its weights only the header.

    Raises:
        BadModelFile: It is damaged, incomplete, or its sizes contradict each other.
        UnsupportedModel: It is no LoRA, or trained more than matrices.
    """
    if not is_adapter(folder):
        raise BadModelFile(f"The folder {folder.name} holds no {CONFIG}, so it is no adapter; give the one that does.")
    config = read_object(folder, CONFIG)
    _check_kind(folder, config)
    path = folder / WEIGHTS
    if not path.is_file():
        raise _without_weights(folder)
    entries = read_entries(path)
    targets = {target.weight: target for target in _targets(folder, config, entries)}
    base = config.get("base_model_name_or_path")
    return Adapter(folder, base if isinstance(base, str) else "", targets, sum(entry.nbytes for entry in entries))


def check_numbers(adapter: Adapter) -> None:
    """Refuse an adapter that would make every answer nonsense.

    Raises:
        BadModelFile: It holds what is no number, or infinity.
    """
    path = adapter.folder / WEIGHTS
    entries = read_entries(path)
    held = np.memmap(path, np.uint8, "r")
    begin = held.size - sum(entry.nbytes for entry in entries)
    for entry in entries:
        bits, exponent = _EXPONENTS.get(entry.dtype, (None, 0))
        span, begin = held[begin : begin + entry.nbytes], begin + entry.nbytes
        if bits is not None and ((span.view(bits) & exponent) == exponent).any():
            raise BadModelFile(
                f"The adapter {adapter.folder.name} holds what is no number; get it again.", shown(entry.name)
            )


def _without_weights(folder: Path) -> BadModelFile | UnsupportedModel:
    pickles = pickles_in(folder)
    return pickle_refused(pickles[0]) if pickles else _damaged(folder, f"it lacks {WEIGHTS}")


def _check_kind(folder: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("peft_type")
    if kind != "LORA":
        kind = shown(str(kind))
        raise UnsupportedModel(f"The adapter {folder.name} is of the kind {kind}; Loquat merges LoRA adapters only.")
    for name, words in (("modules_to_save", "whole layers"), ("layer_replication", "copied layers")):
        if config.get(name):
            raise UnsupportedModel(f"The adapter {folder.name} brings {words} of its own, which Loquat cannot merge.")
    if config.get("bias", "none") != "none" or config.get("lora_bias"):
        raise UnsupportedModel(f"The adapter {folder.name} changes biases too, which Loquat cannot merge.")
    if config.get("alora_invocation_tokens"):
        raise UnsupportedModel(f"The adapter {folder.name} counts only behind certain words, so it cannot be merged.")
    begun = str(config.get("init_lora_weights"))
    if begun.lower().startswith(_TAKING):
        raise UnsupportedModel(
            f"The adapter {folder.name} was trained on weights that were changed for it ({shown(begun)}); "
            "get it converted to plain LoRA."
        )


def _targets(folder: Path, config: Mapping[str, Any], entries: list[TensorEntry]) -> Iterator[Target]:
    parts: dict[str, dict[str, TensorEntry]] = {}
    for entry in entries:
        match = _PART.fullmatch(entry.name)
        if match is None:
            said = f"The adapter {folder.name} holds something besides LoRA matrices, which Loquat cannot merge."
            raise UnsupportedModel(said, shown(entry.name))
        parts.setdefault(match[1], {})[match[2]] = entry
    if not parts:
        raise _damaged(folder, "it changes nothing")
    for module, found in parts.items():
        yield _target(folder, config, module, found)


def _target(folder: Path, config: Mapping[str, Any], module: str, found: Mapping[str, TensorEntry]) -> Target:
    if not {"lora_A", "lora_B"} <= found.keys():
        raise _damaged(folder, f"half of {shown(module)} is missing")
    down, up, magnitude = found["lora_A"], found["lora_B"], found.get("lora_magnitude_vector")
    if len(down.shape) != 2 or len(up.shape) != 2 or down.shape[0] != up.shape[1] or 0 in (*down.shape, *up.shape):
        raise _damaged(folder, f"the shapes of {shown(module)} are {down.shape} and {up.shape}")
    if magnitude is not None and math.prod(magnitude.shape) != up.shape[0]:
        raise _damaged(folder, f"the magnitudes of {shown(module)} are {magnitude.shape}")
    for entry in found.values():
        if entry.dtype not in _EXPONENTS:
            raise _damaged(folder, f"{shown(module)} is held as {entry.dtype}")
    plain = module.removeprefix(_PEFT)
    rank = down.shape[0]
    return Target(
        weight=f"{plain_name(plain)}.weight",
        down=down.name,
        up=up.name,
        magnitude=magnitude.name if magnitude else "",
        rank=rank,
        rows=up.shape[0],
        columns=down.shape[1],
        scale=_scale(folder, config, plain, rank),
        transposed=bool(config.get("fan_in_fan_out")),
    )


def _scale(folder: Path, config: Mapping[str, Any], module: str, rank: int) -> float:
    """By default alpha / rank, or alpha / sqrt(rank); both may be set for single modules by a pattern."""
    alpha = _by_pattern(folder, config.get("alpha_pattern"), module, config.get("lora_alpha"))
    stated = _by_pattern(folder, config.get("rank_pattern"), module, config.get("r"))
    if not isinstance(alpha, int | float) or isinstance(alpha, bool) or not math.isfinite(alpha):
        raise _damaged(folder, "its lora_alpha is no number")
    if stated != rank:
        raise _damaged(folder, f"its rank is said to be {shown(str(stated))}, and is {rank}")
    return float(alpha) / (math.sqrt(rank) if config.get("use_rslora") else rank)


def _by_pattern(folder: Path, patterns: object, module: str, default: object) -> object:
    """As peft matches them: a pattern is the end of a module's name, or with ^ in front of it all of the name.

    Raises:
        UnsupportedModel: One is a regular expression beyond that; those of strangers are not run.
    """
    for key, value in patterns.items() if isinstance(patterns, Mapping) else ():
        match = _PATTERN.fullmatch(key)
        if match is None:
            raise UnsupportedModel(
                f"The adapter {folder.name} chooses matrices by a pattern that Loquat does not read ({shown(key)})."
            )
        name = match["name"].replace("\\.", ".")
        if module == name or (not match["whole"] and module.endswith(f".{name}")):
            return value
    return default


def _damaged(folder: Path, problem: str) -> BadModelFile:
    return BadModelFile(f"The adapter {folder.name} is damaged ({problem}); get it again.")
