"""How much disk a download and the import after it take, before the first byte. Pure arithmetic."""

from __future__ import annotations

from typing import Final

from engine.formats import SMALL_MODEL
from engine.hub.guessed import guessed_weights, named_weights
from engine.hub.plan import Plan

_WHOLE: Final = 1.5  # bytes of a weight; files with fewer hold quantised ones (GPTQ, AWQ, bitsandbytes)


def import_bytes(plan: Plan) -> int:
    """Disk that the import writes: quantised weights as floats, and of every model its packed form besides.

    A folder's own float weights take nothing: they are linked, not copied, for they lie on the same disk.
    """
    weights = plan.parameters or guessed_weights(plan.kind, plan.variant, plan.nbytes)
    if plan.kind == "gguf":
        return _floats(weights) + weights
    if plan.kind != "safetensors":
        return 0
    named = named_weights(plan.reference.repository)  # the hub counts several quantised weights as one number
    return weights if plan.nbytes >= _WHOLE * named else _floats(named) + named


def _floats(weights: int) -> int:
    """Bytes of weights that are written as floats; those of small models keep 32 bits."""
    return weights * (4 if weights < SMALL_MODEL else 2)
