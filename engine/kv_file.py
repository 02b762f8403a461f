"""The file of one saved KV cache: the safetensors format, with a checksum over everything in it.

It is written tensor by tensor so that writing can be abandoned at once, and no second copy of a cache is made.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import safetensors
import torch
from torch import Tensor

from engine.kv_cache import Snapshot

_PIECE: Final = 1 << 20  # bytes written between two looks at whether to stop
_LONGEST_HEADER: Final = 100 << 20  # bytes; the format's own limit
_IDS: Final = "ids"
_NO_CHECKSUM: Final = b'"crc32": "00000000"'
_CHECKSUM: Final = re.compile(rb'"crc32": "([0-9a-f]{8})"')
_NAMES: Final = {
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.int32: "I32",
    torch.int64: "I64",
}
# What opening and parsing a file that is damaged or none of ours raises.
UNREADABLE: Final = (OSError, ValueError, KeyError, safetensors.SafetensorError)


@dataclass(frozen=True, slots=True)
class About:
    """What a file says of itself.

    Attributes:
        conversation: Whose cache it is.
        fingerprint: Of model, tokenizer and cache format.
        ids: Tokens it holds, int32 [length].
        names: Of its tensors.
    """

    conversation: str
    fingerprint: str
    ids: np.ndarray
    names: tuple[str, ...]


def write_file(path: Path, conversation: str, fingerprint: str, snapshot: Snapshot, stop: Callable[[], bool]) -> bool:
    """Write a cache; whether it was finished. What was read after the last look at `stop` may have changed already.

    Raises:
        OSError: The disk is full or refuses.
    """
    tensors = _ordered({_IDS: torch.tensor(snapshot.ids, dtype=torch.int32), **snapshot.tensors})
    header = _header(tensors, {"conversation": json.dumps(conversation), "fingerprint": fingerprint})
    checksum = zlib.crc32(header)
    with path.open("wb") as file:
        file.write(header)
        for tensor in tensors.values():
            data = _bytes(tensor)
            for start in range(0, len(data), _PIECE):
                if stop():
                    return False
                piece = data[start : start + _PIECE]
                checksum = zlib.crc32(piece, checksum)
                file.write(piece)
        file.seek(0)  # its place was kept: the checksum is known only now
        file.write(header.replace(_NO_CHECKSUM, f'"crc32": "{checksum:08x}"'.encode(), 1))
    return True


def read_about(path: Path) -> About:
    """What a file says of itself, which is not proven before `read_tensors`.

    Raises:
        One of UNREADABLE: It is damaged or no such file.
    """
    with safetensors.safe_open(path, "pt") as file:
        about = file.metadata() or {}
        ids = file.get_tensor(_IDS).numpy().astype(np.int32)
        return About(json.loads(about["conversation"]), about["fingerprint"], ids, tuple(file.offset_keys()))


def read_tensors(path: Path, ids: Sequence[int] | np.ndarray) -> dict[str, Tensor]:
    """The tensors of a file that holds `ids`, mapped into memory rather than read.

    Raises:
        One of UNREADABLE: It is damaged, or holds something else.
    """
    _check(path)
    with safetensors.safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.offset_keys()}
    if not np.array_equal(tensors.pop(_IDS).numpy(), ids):
        raise ValueError("it holds other tokens")
    return tensors


def _check(path: Path) -> None:
    """Compare the checksum, which covers the header too, with itself set to zero.

    Raises:
        ValueError: It differs, or there is none.
    """
    with path.open("rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == len(b"12345678") else _LONGEST_HEADER + 1
        text = file.read(size) if size <= _LONGEST_HEADER else b""
        found = _CHECKSUM.search(text)
        if not found:
            raise ValueError("it has no checksum")
        checksum = zlib.crc32(start + _CHECKSUM.sub(_NO_CHECKSUM, text, count=1))
        while piece := file.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    if checksum != int(found[1], 16):
        raise ValueError("its checksum is wrong")


def _ordered(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Widest elements first, so that each tensor is aligned in the file."""
    return dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))


def _header(tensors: Mapping[str, Tensor], about: dict[str, str]) -> bytes:
    entries: dict[str, object] = {"__metadata__": {"crc32": "00000000", **about}}
    offset = 0
    for name, tensor in tensors.items():
        span = [offset, offset + tensor.nbytes]
        entries[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": span}
        offset = span[1]
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _bytes(tensor: Tensor) -> memoryview:
    raw: np.ndarray = tensor.cpu().contiguous().flatten().view(torch.uint8).numpy()
    return raw.data
