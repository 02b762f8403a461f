"""Many conversations' KV caches: within one memory budget, on disk beyond it, and any prefix shared by all.

Used by the engine's thread alone; saving after a reply runs on a thread of its own and gives way to the next
request.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import BadModelFile
from engine.kv_cache import KVCache, common_prefix
from engine.kv_disk import KVDisk, SavedCache
from engine.kv_writer import KVWriter
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


class KVStore:
    """Keeps a cache per conversation for the model of one runner.

    Args:
        runner: Whose caches these are.
        budget: Most bytes that all caches together may hold; the one in use always stays.
        disk: Where caches go that memory has no room for; None keeps them in memory only.
    """

    def __init__(self, runner: AnyRunner, budget: int, disk: KVDisk | None = None) -> None:
        self._runner = runner
        self._budget = budget
        self._disk = disk
        self._writer = KVWriter(disk) if disk else None
        self._caches: OrderedDict[str, KVCache] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory held by all caches, in bytes."""
        return sum(cache.nbytes for cache in self._caches.values())

    def begin(self, conversation: str, ids: Sequence[int]) -> Reuse:
        """The conversation's cache with the longest prefix of `ids` that memory or disk can give it."""
        self._pause()
        reuse = self._best(conversation, ids)
        self._use(conversation, reuse.cache)
        self._make_room(conversation, self._runner.kv_bytes_per_token * len(ids) - reuse.cache.nbytes)
        return reuse

    def covers(self, conversation: str, ids: Sequence[int]) -> int:
        """Tokens of `ids` that `begin` could reuse, wherever they are."""
        own = self._caches.get(conversation)
        return max(own.covers(ids) if own else 0, self._best_other(conversation, ids)[1], self._best_saved(ids)[1])

    def end(self, conversation: str, stop: Callable[[], bool] = lambda: False) -> None:
        """After a reply: hold the budget, and save the conversation in the background.

        Args:
            conversation: The one that was answered.
            stop: Polled while caches are moved to disk; True leaves the rest for later.
        """
        self._make_room(conversation, 0, stop)
        if self._writer and conversation in self._caches:
            self._writer.save(conversation, self._caches[conversation])

    def fresh(self) -> KVCache:
        """An empty cache that belongs to no conversation, for proofs and benchmarks."""
        self._pause()
        return KVCache(self._runner)

    def forget(self, conversation: str) -> None:
        """Drop a conversation's cache from memory and disk."""
        self._pause()
        self._caches.pop(conversation, None)
        if self._disk:
            self._disk.forget(conversation)

    def drop_memory(self, keep: str = "") -> None:
        """Free all caches in memory but one, unsaved ones too; for when memory has run out."""
        self._pause()
        for name in [name for name in self._caches if name != keep]:
            del self._caches[name]

    def close(self) -> None:
        """Save what is not saved yet, then let the folder go."""
        self._pause()
        for name, cache in self._caches.items():
            self._save(name, cache)
        self._caches.clear()
        if self._writer:
            self._writer.close()
        if self._disk:
            self._disk.close()

    def _pause(self) -> None:
        if self._writer:
            self._writer.pause()

    def _use(self, conversation: str, cache: KVCache) -> None:
        """Make it the most recently used; the one used before gives back its spare room."""
        if self._caches and next(reversed(self._caches)) != conversation:
            self._caches[next(reversed(self._caches))].compact()
        self._caches[conversation] = cache
        self._caches.move_to_end(conversation)

    def _best(self, conversation: str, ids: Sequence[int]) -> Reuse:
        own = self._caches.get(conversation) or KVCache(self._runner)
        covered = own.covers(ids)
        saved, on_disk = self._best_saved(ids)
        other, elsewhere = self._best_other(conversation, ids)
        if saved and on_disk >= max(covered, elsewhere) + _WORTH_MOVING:
            restored = self._restored(saved)
            if restored:
                return Reuse(restored, "disk")
        if other and elsewhere >= covered + _WORTH_MOVING:
            return Reuse(self._copied(other, elsewhere), "other")
        return Reuse(own, "own" if covered else "none")

    def _best_other(self, conversation: str, ids: Sequence[int]) -> tuple[KVCache | None, int]:
        """The cache of another conversation that covers most, and how much of it can be copied."""
        if not self._runner.croppable:
            return None, 0
        others = [cache for name, cache in self._caches.items() if name != conversation]
        best = max(others, key=lambda cache: cache.covers(ids), default=None)
        return best, best.covers(ids) if best else 0

    def _best_saved(self, ids: Sequence[int]) -> tuple[SavedCache | None, int]:
        """The saved cache that covers most; one that cannot be cropped counts only as a whole."""

        def covers(saved: SavedCache) -> int:
            common = min(common_prefix(saved.ids, ids), len(ids) - 1)
            return common if self._runner.croppable or common == len(saved.ids) else 0

        best = max(self._disk.saved, key=covers, default=None) if self._disk else None
        return best, covers(best) if best else 0

    def _copied(self, other: KVCache, length: int) -> KVCache:
        return KVCache.restored(self._runner, other.ids[:length], other.export(length))

    def _restored(self, saved: SavedCache) -> KVCache | None:
        tensors = self._disk.read(saved) if self._disk else None
        if tensors is None:
            return None
        try:
            return KVCache.restored(self._runner, saved.ids.tolist(), tensors)
        except BadModelFile as error:
            _log.warning("A saved cache does not fit and is not used: %s", error.detail or error.sentence)
            return None

    def _make_room(self, keep: str, needed: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Move the least recently used caches out until `needed` more bytes fit the budget."""
        over = self.nbytes + max(0, needed) - self._budget
        for name in [name for name in self._caches if name != keep]:
            if over <= 0 or stop():
                return
            cache = self._caches[name]
            over -= cache.nbytes
            self._save(name, cache)
            del self._caches[name]

    def _save(self, conversation: str, cache: KVCache) -> None:
        """Put a cache on disk unless it is there already."""
        if self._disk and cache.ids and self._disk.length_saved(conversation, cache.ids) < len(cache.ids):
            self._disk.write(conversation, cache.ids, cache.export(), lambda: False)
