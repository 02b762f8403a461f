"""Reads GGUF files (versions 2 and 3, little endian) over a memory map, without trusting a single length in them.

The layout is that of ggml's docs/gguf.md: header, key-value pairs, tensor infos, padding, tensor data. Metadata is
read in one pass with plain slices, so 100,000 strings take a fraction of a second; tensor data is only looked at
through views, and stays on the disk until it is used.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from gguf.constants import GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, GGMLQuantizationType

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.gguf_cursor import TOO_MUCH, Cursor
from engine.models.gguf_metadata import Metadata, Value
from engine.models.names import shown

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
MAX_DIMS: Final = 4
MOST_TENSORS: Final = 65_536  # the largest models have some thousands
MOST_PAIRS: Final = 10_000  # and some hundreds
_HEADER: Final = struct.Struct("<4sIQQ")
# The least that one entry can take: an empty name, a type and one byte; an empty name and no dimensions.
_MIN_PAIR_BYTES: Final = 13
_MIN_TENSOR_BYTES: Final = 24


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """One tensor as it lies in the file.

    Attributes:
        name: As in the file, e.g. "blk.0.attn_q.weight".
        shape: Rows first, as torch has it (the file has them the other way round).
        ggml_type: How its numbers are packed.
        blocks: uint8 view of the memory map, shape [rows, bytes per row]; a row is a whole number of blocks.
        data: The map.
        start: Where in it the tensor begins.
    """

    name: str
    shape: tuple[int, ...]
    ggml_type: GGMLQuantizationType
    blocks: npt.NDArray[np.uint8]
    data: mmap.mmap
    start: int

    def forget(self) -> None:
        """Give back the memory of pages that were read, where the system needs to be told; they can be read again."""
        if hasattr(self.data, "madvise"):
            first = self.start // mmap.PAGESIZE * mmap.PAGESIZE
            self.data.madvise(mmap.MADV_DONTNEED, first, self.start - first + self.blocks.nbytes)

    @property
    def elements(self) -> int:
        """Numbers held."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A GGUF file whose structure was checked.

    Attributes:
        path: Where it lies.
        nbytes: Its size.
        metadata: All key-value pairs.
        tensors: By name, in the file's order.
    """

    path: Path
    nbytes: int
    metadata: Metadata
    tensors: Mapping[str, GgufTensor]


@dataclass(frozen=True, slots=True)
class _TensorInfo:
    name: str
    shape: tuple[int, ...]
    ggml_type: GGMLQuantizationType
    offset: int

    @property
    def row_bytes(self) -> int:
        block, size = GGML_QUANT_SIZES[self.ggml_type]
        return self.shape[-1] // block * size

    @property
    def nbytes(self) -> int:
        return prod(self.shape[:-1]) * self.row_bytes


def is_gguf(path: Path) -> bool:
    """Whether a file starts as a GGUF file does."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def not_gguf(name: str) -> BadModelFile:
    """The error for any other file."""
    return BadModelFile(
        f"The file {name} is no GGUF model; give a GGUF file, or the folder that holds the safetensors."
    )


@contextmanager
def open_part(path: Path) -> Iterator[GgufFile]:
    """Check one GGUF file, a whole model or a part of one, and give views into it (see `engine.models.gguf_parts`).

    The views must not be used after the block ends; on Windows the file stays locked while one lives.

    Raises:
        BadModelFile: The file is no GGUF, is cut off, or contradicts itself.
        UnsupportedModel: A sound file of a version, byte order or tensor type that is not supported.
        OSError: The file cannot be opened.
    """
    with path.open("rb") as file:
        if path.stat().st_size < _HEADER.size:
            raise not_gguf(path.name)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        yield _parse(Cursor(data, path.name), path)
    finally:
        # A view that is still referenced, for example by a traceback, keeps the map open until it goes itself.
        with suppress(BufferError):
            data.close()


def _parse(cursor: Cursor, path: Path) -> GgufFile:
    tensor_count, pair_count = _header(cursor)
    metadata = Metadata(path.name, _pairs(cursor, pair_count))
    infos = _tensor_infos(cursor, tensor_count)
    alignment = metadata.integer("general.alignment", GGUF_DEFAULT_ALIGNMENT)
    if alignment < 1 or alignment & (alignment - 1):
        cursor.refuse(f"its alignment is {alignment}")
    data_start = -(-cursor.at // alignment) * alignment
    _check_layout(cursor, infos, alignment, data_start)
    tensors = {info.name: _view(cursor.data, info, data_start) for info in infos}
    return GgufFile(path, cursor.end, metadata, tensors)


def _header(cursor: Cursor) -> tuple[int, int]:
    magic, version, tensor_count, pair_count = _HEADER.unpack_from(cursor.data, 0)
    cursor.at = _HEADER.size
    if magic != MAGIC:
        raise not_gguf(cursor.file_name)
    if version not in VERSIONS:
        big_endian = version and version & 0xFFFF == 0
        reason = "a big-endian file" if big_endian else f"of GGUF version {version}"
        raise UnsupportedModel(f"The file {cursor.file_name} is {reason}; Loquat reads little-endian versions 2 and 3.")
    cursor.need(tensor_count * _MIN_TENSOR_BYTES + pair_count * _MIN_PAIR_BYTES)
    if tensor_count > MOST_TENSORS or pair_count > MOST_PAIRS:
        cursor.refuse(TOO_MUCH)
    return tensor_count, pair_count


def _pairs(cursor: Cursor, count: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for _ in range(count):
        key = cursor.string()
        if key in values:
            cursor.refuse(f"it holds {shown(key)} twice")
        values[key] = cursor.value()
    return values


def _tensor_infos(cursor: Cursor, count: int) -> list[_TensorInfo]:
    infos = [_tensor_info(cursor) for _ in range(count)]
    if len({info.name for info in infos}) != count:
        cursor.refuse("two tensors in it have the same name")
    return infos


def _tensor_info(cursor: Cursor) -> _TensorInfo:
    name, dims = cursor.string(), cursor.u32()
    if not 1 <= dims <= MAX_DIMS:
        cursor.refuse(f"the tensor {shown(name)} has {dims} dimensions")
    shape = tuple(cursor.u64() for _ in range(dims))[::-1]
    type_id, offset = cursor.u32(), cursor.u64()
    if 0 in shape:
        cursor.refuse(f"the tensor {shown(name)} is empty")
    if type_id not in set(GGMLQuantizationType):
        raise UnsupportedModel(
            f"The file {cursor.file_name} is packed in a way that Loquat does not know (type {type_id}).", name
        )
    ggml_type = GGMLQuantizationType(type_id)
    if shape[-1] % GGML_QUANT_SIZES[ggml_type][0]:
        cursor.refuse(f"a row of the tensor {shown(name)} is no whole number of {ggml_type.name} blocks")
    return _TensorInfo(name, shape, ggml_type, offset)


def _check_layout(cursor: Cursor, infos: list[_TensorInfo], alignment: int, data_start: int) -> None:
    """Every tensor starts where it may, after the one before it, and ends within the file."""
    free_from = 0
    for info in sorted(infos, key=lambda info: info.offset):
        if info.offset % alignment:
            cursor.refuse(f"the tensor {shown(info.name)} is not aligned")
        if info.offset < free_from:
            cursor.refuse(f"the tensor {shown(info.name)} overlaps another")
        free_from = info.offset + info.nbytes
        if data_start + free_from > cursor.end:
            cursor.refuse(f"the tensor {shown(info.name)} reaches beyond its end")


def _view(data: mmap.mmap, info: _TensorInfo, data_start: int) -> GgufTensor:
    start = data_start + info.offset
    flat = np.frombuffer(data, np.uint8, info.nbytes, start)
    return GgufTensor(info.name, info.shape, info.ggml_type, flat.reshape(-1, info.row_bytes), data, start)
