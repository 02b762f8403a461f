"""Whether the sizes in a config.json can be those of the weights beside it, before anything of such a size is built.

A config.json is a file like any other: one number in it can ask for a billion layers. Each size is compared with what
the headers of the weights hold; what no single size shows (a product of them) is bounded while transformers builds the
model, see `engine.hf_runner.lacking_weights`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, prod
from typing import Any, Final

from engine.decoder.config import SIZES_REFUSED
from engine.errors import BadModelFile
from engine.formats import MOST_LAYERS

# Sizes under the names that architectures give them; each is a whole number, or one for each layer.
_ABOVE_ZERO: Final = frozenset(
    (
        *("num_hidden_layers", "n_layer", "n_layers", "num_layers", "hidden_size", "n_embd", "d_model", "vocab_size"),
        *("num_attention_heads", "n_head", "n_heads", "max_position_embeddings", "n_positions"),
    )
)
_WHOLE: Final = _ABOVE_ZERO | {"intermediate_size", "num_key_value_heads", "head_dim", "n_inner", "ffn_dim"}
# Parts of the names of numbers that are no size of a weight: lengths in tokens, ids of tokens, bases and factors.
_NO_SIZE: Final = ("position", "length", "window", "theta", "token", "_id", "max_", "seq", "base", "ctx", "context")
_NO_SIZE_EITHER: Final = ("factor", "scale", "scaling", "multiplier", "seed", "eps", "limit", "chunk", "alpha", "beta")
_LONGEST: Final = 1 << 40  # the largest of those others; the longest contexts are of some ten million tokens
_TIMES: Final = 4  # how much larger than what the files hold a size may be
_MORE: Final = 1_000_000  # and this
_MORE_LAYERS: Final = 100  # defaults that a config.json of a small model carries along
# An architecture has sizes where a config.json names none: that such weights are another's is found by their names.
_MORE_NUMBERS: Final = 1_000_000_000
_MORE_MODULES: Final = 3_000


@dataclass(frozen=True, slots=True)
class Held:
    """What the headers of a model's weights hold.

    Attributes:
        numbers: In all.
        tensors: How many.
        largest: The largest dimension of any.
        layers: The most that are counted in the names of tensors.
    """

    numbers: int
    tensors: int
    largest: int
    layers: int

    @classmethod
    def of(cls, shapes: Mapping[str, tuple[int, ...]]) -> Held:
        """What tensors of these names and shapes are."""
        return cls(
            numbers=sum(map(prod, shapes.values())),
            tensors=len(shapes),
            largest=max((size for shape in shapes.values() for size in shape), default=0),
            layers=_layers(shapes),
        )

    @property
    def most_numbers(self) -> int:
        """More cannot be asked for."""
        return _TIMES * self.numbers + _MORE_NUMBERS

    @property
    def most_modules(self) -> int:
        """More parts of a model cannot be asked for: each has weights, or is one of a few in a layer."""
        return 2 * _TIMES * self.tensors + _MORE_MODULES


def _layers(names: Mapping[str, object]) -> int:
    counted: dict[str, set[str]] = defaultdict(set)
    for name in names:
        parts = name.split(".")
        first = next((i for i, part in enumerate(parts) if part.isdecimal()), None)
        if first is not None:
            counted[".".join(parts[:first])].add(parts[first])
    return max(map(len, counted.values()), default=0)


def check_sizes(config: Mapping[str, Any], held: Held) -> None:
    """Refuse sizes that make no sense, or that are far from those of the weights.

    Args:
        config: A config.json.
        held: The weights.

    Raises:
        BadModelFile: A size is none, or asks for far more than there is.
    """
    for name, value, listed in _named(config):
        if not _sound(name, value, held, listed=listed):
            raise BadModelFile(SIZES_REFUSED, f"{name} = {value!r:.100} beside {held}")


def _named(config: Mapping[str, Any]) -> Iterator[tuple[str, object, bool]]:
    """Each value that is no object or list, with the name it has, however deep it lies, and whether in a list."""
    left: list[tuple[str, object, bool]] = [("", config, False)]
    while left:
        name, value, listed = left.pop()
        if isinstance(value, dict):
            left += ((key, inner, False) for key, inner in value.items())
        elif isinstance(value, list):
            left += ((name, inner, True) for inner in value)
        else:
            yield name, value, listed


def _sound(name: str, value: object, held: Held, *, listed: bool) -> bool:
    least = 1 if name in _ABOVE_ZERO and not listed else 0  # a layer of its own kind may have none
    if name in _WHOLE and value is not None and not _is_size(value, least):
        return False
    if isinstance(value, float):
        if isnan(value):
            return False
        value = int(value) if value.is_integer() else value
    if not isinstance(value, int):
        return True
    if any(part in name for part in (*_NO_SIZE, *_NO_SIZE_EITHER)):
        return abs(value) <= _LONGEST
    if "layer" in name and "per_layer" not in name:
        return value <= min(MOST_LAYERS, _TIMES * held.layers + _MORE_LAYERS)
    return abs(value) <= _TIMES * held.largest + _MORE


def _is_size(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
