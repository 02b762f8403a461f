"""GPTQ (Frantar et al. 2022) as AutoGPTQ and GPTQModel store it, in 4 and 8 bits, with or without reordered columns.

A linear of `columns` inputs and `rows` outputs is four tensors (GPTQModel, `nn_modules/qlinear`):

    qweight  int32    [columns * bits / 32, rows]   codes, several inputs of one output in a word
    qzeros   int32    [groups, rows * bits / 32]    zero points, several outputs in a word
    scales   float16  [groups, rows]
    g_idx    int32    [columns]                     the group of each input; may be absent where they come in order

The older format ("gptq") holds zero points less one, the newer one ("gptq_v2") as they are.
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

_BITS: Final = (4, 8)
_FORMATS: Final[Mapping[str, int]] = {"": 1, "gptq": 1, "gptq_v2": 0}  # what is to be added to a zero point


def read_gptq(tensors: StoredTensors, config: Mapping[str, Any]) -> list[Prequantised]:
    """The quantised weights of a GPTQ checkpoint.

    Args:
        tensors: The checkpoint's.
        config: Its `quantization_config`.

    Raises:
        UnsupportedModel: It is stored in a variant that is not supported, or in another number of bits.
        BadModelFile: A part is missing, or they do not fit each other.
    """
    variant = str(config.get("checkpoint_format") or config.get("format") or "").lower()
    if variant not in _FORMATS:
        raise UnsupportedModel(
            f"The model {tensors.label} is stored in the GPTQ format {shown(variant)}, which only some GPUs read; "
            "get it in the plain GPTQ format, or as a GGUF."
        )
    size = int(config.get("group_size") or -1)
    return [_weight(tensors, prefix, size, _FORMATS[variant]) for prefix in tensors.named(".qweight")]


def _weight(tensors: StoredTensors, prefix: str, group_size: int, added: int) -> Prequantised:
    parts = [f"{prefix}.{part}" for part in ("qweight", "qzeros", "scales")]
    words, rows = tensors.entry(parts[0], ("I32",), (None, None)).shape
    groups = tensors.entry(parts[2], tuple(FLOATS), (None, rows)).shape[0]
    zeros = tensors.entry(parts[1], ("I32",), (groups, None)).shape[1]
    bits = 32 * zeros // rows if rows else 0
    if bits not in _BITS or 32 * zeros != bits * rows:
        raise UnsupportedModel(
            f"The model {tensors.label} is quantised by GPTQ in {bits} bits ({shown(prefix)}), and only 4 and 8 are "
            "supported; get it in one of these, or as a GGUF."
        )
    columns = words * 32 // bits
    if f"{prefix}.g_idx" in tensors:
        tensors.entry(f"{prefix}.g_idx", ("I32", "I64"), (columns,))
        parts.append(f"{prefix}.g_idx")
    elif group_size > 0 and (columns % group_size or groups != columns // group_size):
        raise BadModelFile(
            f"The model {tensors.label} has groups of {group_size} in rows of {columns} ({shown(prefix)}), "
            "which do not fit; get the model again."
        )
    load = partial(_load, tensors, prefix, bits=bits, added=added, group_size=group_size)
    return Prequantised(f"{prefix}.weight", (rows, columns), bits, frozenset(parts), load)


def _load(tensors: StoredTensors, prefix: str, *, bits: int, added: int, group_size: int) -> Grouped:
    words, scales = tensors.words(f"{prefix}.qweight"), tensors.floats(f"{prefix}.scales")
    columns, rows = len(words) * 32 // bits, words.shape[1]
    zeros = unpacked(tensors.words(f"{prefix}.qzeros"), bits, 1).astype(np.int16)
    # A zero point of 0 was stored as the highest code: one less, within its bits.
    zeros = (zeros + added) & ((1 << bits) - 1)

    def codes(start: int, stop: int) -> NDArray[np.uint8]:
        return np.ascontiguousarray(unpacked(words[:, start:stop], bits, 0).T)

    groups = _groups(tensors, f"{prefix}.g_idx", len(scales), even_groups(columns, group_size))
    return Grouped(bits, (rows, columns), codes, np.ascontiguousarray(scales.T), np.ascontiguousarray(zeros.T), groups)


def _groups(tensors: StoredTensors, name: str, count: int, otherwise: NDArray[np.intp]) -> NDArray[np.intp]:
    groups = tensors.tensor(name).numpy().astype(np.intp) if name in tensors else otherwise
    if groups.size and (groups.min() < 0 or groups.max() >= count):
        raise BadModelFile(
            f"The quantised weights in {tensors.label} name groups that are not there ({shown(name)}); "
            "get the model again."
        )
    return groups
