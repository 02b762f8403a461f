"""Many conversations' KV caches within one memory budget, least recently used out first."""

from __future__ import annotations

from collections import OrderedDict

from engine.kv_cache import KVCache
from engine.runner import AnyRunner


class KVStore:
    """Keeps a cache per conversation for the model of one runner.

    Args:
        runner: Whose caches these are.
        budget: Most bytes that all caches together may hold; the one in use always stays.
    """

    def __init__(self, runner: AnyRunner, budget: int) -> None:
        self._runner = runner
        self._budget = budget
        self._caches: OrderedDict[str, KVCache] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory held by all caches, in bytes."""
        return sum(cache.nbytes for cache in self._caches.values())

    def checkout(self, conversation_id: str) -> KVCache:
        """The conversation's cache, empty if it has none yet; now the most recently used."""
        cache = self._caches.pop(conversation_id, None) or KVCache(self._runner)
        self._caches[conversation_id] = cache
        return cache

    def trim(self) -> None:
        """Forget the least recently used caches until the budget holds."""
        while len(self._caches) > 1 and self.nbytes > self._budget:
            self._caches.popitem(last=False)

    def clear(self) -> None:
        """Forget all caches."""
        self._caches.clear()
