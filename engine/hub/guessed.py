"""How many weights a model has where the hub has not counted them: from its files' size, or its name. Pure."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

# Bits a weight of each family of GGUF quantisations, with their scales; only for files whose weights nobody counted.
_BITS: Final = MappingProxyType({"Q2": 2.6, "Q3": 3.4, "Q4": 4.5, "Q5": 5.5, "Q6": 6.6, "Q8": 8.5, "F32": 32.0})
_BITS_ELSE: Final = 4.5
_FLOATS: Final = ("F16", "BF16", "FP16")
_NAMED: Final = re.compile(r"(?<![A-Za-z0-9.])(?P<number>\d{1,4}(?:\.\d{1,3})?)(?P<unit>[BbMm])(?![A-Za-z0-9])")


def guessed_weights(kind: str, variant: str, nbytes: int) -> int:
    """Weights, from the size of the files.

    Args:
        kind: "gguf", "safetensors" or "adapter".
        variant: The quantisation of a GGUF file.
        nbytes: Of the files.
    """
    if kind == "safetensors":
        return nbytes // 2
    if kind != "gguf":
        return 0
    name = variant.removeprefix("I")
    bits = 16.0 if name in _FLOATS else _BITS.get(name if name == "F32" else name[:2], _BITS_ELSE)
    return int(nbytes * 8 / bits)


def named_weights(repository: str) -> int:
    """Weights, as a repository's name tells them: "Qwen2.5-7B-Instruct-GGUF"; 0 if it tells none."""
    found = _NAMED.search(repository.rpartition("/")[2])
    if found is None:
        return 0
    return round(float(found["number"]) * (1e9 if found["unit"] in "Bb" else 1e6))
