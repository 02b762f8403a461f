"""KV caches on disk: one safetensors file a conversation, checked before it is believed, oldest out first.

A file is written layer by layer so that writing can be abandoned at once when the person asks something, and
put in place by a rename. It is never needed: whatever cannot be read or written is logged, and computed again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import safetensors
import torch
from filelock import FileLock, Timeout
from torch import Tensor

_log = logging.getLogger(__name__)

_PIECE: Final = 4 << 20  # bytes written between two looks at whether to stop
_NAMES: Final = {
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.int32: "I32",
    torch.int64: "I64",
}


@dataclass(frozen=True, slots=True)
class SavedCache:
    """What is known of a file without reading its tensors.

    Attributes:
        conversation: Whose it is.
        ids: Tokens it holds, int32 [length].
        path, nbytes: The file and its size.
        used: When it was last read or written, seconds since the epoch.
    """

    conversation: str
    ids: np.ndarray
    path: Path
    nbytes: int
    used: float


class KVDisk:
    """The saved caches of one model in one format.

    Args:
        root: Folder for all models' caches.
        fingerprint: Of model, tokenizer and cache format; files of others are never looked at.
        limit: Most bytes of all files below `root`, whatever model they are of.

    Attributes:
        problem: One sentence if caches cannot be saved (another program has the folder, or it is read-only).
    """

    def __init__(self, root: Path, fingerprint: str, limit: int) -> None:
        self._root = root
        self._folder = root / fingerprint[:24]
        self._fingerprint = fingerprint
        self._limit = limit
        self._lock: FileLock | None = None
        self._index = threading.Lock()  # the store reads while its writer writes
        self.problem = self._open()
        self._saved = {} if self.problem else self._scan()

    @property
    def saved(self) -> Sequence[SavedCache]:
        """All usable files."""
        with self._index:
            return tuple(self._saved.values())

    def length_saved(self, conversation: str, ids: Sequence[int]) -> int:
        """Tokens of this very sequence that are on disk for a conversation, 0 if what is there differs."""
        with self._index:
            known = self._saved.get(conversation)
        if known is None or len(known.ids) > len(ids) or not np.array_equal(known.ids, ids[: len(known.ids)]):
            return 0
        return len(known.ids)

    def write(
        self, conversation: str, ids: Sequence[int], tensors: Mapping[str, Tensor], stop: Callable[[], bool]
    ) -> bool:
        """Save a cache; whether it was. False when `stop` said so or the disk refused; then nothing changes."""
        if self.problem:
            return False
        path = self._folder / (hashlib.sha256(conversation.encode()).hexdigest()[:32] + ".safetensors")
        partial = path.with_suffix(f".{os.getpid()}.partial")
        try:
            whole = _write_file(partial, tensors, self._metadata(conversation, ids), ids, stop)
            if whole:
                partial.replace(path)
                with self._index:
                    self._remember(path)
                    self._trim()
            return whole
        except OSError as error:
            _log.warning("A conversation's cache was not saved: %s", error)
            return False
        finally:
            _remove(partial)

    def read(self, saved: SavedCache) -> dict[str, Tensor] | None:
        """The tensors of a file, or None (and the file is gone) if it is damaged."""
        try:
            tensors = _read_file(saved.path)
            os.utime(saved.path)
            return tensors
        except (OSError, ValueError, safetensors.SafetensorError) as error:
            _log.warning("A saved cache is damaged and is not used: %s: %s", saved.path.name, error)
            self.forget(saved.conversation)
            return None

    def forget(self, conversation: str) -> None:
        """Remove a conversation's file, if there is one."""
        with self._index:
            saved = self._saved.pop(conversation, None)
        if saved:
            _remove(saved.path)

    def close(self) -> None:
        """Let other programs have the folder."""
        if self._lock is not None:
            self._lock.release()

    def _open(self) -> str:
        """Make and lock the folder; the problem in one sentence, "" if there is none."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self._root / "lock")
            self._lock.acquire(timeout=0)
            return ""
        except Timeout:
            sentence = "Another Loquat uses the folder of saved caches; this one keeps its caches in memory only."
        except OSError as error:
            sentence = f"Caches cannot be saved in {self._root} ({error.strerror}); they are kept in memory only."
        self._lock = None
        _log.warning("%s", sentence)
        return sentence

    def _scan(self) -> dict[str, SavedCache]:
        for partial in self._root.glob("*/*.partial"):
            _remove(partial)
        found: dict[str, SavedCache] = {}
        for path in self._folder.glob("*.safetensors"):
            saved = self._inspect(path)
            if saved:
                found[saved.conversation] = saved
        return found

    def _inspect(self, path: Path) -> SavedCache | None:
        try:
            stat = path.stat()
            with safetensors.safe_open(path, "pt") as file:
                about = file.metadata() or {}
                ids = file.get_tensor("ids").numpy().astype(np.int32)
            if about.get("fingerprint") != self._fingerprint:
                raise ValueError("of another model")
            return SavedCache(about["conversation"], ids, path, stat.st_size, stat.st_mtime)
        except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
            _log.warning("A saved cache does not fit and is not used: %s: %s", path.name, error)
            _remove(path)
            return None

    def _metadata(self, conversation: str, ids: Sequence[int]) -> dict[str, str]:
        return {"conversation": conversation, "fingerprint": self._fingerprint, "length": str(len(ids))}

    def _remember(self, path: Path) -> None:
        saved = self._inspect(path)
        if saved:
            self._saved[saved.conversation] = saved

    def _trim(self) -> None:
        """Remove the files longest unused, of any model, until the limit holds."""
        files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self._root.glob("*/*.safetensors"))
        over = sum(size for _, size, _ in files) - self._limit
        for _, size, path in files:
            if over <= 0:
                return
            _remove(path)
            self._saved = {name: saved for name, saved in self._saved.items() if saved.path != path}
            over -= size


def _write_file(
    path: Path, tensors: Mapping[str, Tensor], about: dict[str, str], ids: Sequence[int], stop: Callable[[], bool]
) -> bool:
    """Write the safetensors format piece by piece; whether it was finished.

    The header comes first, and in it the checksum of what follows, so its place is kept and it is written last.
    """
    every = {"ids": torch.tensor(list(ids), dtype=torch.int32), **tensors}
    header = _header(every, about, 0)
    checksum = 0
    with path.open("wb") as file:
        file.write(header)
        for tensor in every.values():
            data = _bytes(tensor)
            for start in range(0, len(data), _PIECE):
                if stop():
                    return False
                piece = data[start : start + _PIECE]
                checksum = zlib.crc32(piece, checksum)
                file.write(piece)
        file.seek(0)
        file.write(_header(every, about, checksum))
    return not stop()  # what was read after the last look may have changed already


def _header(tensors: Mapping[str, Tensor], about: dict[str, str], checksum: int) -> bytes:
    entries: dict[str, object] = {"__metadata__": {**about, "crc32": f"{checksum:08x}"}}
    offset = 0
    for name, tensor in tensors.items():
        span = [offset, offset + tensor.nbytes]
        entries[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": span}
        offset = span[1]
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _read_file(path: Path) -> dict[str, Tensor]:
    """All tensors but the ids.

    Raises:
        ValueError: The checksum is wrong.
    """
    with safetensors.safe_open(path, "pt") as file:
        wanted = (file.metadata() or {}).get("crc32")
        tensors = {name: file.get_tensor(name) for name in file.offset_keys()}
    checksum = 0
    for tensor in tensors.values():
        checksum = zlib.crc32(_bytes(tensor), checksum)
    if f"{checksum:08x}" != wanted:
        raise ValueError("its checksum is wrong")
    del tensors["ids"]
    return tensors


def _bytes(tensor: Tensor) -> memoryview:
    raw: np.ndarray = tensor.cpu().contiguous().flatten().view(torch.uint8).numpy()
    return raw.data


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("A saved cache could not be removed: %s", error)
