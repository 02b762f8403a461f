"""How much disk a download and the import after it take, before the first byte. Pure arithmetic."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from engine.formats import SMALL_MODEL
from engine.hub.plan import Plan

# Bits a weight of each family of GGUF quantisations, with their scales; only for files whose weights nobody counted.
_BITS: Final = MappingProxyType({"Q2": 2.6, "Q3": 3.4, "Q4": 4.5, "Q5": 5.5, "Q6": 6.6, "Q8": 8.5, "F32": 32.0})
_BITS_ELSE: Final = 4.5
_FLOATS: Final = ("F16", "BF16", "FP16")


def import_bytes(plan: Plan) -> int:
    """Disk that the import writes: a GGUF's weights as floats, and of every model its packed form besides.

    A folder's own weights take nothing: they are linked, not copied, for they lie on the same disk.
    """
    weights = plan.parameters or _guessed(plan)
    if plan.kind == "gguf":
        return weights * ((4 if weights < SMALL_MODEL else 2) + 1)
    return weights if plan.kind == "safetensors" else 0


def _guessed(plan: Plan) -> int:
    """Weights, from the size of the files."""
    if plan.kind == "safetensors":
        return plan.nbytes // 2
    name = plan.variant.removeprefix("I")
    bits = 16.0 if name in _FLOATS else _BITS.get(name if name == "F32" else name[:2], _BITS_ELSE)
    return int(plan.nbytes * 8 / bits)
