"""The safetensors format, read (header only, nothing trusted) and written as a stream.

A file is a little-endian length in 64 bits, a JSON header of that length, and the tensors' bytes in the header's
order (https://github.com/huggingface/safetensors, "Format").
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.names import shown

_LENGTH: Final = struct.Struct("<Q")
_ALIGNMENT: Final = 64  # of the data: a cache line, and the widest vector load
_PYTORCH: Final[Mapping[str, str]] = MappingProxyType({"format": "pt"})  # what transformers looks for
# The older format of weights, which this one replaces.
PICKLES: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
# Enough for 45,000 tensors. Once read, JSON can take twenty-five times its size, so the 100 MB that the format allows
# would not do.
MAX_HEADER: Final = 6_000_000
ITEM_BYTES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 8),
}


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor as a header describes it.

    Attributes:
        name: Its name.
        dtype: A key of ITEM_BYTES.
        shape: Rows first.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Numbers held."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return self.elements * ITEM_BYTES[self.dtype]


def write_header(
    file: BinaryIO, entries: Sequence[TensorEntry], about: Mapping[str, str] = _PYTORCH, room: int = 0
) -> None:
    """Write the header with its metadata; the caller writes each tensor's bytes next, in the same order.

    Args:
        file: Where to.
        entries: The tensors.
        about: Metadata.
        room: Bytes to fill, for tensors that were written already behind them; 0 takes as many as are needed.

    Raises:
        ValueError: The header is longer than its room.
    """
    header: dict[str, Any] = {"__metadata__": dict(about)}
    offset = 0
    for entry in entries:
        end = offset + entry.nbytes
        header[entry.name] = {"dtype": entry.dtype, "shape": list(entry.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    if room and len(text) + _LENGTH.size > room:
        raise ValueError(f"a header of {len(text)} bytes in {room}")
    text += b" " * (room - len(text) - _LENGTH.size if room else -(len(text) + _LENGTH.size) % _ALIGNMENT)
    file.write(_LENGTH.pack(len(text)) + text)


def read_entries(path: Path) -> list[TensorEntry]:
    """The tensors of a file, after checking that they fill it exactly, one after the other.

    Raises:
        BadModelFile: The header is damaged, or does not fit the file.
        UnsupportedModel: It holds numbers of a kind that is not known.
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        start = file.read(_LENGTH.size)
        length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else size
        if length > size - _LENGTH.size:
            raise _damaged(path, "its header is longer than the file allows")
        if length > MAX_HEADER:
            raise _damaged(path, "its header is longer than that of any model")
        text = file.read(length)
    return _check(path, _decode(path, text), size - _LENGTH.size - length)


def _decode(path: Path, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    if not isinstance(header, dict):
        raise _damaged(path, "its header cannot be read")
    header.pop("__metadata__", None)
    return header


def _check(path: Path, header: Mapping[str, Any], data_bytes: int) -> list[TensorEntry]:
    spans = sorted((_entry(path, name, value) for name, value in header.items()), key=lambda span: span[1:])
    expected = 0
    for entry, begin, end in spans:
        if begin != expected or end - begin != entry.nbytes:
            raise _damaged(path, f"the place of {shown(entry.name)} is wrong")
        expected = end
    if expected != data_bytes:
        raise _damaged(path, f"it is {data_bytes} bytes long where {expected} are described")
    return [entry for entry, _, _ in spans]


def _entry(path: Path, name: str, value: Mapping[str, Any]) -> tuple[TensorEntry, int, int]:
    try:
        dtype, shape, (begin, end) = value["dtype"], value["shape"], value["data_offsets"]
        sound = all(isinstance(number, int) and number >= 0 for number in (*shape, begin, end))
    except (TypeError, KeyError, ValueError) as error:
        raise _damaged(path, f"the entry of {shown(name)} cannot be read") from error
    if not sound or not isinstance(dtype, str):
        raise _damaged(path, f"the entry of {shown(name)} cannot be read")
    if dtype not in ITEM_BYTES:
        raise UnsupportedModel(
            f"The file {path.name} holds numbers of a kind that Loquat does not know ({shown(dtype)}).", shown(name)
        )
    return TensorEntry(name, dtype, tuple(shape)), begin, end


def _damaged(path: Path, problem: str) -> BadModelFile:
    return BadModelFile(f"The file {path.name} is damaged or incomplete ({problem}); get it again.", str(path))


def pickles_in(folder: Path) -> list[str]:
    """Names of the pickled files in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir() if path.suffix.lower() in PICKLES)


def pickle_refused(name: str) -> UnsupportedModel:
    """Why a pickled file is not read."""
    return UnsupportedModel(
        f"The file {name} is a Python pickle, which can run any program when it is loaded; "
        "get the model as safetensors or GGUF."
    )
