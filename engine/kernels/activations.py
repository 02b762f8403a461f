"""How quantised activations lie in memory.

Four tokens stand together, so that the inner loop finds all their numbers at fixed distances from one address. For each
block of 32 columns and each of the four there is one record:

    0    32 int8 codes
    32   float32 scale
    36   float32 sum of the codes times the scale
    40   int32 sum of the codes
    44   unused
"""

from __future__ import annotations

from typing import Final

from engine.kernels.jit import kernel

GROUP: Final = 4
RECORD: Final = 48
SCALE: Final = 32
WEIGHTED: Final = 36
SUM: Final = 40


def activation_bytes(tokens: int, columns: int) -> int:
    """Bytes of `tokens` rows of `columns`, a multiple of 32."""
    return -(-tokens // GROUP) * GROUP * RECORD * (columns // 32)


@kernel
def record_of(base: int, blocks: int, token: int, block: int) -> int:
    """Address of a token's record of one block; `base` is that of the first token's first."""
    return base + RECORD * (token // GROUP * GROUP * blocks + block * GROUP + token % GROUP)
