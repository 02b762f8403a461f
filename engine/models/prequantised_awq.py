"""AWQ (Lin et al. 2023) in the layout that AutoAWQ calls "gemm".

A linear of `columns` inputs and `rows` outputs is three tensors (AutoAWQ, `WQLinear_GEMM`):

    qweight  int32    [columns, rows / 8]   codes of 4 bits, eight outputs of one input in a word
    qzeros   int32    [groups, rows / 8]    zero points, packed alike
    scales   float16  [groups, rows]

The eight outputs of a word are not in order: its lowest bits are output 0, the next output 2, then 4, 6, 1, 3, 5, 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.names import shown
from engine.models.prequantised import FLOATS, Grouped, Prequantised, StoredTensors, even_groups, unpacked

_BITS: Final = 4
_PER_WORD: Final = 8
_PLACES: Final = (0, 4, 1, 5, 2, 6, 3, 7)  # where in a word each of eight outputs is


def read_awq(tensors: StoredTensors, config: Mapping[str, Any]) -> list[Prequantised]:
    """The quantised weights of an AWQ checkpoint; see `read_gptq`.

    Raises:
        UnsupportedModel: It is stored in another layout or number of bits, or scales activations as well.
        BadModelFile: A part is missing, or they do not fit each other.
    """
    variant = str(config.get("version") or config.get("checkpoint_format") or config.get("format") or "gemm").lower()
    bits = config.get("bits", config.get("w_bit", _BITS))
    if variant != "gemm" or bits != _BITS:
        raise UnsupportedModel(
            f"The model {tensors.label} is stored as AWQ {shown(variant)} in {shown(str(bits))} bits, "
            "and only gemm in 4 bits is supported; get it in that format, or as a GGUF."
        )
    if tensors.named(".act.scales"):
        raise UnsupportedModel(
            f"The model {tensors.label} scales its activations as well as its weights, which is not supported; "
            "get it as a GGUF."
        )
    size = int(config.get("group_size", config.get("q_group_size")) or -1)
    return [_weight(tensors, prefix, size) for prefix in tensors.named(".qweight")]


def _weight(tensors: StoredTensors, prefix: str, group_size: int) -> Prequantised:
    parts = [f"{prefix}.{part}" for part in ("qweight", "qzeros", "scales")]
    columns, words = tensors.entry(parts[0], ("I32",), (None, None)).shape
    size = group_size if group_size > 0 else columns
    if not size or columns % size:
        raise BadModelFile(
            f"The model {tensors.label} has groups of {group_size} in rows of {columns} ({shown(prefix)}), "
            "which do not fit; get the model again."
        )
    tensors.entry(parts[1], ("I32",), (columns // size, words))
    tensors.entry(parts[2], tuple(FLOATS), (columns // size, words * _PER_WORD))
    load = partial(_load, tensors, prefix, size)
    return Prequantised(f"{prefix}.weight", (words * _PER_WORD, columns), _BITS, frozenset(parts), load)


def _load(tensors: StoredTensors, prefix: str, group_size: int) -> Grouped:
    words, scales = tensors.words(f"{prefix}.qweight"), tensors.floats(f"{prefix}.scales")
    columns, rows = len(words), words.shape[1] * _PER_WORD
    zeros = _ordered(tensors.words(f"{prefix}.qzeros")).astype(np.int16)

    def codes(start: int, stop: int) -> NDArray[np.uint8]:
        held = _ordered(words[:, start // _PER_WORD : -(-stop // _PER_WORD)])
        return np.ascontiguousarray(held[:, : stop - start].T)

    groups = even_groups(columns, group_size)
    scales, zeros = np.ascontiguousarray(scales.T), np.ascontiguousarray(zeros.T)
    return Grouped(_BITS, (rows, columns), codes, scales, zeros, groups)


def _ordered(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """[n, m] words -> [n, 8 m] codes in the order of the outputs."""
    codes = unpacked(words, _BITS, 1).reshape(len(words), -1, _PER_WORD)
    return codes[:, :, _PLACES].reshape(len(words), -1)
