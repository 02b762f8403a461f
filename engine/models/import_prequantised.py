"""Checkpoints that came quantised: their weights as floats for any device, and in their own codes for the CPU kernels.

Each scheme of `SCHEMES` says which stored tensors make up which weight. The weights are unpacked once, a few rows at a
time, and kept as floats; for the CPU kernels their codes are taken as they are where the kernels' layout holds them
(groups of a multiple of 32 columns, with a scale and a zero point), and are quantised again from the floats elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Final

from engine.decoder.checkpoint import PREFIXES, Checkpoint
from engine.errors import BadModelFile, UnsupportedModel
from engine.formats import SMALL_MODEL
from engine.kernels.formats import Kind, QuantizedMatrix, stack
from engine.kernels.quantize import unify
from engine.kernels.sources import Floats, FolderSource, Shape
from engine.models.names import shown
from engine.models.prequantised import FLOATS, Plain, Prequantised, StoredTensors
from engine.models.prequantised_awq import read_awq
from engine.models.prequantised_bnb import read_bnb
from engine.models.prequantised_compressed import read_compressed
from engine.models.prequantised_gptq import read_gptq
from engine.models.weight_files import Rows

Reader = Callable[[StoredTensors, Mapping[str, Any]], list[Prequantised]]

SCHEMES: Final[Mapping[str, Reader]] = {
    "gptq": read_gptq,
    "awq": read_awq,
    "bitsandbytes": read_bnb,
    "compressed-tensors": read_compressed,
}
_KEY: Final = "quantization_config"
# Where older checkpoints say it, beside a config.json that does not.
_OLDER: Final[Mapping[str, str]] = {"quantize_config.json": "gptq", "quant_config.json": "awq"}
_SMALL_FILE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a checkpoint came quantised.

    Attributes:
        method: A key of SCHEMES.
        config: What the checkpoint says about it.
    """

    method: str
    config: Mapping[str, Any]


def scheme_of(source: Path, config: Mapping[str, Any]) -> Scheme | None:
    """How the model in a folder is quantised; None if it is not.

    Args:
        source: The folder.
        config: Its config.json.

    Raises:
        UnsupportedModel: In a way that is not supported; the sentence names it and says what to get.
    """
    said = config.get(_KEY)
    if said is None and isinstance(config.get("text_config"), dict):
        said = config["text_config"].get(_KEY)
    if said is None:
        said = _said_elsewhere(source)
    if said is None:
        return None
    method = _method(said) if isinstance(said, dict) else ""
    if method not in SCHEMES:
        raise UnsupportedModel(
            f"The model {source.name} is quantised by {shown(method) or 'an unknown method'}, which is not supported; "
            "get it as GPTQ, AWQ or bitsandbytes, unquantised, or as a GGUF."
        )
    return Scheme(method, said)


def _method(said: Mapping[str, Any]) -> str:
    method = str(said.get("quant_method") or "").lower()
    if not method and (said.get("load_in_4bit") or said.get("load_in_8bit")):
        return "bitsandbytes"
    return method


def _said_elsewhere(source: Path) -> dict[str, Any] | None:
    for name, method in _OLDER.items():
        path = source / name
        if path.is_file() and path.stat().st_size < _SMALL_FILE:
            try:
                said = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, RecursionError) as error:
                raise BadModelFile(f"The file {name} in {source.name} cannot be read; get it again.") from error
            return {"quant_method": method, **said} if isinstance(said, dict) else None
    return None


def without_scheme(config: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """The config.json of the model once its weights are floats."""
    plain = {key: value for key, value in config.items() if key not in (_KEY, "torch_dtype")} | {"dtype": dtype}
    if isinstance(plain.get("text_config"), dict):
        plain["text_config"] = {key: value for key, value in plain["text_config"].items() if key != _KEY}
    return plain


@dataclass(frozen=True, slots=True)
class QuantisedCheckpoint:
    """The weights of a checkpoint that came quantised, in part or all of them.

    Attributes:
        quantised: Those that did.
        plain: Those that are floats.
        dtype: What the others become.
    """

    quantised: Sequence[Prequantised]
    plain: Sequence[Plain]
    dtype: str

    @property
    def parameters(self) -> int:
        """Numbers in all."""
        return sum(prod(weight.shape) for weight, _ in self.weights)

    @property
    def weights(self) -> list[tuple[Rows, str]]:
        """All of them, with the dtype that each is stored in."""
        return [
            *((weight, self.dtype) for weight in self.quantised),
            *((weight, weight.dtype) for weight in self.plain),
        ]

    @property
    def suits(self) -> str:
        """In how many bits they are best held: as many as they came in."""
        return "int8" if any(weight.bits > 4 for weight in self.quantised) else "int4"

    @property
    def nbytes(self) -> int:
        """Bytes that they take as floats."""
        return sum(prod(weight.shape) * (4 if dtype == "float32" else 2) for weight, dtype in self.weights)


def read_checkpoint(tensors: StoredTensors, scheme: Scheme, config: Mapping[str, Any]) -> QuantisedCheckpoint:
    """What the weights of a quantised checkpoint are, from the headers of its files.

    Raises:
        UnsupportedModel, BadModelFile: See `read_gptq`; or nothing in it is quantised.
    """
    try:
        quantised = SCHEMES[scheme.method](tensors, scheme.config)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        sentence = f"What {tensors.label} says of its quantisation makes no sense; get the model again."
        raise BadModelFile(sentence, repr(error)) from error
    if not quantised:
        raise BadModelFile(
            f"The model {tensors.label} says that it is quantised by {scheme.method}, and none of its weights is; "
            "get the model again."
        )
    for weight in quantised:
        if min(weight.shape) < 1:
            raise tensors.misfit(weight.name, str(weight.shape))
    taken = frozenset[str]().union(*({weight.name, *weight.parts} for weight in quantised))
    plain = [
        Plain(tensors, name) for name, entry in tensors.entries.items() if name not in taken and entry.dtype in FLOATS
    ]
    sixteen = "float16" if str(config.get("dtype") or config.get("torch_dtype")) == "float16" else "bfloat16"
    made = QuantisedCheckpoint(quantised, plain, sixteen)
    return replace(made, dtype="float32") if made.parameters < SMALL_MODEL else made


class PrequantisedSource:
    """Weights for the kernels: codes as they came where the kernels' layout holds them, else from the floats.

    Args:
        folder: The model folder, in which the floats are.
        quantised: The weights that came quantised.
    """

    def __init__(self, folder: Path, quantised: Sequence[Prequantised]) -> None:
        self._floats = FolderSource(Checkpoint(folder))
        self._quantised = {weight.name: weight for weight in quantised}

    def matrix(self, parts: Sequence[tuple[str, Shape]], kind: Kind) -> QuantizedMatrix:
        """Matrices of these names and shapes, stacked by their rows; see `FolderSource.matrix`."""
        held = [self._exact(name, shape, kind) for name, shape in parts]
        whole = [matrix for matrix in held if matrix is not None]
        return stack(unify(whole)) if len(whole) == len(parts) else self._floats.matrix(parts, kind)

    def vector(self, name: str, shape: Shape) -> Floats:
        """A vector, as float32."""
        return self._floats.vector(name, shape)

    def _exact(self, name: str, shape: Shape, kind: Kind) -> QuantizedMatrix | None:
        weight = self._find(name)
        return weight.load().exact(kind) if weight is not None and weight.shape == shape else None

    def _find(self, name: str) -> Prequantised | None:
        names = (name, *(prefix + name for prefix in PREFIXES), f"language_model.{name}")
        return next((self._quantised[known] for known in names if known in self._quantised), None)
