"""Many conversations' KV caches: within one memory budget, on disk beyond it, and any prefix shared by all.

Used by the engine's thread alone; saving after a reply runs on a thread of its own and gives way to the next
request.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.chat import TRANSIENT
from engine.errors import BadModelFile
from engine.heap import release_freed_memory
from engine.kv_cache import KVCache, reusable
from engine.kv_disk import KVDisk, SavedCache
from engine.kv_writer import KVWriter, save
from engine.runner import AnyRunner

_log = logging.getLogger(__name__)

_WORTH_MOVING: Final = 8  # tokens; below that, computing is as quick as copying


@dataclass(frozen=True, slots=True)
class Reuse:
    """Where a request's cached tokens came from.

    Attributes:
        cache: The conversation's cache, ready for `cache.reuse(ids)`.
        source: "own", "other" conversation, "disk", or "none".
    """

    cache: KVCache
    source: str


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A beginning of a prompt that is held somewhere.

    Attributes:
        length: Tokens.
        name: The conversation that holds it.
        held: Its cache, if it is in memory.
        saved: Its file, if it is on disk.
    """

    length: int
    name: str
    held: KVCache | None = None
    saved: SavedCache | None = None


class KVStore:
    """Keeps a cache per conversation for the model of one runner.

    Args:
        runner: Whose caches these are.
        budget: Most bytes that all caches together may hold; the one in use always stays.
        disk: Where caches go that memory has no room for; None keeps them in memory only.

    Attributes:
        spilled: Bytes moved to disk for want of room since the start, and seconds that took.
    """

    def __init__(self, runner: AnyRunner, budget: int, disk: KVDisk | None = None) -> None:
        self._runner = runner
        self._budget = budget
        self.spilled = (0, 0.0)
        self._disk = disk
        self._writer = KVWriter(disk) if disk else None
        self._caches: OrderedDict[str, KVCache] = OrderedDict()
        self._roomy: set[str] = set()  # left for another conversation with room for tokens to come

    @property
    def budget(self) -> int:
        """Most bytes that all caches together may hold."""
        return self._budget

    @property
    def nbytes(self) -> int:
        """Memory held by all caches, in bytes."""
        return sum(cache.nbytes for cache in self._caches.values())

    def begin(self, conversation: str, ids: Sequence[int]) -> Reuse:
        """The conversation's cache with the longest prefix of `ids` that memory or disk can give it."""
        self.pause()
        wanted = self._runner.kv_bytes_per_token * len(ids)
        reuse = None
        while reuse is None:  # a file that proves damaged is gone the next time
            reuse = self._open(conversation, self._best(conversation, ids), wanted)
        self._use(conversation, reuse.cache)
        self._make_room({conversation}, wanted - reuse.cache.nbytes)
        return reuse

    def held(self, conversation: str, ids: Sequence[int]) -> int:
        """Tokens of `ids` that the conversation's own cache in memory has at hand."""
        own = self._caches.get(conversation)
        return own.covers(ids) if own else 0

    def known(self, conversation: str, ids: Sequence[int]) -> int:
        """Tokens of `ids` that `begin` would find, in memory or on disk; nothing is moved."""
        return self._best(conversation, ids).length

    def tokens_of(self, conversation: str) -> Sequence[int]:
        """The ids that memory or else the disk holds for a conversation itself; none if nothing does."""
        own = self._caches.get(conversation)
        if own is not None:
            return tuple(own.ids)
        saved = (saved.ids for saved in (self._disk.saved if self._disk else ()) if saved.conversation == conversation)
        return tuple(map(int, next(saved, ())))

    def elsewhere(self, conversation: str) -> bool:
        """Whether the disk holds a cache of this conversation for another model or format."""
        return self._disk is not None and self._disk.elsewhere(conversation)

    def own(self, conversation: str) -> KVCache | None:
        """The conversation's cache if it is in memory, for work between two turns; `end` follows."""
        self.pause()
        return self._caches.get(conversation)

    def end(self, conversation: str, stop: Callable[[], bool] = lambda: False) -> None:
        """After a reply: hold the budget, and save what is not saved yet in the background.

        Args:
            conversation: The one that was answered.
            stop: Polled while caches are moved to disk; True leaves the rest for later.
        """
        self._compact()
        self._make_room({conversation}, 0, stop)
        if self._writer:
            self._writer.save(reversed(self._caches.items()))

    def fresh(self) -> KVCache:
        """An empty cache that belongs to no conversation, for proofs and benchmarks."""
        self.pause()
        return KVCache(self._runner)

    def settle(self, timeout_s: float = 60.0) -> bool:
        """Wait until everything is on disk that goes there; whether that came in time."""
        return self._writer is None or self._writer.wait(timeout_s)

    def pause(self) -> None:
        """Abandon what is being saved, because a cache is about to change."""
        if self._writer:
            self._writer.pause()

    def forget(self, conversation: str) -> None:
        """Drop a conversation's cache from memory and disk."""
        self.pause()
        self._drop([conversation])
        if self._disk:
            self._disk.forget(conversation)

    def drop_memory(self, keep: str = "") -> None:
        """Free all caches in memory but one, unsaved ones too; for when memory has run out."""
        self.pause()
        self._drop([name for name in self._caches if name != keep])

    def close(self) -> None:
        """Save what is not saved yet, then let the folder go."""
        try:
            if self._writer and self._disk:
                self._writer.close()
                for name, cache in self._caches.items():
                    save(self._disk, name, cache)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let the folder go without saving: what holds the caches has failed."""
        if self._writer:
            self._writer.close()
        if self._disk:
            self._disk.close()
        self._drop(list(self._caches))

    def _use(self, conversation: str, cache: KVCache) -> None:
        """Make it the most recently used; the one used before gives back its spare room when there is time."""
        if self._caches:
            self._roomy.add(next(reversed(self._caches)))
        self._roomy.discard(conversation)
        self._caches[conversation] = cache
        self._caches.move_to_end(conversation)

    def _compact(self) -> None:
        for name in self._roomy & self._caches.keys():
            self._caches[name].compact()
        self._roomy.clear()

    def _best(self, conversation: str, ids: Sequence[int]) -> _Prefix:
        """The longest prefix; one that would have to be moved only where that pays."""
        own = self._caches.get(conversation)
        best = _Prefix(own.covers(ids) if own else 0, conversation, held=own)
        for candidates in (self._held_by_others(conversation, ids), self._on_disk(ids)):
            longest = max(candidates, key=lambda prefix: prefix.length, default=best)
            if longest.length >= best.length + _WORTH_MOVING:
                best = longest
        return best

    def _held_by_others(self, conversation: str, ids: Sequence[int]) -> Iterator[_Prefix]:
        for name, cache in self._caches.items():
            if name != conversation:
                yield _Prefix(cache.covers(ids), name, held=cache)

    def _on_disk(self, ids: Sequence[int]) -> Iterator[_Prefix]:
        for saved in self._disk.saved if self._disk else ():
            marks = None if self._runner.croppable else saved.marks
            yield _Prefix(reusable(saved.ids, marks, ids), saved.conversation, saved=saved)

    def _open(self, conversation: str, prefix: _Prefix, wanted: int) -> Reuse | None:
        """A cache that begins with this prefix and may grow to so many bytes; None if its file is damaged."""
        own = self._caches.get(conversation)
        if prefix.saved and self._disk:
            # Until it is restored the file is mapped into memory beside it.
            self._make_room({conversation}, wanted + prefix.saved.nbytes)
            restored = self._restored(self._disk, prefix.saved, prefix.length)
            return Reuse(restored, "disk") if restored else None
        if prefix.name != conversation and prefix.held:
            self._make_room({conversation, prefix.name}, wanted)
            return Reuse(prefix.held.copy(prefix.length), "other")
        self._make_room({conversation}, wanted - (own.nbytes if own else 0))
        return Reuse(own or KVCache(self._runner), "own" if prefix.length else "none")

    def _restored(self, disk: KVDisk, saved: SavedCache, length: int) -> KVCache | None:
        snapshot = disk.read(saved, length if self._runner.croppable else None)
        if snapshot is None:
            return None
        try:
            return KVCache.restored(self._runner, snapshot)
        except BadModelFile as error:
            _log.warning("A saved cache does not fit and is not used: %s", error.detail or error.sentence)
            disk.forget(saved.conversation)
            return None

    def _make_room(self, keep: Collection[str], needed: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Move the least recently used caches out until `needed` more bytes fit the budget."""
        self._drop(self._leaving(keep, needed, stop))

    def _leaving(self, keep: Collection[str], needed: int, stop: Callable[[], bool]) -> list[str]:
        """Which caches have to go, each saved; first those that are not kept, then the least recently used."""
        over = self.nbytes + max(0, needed) - self._budget
        names: list[str] = []
        for name, cache in sorted(self._caches.items(), key=lambda item: not item[0].startswith(TRANSIENT)):
            if over <= 0 or stop():
                break
            if name not in keep:
                over -= cache.nbytes
                names.append(name)
                if self._disk:
                    self._spill(self._disk, name, cache)
        return names

    def _spill(self, disk: KVDisk, name: str, cache: KVCache) -> None:
        began = time.perf_counter()
        save(disk, name, cache)
        nbytes, seconds = self.spilled
        self.spilled = (nbytes + cache.nbytes, seconds + time.perf_counter() - began)

    def _drop(self, names: Collection[str]) -> None:
        for name in names:
            self._caches.pop(name, None)
        if names:
            release_freed_memory()
