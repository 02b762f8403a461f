"""How quantised activations lie in memory.

An activation is an integer of 15 bits times a scale per block of 32, held as two bytes: code = 128 * high + low. One
byte would be too coarse: on a small model it changes the logits by 1 and with them the greedy answer; two change them
by less than 0.02, and where decode waits for memory the second dot product is free.

Four tokens stand together, so that the inner loop finds all their numbers at fixed distances from one address. For each
block of 32 columns and each of the four there is one record:

    0    32 int8 high halves, -127..127
    32   32 int8 low halves, -64..64
    64   float32 scale
    68   float32 sum of the codes times the scale
    72   int32 sum of the codes
    76   unused
"""

from __future__ import annotations

from typing import Final

from engine.kernels.jit import kernel

GROUP: Final = 4
RECORD: Final = 80
LOW: Final = 32
SCALE: Final = 64
WEIGHTED: Final = 68
SUM: Final = 72
HALF_BITS: Final = 7
LARGEST_HIGH: Final = 127.0


def activation_bytes(tokens: int, columns: int) -> int:
    """Bytes of `tokens` rows of `columns`, a multiple of 32."""
    return -(-tokens // GROUP) * GROUP * RECORD * (columns // 32)


@kernel
def record_of(base: int, blocks: int, token: int, block: int) -> int:
    """Address of a token's record of one block; `base` is that of the first token's first."""
    return base + RECORD * (token // GROUP * GROUP * blocks + block * GROUP + token % GROUP)
