"""What the tests of saved and stored caches share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch

from engine.kv_cache import KVCache, Snapshot
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore, Reuse
from tests.engine.fakes import FakeRunner

FINGERPRINT = "f" * 64
NO_LIMIT = 1 << 40
DAMAGED = "is damaged and is not used"
UNFIT = "does not fit and is not used"


def never() -> bool:
    return False


def snapshot(tokens: int = 20, seed: int = 0) -> Snapshot:
    """Keys and values of two layers, as a runner exports them."""
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 50_000, (tokens,), generator=random).tolist()
    tensors = {
        f"{n}.{side}": torch.randn(2, tokens, 8, generator=random) for n in range(2) for side in ("keys", "values")
    }
    return Snapshot(tuple(ids), tensors)


TOKEN = 8  # bytes that a token of the fake model costs
PATIENCE_S = 20.0
SYSTEM = list(range(1000, 1050))


def prompt(seed: int, tokens: int = 40) -> list[int]:
    return random.Random(seed).choices(range(200), k=tokens)


def same(found: Snapshot | None, wanted: Snapshot) -> bool:
    return (
        found is not None
        and tuple(found.ids) == tuple(wanted.ids)
        and found.tensors.keys() == wanted.tensors.keys()
        and all(torch.equal(found.tensors[name], wanted.tensors[name]) for name in wanted.tensors)
    )


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("*/*"))


def read_back(disk: KVDisk, conversation: str = "c") -> Snapshot | None:
    """What a restart would find."""
    saved = {saved.conversation: saved for saved in disk.saved}.get(conversation)
    return disk.read(saved, None) if saved else None


class Stores:
    """Makes stores on one folder, each as after a restart of the program."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.open: KVStore | None = None

    def __call__(
        self, budget: int = 1 << 20, croppable: bool = True, disk: type[KVDisk] | None = KVDisk, limit: int = 1 << 40
    ) -> KVStore:
        self.close()
        self.disk = disk(self.root, f"fake-{croppable}", limit) if disk else None
        self.runner = FakeRunner(croppable=croppable)
        self.open = KVStore(self.runner, budget, self.disk)
        return self.open

    def close(self) -> None:
        if self.open:
            self.open.close()
        self.open = None


def answer(store: KVStore, conversation: str, ids: Sequence[int], reply: int = 3) -> tuple[Reuse, list[int], list[int]]:
    """One turn as the engine runs it: where the prefix came from, what was computed, and all that is held after."""
    ids = list(ids)
    reuse = store.begin(conversation, ids)
    cache = reuse.cache
    rest = cache.reuse(ids)
    if len(rest) > 1:
        cache.prefill(rest[:-1])
    cache.mark()
    logits = cache.prefill(rest[-1:])
    for _ in range(reply):
        logits = cache.decode(int(logits.argmax()))
    store.end(conversation)
    assert cache._cache.held == cache.ids
    assert cache.ids[: len(ids)] == ids
    assert cache.ids == fresh(ids, reply)
    return reuse, rest, list(cache.ids)


def fresh(ids: Sequence[int], reply: int) -> list[int]:
    """The same turn without any cache before it."""
    cache = KVCache(FakeRunner())
    logits = cache.prefill(ids)
    for _ in range(reply):
        logits = cache.decode(int(logits.argmax()))
    return list(cache.ids)


def saved(store: KVStore) -> dict[str, list[int]]:
    return {found.conversation: found.ids.tolist() for found in store._disk.saved}


def in_memory(store: KVStore) -> list[str]:
    return list(store._caches)
