"""Blocks of GGUF's packed types with random codes and scales of a sensible size, for types that gguf cannot quantise.

Where the float16 scales lie in a block is written down from ggml's `ggml-common.h`.
"""

from __future__ import annotations

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import quantize

# Byte offsets of the float16 scales (and minima) in a block.
_SCALES: dict[str, tuple[int, ...]] = {
    **{"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)},
    **dict.fromkeys(("IQ4_NL", "IQ4_XS", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"), (0,)),
}


def packed(values: np.ndarray, packing: GGMLQuantizationType) -> np.ndarray:
    """A matrix in packed form: `values` where gguf can quantise to the type, else some of the same shape."""
    try:
        return quantize(values.astype(np.float32), packing)
    except NotImplementedError:
        return random_blocks(values.shape, packing)


def random_blocks(shape: tuple[int, ...], packing: GGMLQuantizationType) -> np.ndarray:
    """uint8 of shape [rows, bytes per row]; the values are no larger than some tens."""
    size, nbytes = GGML_QUANT_SIZES[packing]
    random = np.random.default_rng(packing.value)
    blocks = random.integers(0, 256, (shape[0], shape[1] // size, nbytes), np.uint8)
    for offset in _SCALES.get(packing.name, ()):
        scales = random.uniform(0.001, 0.01, blocks.shape[:2]).astype(np.float16)
        blocks[..., offset : offset + 2] = scales[..., None].view(np.uint8)
    if packing is GGMLQuantizationType.IQ1_M:
        # Its scale lies in four pieces, the upper four bits of each of four numbers: 0x20?? is about 0.01.
        pieces = blocks[..., 48:56].view("<u2")
        pieces[...] = pieces & 0x0FFF | np.array([0, 0, 0, 0x2000], np.uint16)
    return blocks.reshape(shape[0], -1)
