"""Memory for caches that the system refuses is memory that ran out, whatever the system calls it."""

from __future__ import annotations

import pytest

from engine.kernels import cache
from engine.kernels.cache import CacheShape, KernelCache


def test_pages_that_the_system_refuses_are_memory_that_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    made = KernelCache(CacheShape(layers=2, kv_heads=1, head_dim=16, context_limit=512))
    made.reserve(1)
    held = made.nbytes
    monkeypatch.setattr(cache.mmap, "mmap", refused)
    with pytest.raises(MemoryError, match="bytes for a cache"):
        made.reserve(300)
    assert (made.length, made.nbytes) == (0, held)
