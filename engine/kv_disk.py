"""KV caches on disk: one file a conversation, checked before it is believed, oldest out first.

A file is put in place by a rename, and never needed: whatever cannot be read or written is logged, and computed
again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from filelock import FileLock, Timeout

from engine.kv_cache import Snapshot, common_prefix, mark_lengths
from engine.kv_file import UNREADABLE, read_about, read_tensors, write_file
from engine.kv_folder import STEM_LENGTH, file_name, files_of, remove

_log = logging.getLogger(__name__)

_OURS: Final = "[0-9a-f]" * STEM_LENGTH


@dataclass(frozen=True, slots=True)
class SavedCache:
    """What is known of a file without reading its tensors.

    Attributes:
        conversation: Whose it is.
        ids: Tokens it holds, int32 [length].
        marks: Lengths besides the whole one that it holds states of.
        path, nbytes: The file and its size.
    """

    conversation: str
    ids: np.ndarray
    marks: tuple[int, ...]
    path: Path
    nbytes: int


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
        self._writing = threading.Lock()  # the store may write while its writer gives up
        self._saved: dict[str, SavedCache] = {}
        self.problem = self._open()
        if not self.problem:
            self._scan()

    @property
    def saved(self) -> Sequence[SavedCache]:
        """All usable files."""
        with self._index:
            return tuple(self._saved.values())

    def holds(self, conversation: str, ids: Sequence[int], exactly: bool) -> bool:
        """Whether these tokens are on disk for a conversation: no more than these, or as the beginning of more."""
        with self._index:
            known = self._saved.get(conversation)
        if known is None or len(known.ids) < len(ids) or (exactly and len(known.ids) > len(ids)):
            return False
        return common_prefix(known.ids, ids) == len(ids)

    def elsewhere(self, conversation: str) -> bool:
        """Whether there is a file of this conversation for another model or cache format."""
        return any(path.parent != self._folder for path in files_of(self._root, conversation))

    def write(self, conversation: str, snapshot: Snapshot, stop: Callable[[], bool]) -> bool:
        """Save a cache; whether it was. False when `stop` said so or the disk refused; then nothing changes."""
        partial = self._path(conversation).with_suffix(f".{os.getpid()}.partial")
        with self._writing:
            if self.problem or snapshot.nbytes > self._limit:
                return False
            try:
                whole = write_file(partial, conversation, self._fingerprint, snapshot, stop)
                return whole and self._publish(partial, conversation, snapshot, stop)
            except OSError as error:
                _log.warning("A conversation's cache was not saved: %s", error)
                return False
            finally:
                remove(partial)

    def read(self, saved: SavedCache, length: int | None) -> Snapshot | None:
        """The first `length` tokens of a file (None: all), or None, and the file is gone, if it is damaged.

        Args:
            saved: One of `saved`.
            length: None where the cache cannot be cropped.
        """
        try:
            tensors = read_tensors(saved.path, saved.ids)
            os.utime(saved.path)
        except UNREADABLE as error:
            self._discard(saved, str(error))
            return None
        if length is None:
            return Snapshot(saved.ids.tolist(), tensors)
        return Snapshot(saved.ids[:length].tolist(), {name: tensor[:, :length] for name, tensor in tensors.items()})

    def _discard(self, saved: SavedCache, reason: str) -> None:
        """Remove a file that is no good, unless another has just taken its place."""
        with self._index:
            if self._saved.get(saved.conversation) is not saved:
                return
            del self._saved[saved.conversation]
            remove(saved.path)
        _log.warning("A saved cache is damaged and is not used: %s: %s", saved.path.name, reason)

    def forget(self, conversation: str) -> None:
        """Remove a conversation's file, if there is one."""
        with self._index:
            saved = self._saved.pop(conversation, None)
            if saved:
                remove(saved.path)

    def close(self) -> None:
        """Let other programs have the folder; nothing is saved from now on."""
        with self._writing:
            self.problem = "The folder of saved caches is closed."
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def _open(self) -> str:
        """Make and lock the folder; the problem in one sentence, "" if there is none."""
        lock = FileLock(self._root / "lock", thread_local=False)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            sentence = "Another Loquat uses the folder of saved caches; this one keeps its caches in memory only."
        except OSError as error:
            sentence = f"Caches cannot be saved in {self._root} ({error.strerror}); they are kept in memory only."
        else:
            self._lock = lock
            return ""
        _log.warning("%s", sentence)
        return sentence

    def _scan(self) -> None:
        for partial in self._root.glob(f"*/{_OURS}.*.partial"):
            remove(partial)
        for path in _files(self._folder, f"{_OURS}.safetensors"):
            saved = self._inspect(path)
            if saved:
                self._saved[saved.conversation] = saved
        self._trim()

    def _inspect(self, path: Path) -> SavedCache | None:
        try:
            about = read_about(path)
            if about.fingerprint != self._fingerprint or self._path(about.conversation) != path:
                raise ValueError("it is of another model or conversation")
            return SavedCache(about.conversation, about.ids, mark_lengths(about.names), path, path.stat().st_size)
        except UNREADABLE as error:
            _log.warning("A saved cache does not fit and is not used: %s: %s", path.name, error)
            remove(path)
            return None

    def _path(self, conversation: str) -> Path:
        return self._folder / file_name(conversation)

    def _publish(self, partial: Path, conversation: str, snapshot: Snapshot, stop: Callable[[], bool]) -> bool:
        path, nbytes = self._path(conversation), partial.stat().st_size
        ids = np.array(snapshot.ids, dtype=np.int32)
        with self._index:
            if stop():  # whoever said so may have looked at the index since, or removed the conversation
                return False
            partial.replace(path)
            self._saved[conversation] = SavedCache(conversation, ids, snapshot.marks, path, nbytes)
            self._trim()
        return True

    def _trim(self) -> None:
        """Remove the files longest unused, of any model, until the limit holds."""
        found = _files(self._root, f"*/{_OURS}.safetensors")
        files = sorted((about.st_mtime_ns, about.st_size, path) for path, about in found.items())
        over = sum(size for _, size, _ in files) - self._limit
        for _, size, path in files:
            if over <= 0:
                return
            remove(path)
            self._saved = {name: saved for name, saved in self._saved.items() if saved.path != path}
            over -= size


def _files(folder: Path, pattern: str) -> dict[Path, os.stat_result]:
    """The regular files that match; one that vanishes meanwhile is left out."""
    found = {}
    for path in folder.glob(pattern):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat()
    return {path: about for path, about in found.items() if stat.S_ISREG(about.st_mode)}
