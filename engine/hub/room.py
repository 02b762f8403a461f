"""How much disk a download and the import after it take, before the first byte. Pure arithmetic."""

from __future__ import annotations

from engine.formats import SMALL_MODEL
from engine.hub.guessed import guessed_weights
from engine.hub.plan import Plan


def import_bytes(plan: Plan) -> int:
    """Disk that the import writes: a GGUF's weights as floats, and of every model its packed form besides.

    A folder's own weights take nothing: they are linked, not copied, for they lie on the same disk.
    """
    weights = plan.parameters or guessed_weights(plan.kind, plan.variant, plan.nbytes)
    if plan.kind == "gguf":
        return weights * ((4 if weights < SMALL_MODEL else 2) + 1)
    return weights if plan.kind == "safetensors" else 0
