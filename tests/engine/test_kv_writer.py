"""Saving in the background: it gives way at once, and never leaves a wrong file."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from tests.engine.fakes import FakeCache, FakeRunner
from tests.engine.kv_support import PATIENCE_S, TOKEN, answer, in_memory, prompt, saved


class HeldUpDisk(KVDisk):
    """A disk on which the first write goes no further until it is let."""

    def __init__(self, root: Path, fingerprint: str, limit: int) -> None:
        super().__init__(root, fingerprint, limit)
        self.started, self.go = threading.Event(), threading.Event()

    def write(self, conversation, snapshot, stop):
        def held_up() -> bool:
            self.started.set()
            assert self.go.wait(PATIENCE_S)
            return stop()

        return super().write(conversation, snapshot, held_up)


def test_a_save_gives_way_to_the_next_request_at_once(stores):
    store = stores(disk=HeldUpDisk)
    _, _, held = answer(store, "a", prompt(1))
    assert stores.disk.started.wait(PATIENCE_S)
    reuse = store.begin("a", [*held, 1, 2])  # returns, though the writer stands still in the middle of a file
    reuse.cache.prefill(reuse.cache.reuse([*held, 1, 2]))
    stores.disk.go.set()
    assert store.settle(PATIENCE_S)
    assert saved(store) == {}  # what was half written is thrown away
    store.end("a")
    assert store.settle(PATIENCE_S)
    assert saved(store) == {"a": [*held, 1, 2]}


def test_a_cache_that_must_go_while_it_is_being_saved_is_saved_whole(stores):
    store = stores(budget=TOKEN * 50, disk=HeldUpDisk)
    _, _, held = answer(store, "a", prompt(1))
    assert stores.disk.started.wait(PATIENCE_S)
    threading.Timer(0.05, stores.disk.go.set).start()
    answer(store, "b", prompt(2))
    assert in_memory(store) == ["b"]
    assert saved(store)["a"] == held


class LateDisk(HeldUpDisk):
    """A disk on which a whole file goes into place no sooner than it is let."""

    def write(self, conversation, snapshot, stop):
        return KVDisk.write(self, conversation, snapshot, stop)

    def _publish(self, partial, conversation, snapshot, stop):
        self.started.set()
        assert self.go.wait(PATIENCE_S)
        return super()._publish(partial, conversation, snapshot, stop)


@pytest.mark.parametrize("disk", [HeldUpDisk, LateDisk])
def test_a_conversation_forgotten_in_the_middle_of_its_save_stays_forgotten(stores, disk):
    store = stores(disk=disk)
    answer(store, "a", prompt(1))
    assert stores.disk.started.wait(PATIENCE_S)
    store.forget("a")  # returns, though the writer stands still
    stores.disk.go.set()
    assert store.settle(PATIENCE_S)
    assert list(stores.root.glob("*/*.safetensors")) == []
    assert answer(stores(), "a", prompt(1))[0].source == "none"


def test_a_cache_freed_in_the_middle_of_its_save_is_not_kept_alive(stores):
    import gc
    import weakref

    store = stores(disk=HeldUpDisk)
    reuse, _, _ = answer(store, "a", prompt(1))
    assert stores.disk.started.wait(PATIENCE_S)
    gone = weakref.ref(reuse.cache._cache)
    del reuse
    store.drop_memory()
    stores.disk.go.set()
    assert store.settle(PATIENCE_S)
    gc.collect()
    assert gone() is None


@pytest.mark.expects_log("A conversation's cache was not saved")
def test_an_export_that_fails_ends_neither_the_writer_nor_the_conversation(stores, monkeypatch):
    store = stores()

    def fail(self, length=None):
        raise RuntimeError("injected")

    with monkeypatch.context() as patched:
        patched.setattr(FakeCache, "export", fail)
        _, _, held = answer(store, "a", prompt(1))
        assert store.settle(PATIENCE_S)
    _, _, held = answer(store, "a", [*held, 1])
    assert store.settle(PATIENCE_S)
    assert saved(store) == {"a": held}


class BufferCache:
    """Ids in one buffer that is written in place, each as a row of copies, as real caches write keys and values."""

    WIDTH = 512

    def __init__(self) -> None:
        self.rows = torch.zeros(1, 4096, self.WIDTH, dtype=torch.int64)
        self.length = 0

    @property
    def nbytes(self) -> int:
        return 8 * self.WIDTH * self.length

    @property
    def held(self) -> list[int]:
        return self.rows[0, : self.length, 0].tolist()

    def append(self, ids: Sequence[int]) -> None:
        end = self.length + len(ids)
        self.rows[0, self.length : end] = torch.tensor(ids)[:, None]
        self.length = end

    def crop(self, length: int) -> bool:
        self.rows[0, length : self.length] = -1  # nobody may count on what is cropped
        self.length = length
        return True

    def compact(self) -> None:
        self.rows = self.rows.clone()

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        return {"held": self.rows[:, : self.length if length is None else length]}


class BufferRunner(FakeRunner):
    """The fake model over such caches; logits do not matter here."""

    kv_bytes_per_token = 8 * BufferCache.WIDTH

    def new_cache(self) -> BufferCache:
        return BufferCache()

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> BufferCache:
        cache = self.new_cache()
        cache.append(tensors["held"][0, :, 0].tolist())
        return cache

    def prefill(self, ids: Sequence[int], cache: BufferCache, keep: int = 1) -> Tensor:
        cache.append(ids)
        return torch.zeros(keep, self.vocab_size)


def check_files(disk: KVDisk) -> int:
    """Every file on disk holds exactly the rows of its ids; how many there are."""
    for found in disk.saved:
        shot = disk.read(found, None)
        if shot is not None:  # else it was replaced meanwhile
            wanted = torch.tensor(shot.ids)[:, None].expand(-1, BufferCache.WIDTH)
            assert torch.equal(shot.tensors["held"][0], wanted)
    return len(disk.saved)


class CountingDisk(KVDisk):
    """A slow disk that counts how writes ended."""

    def __init__(self, root: Path, fingerprint: str, limit: int) -> None:
        super().__init__(root, fingerprint, limit)
        self.ends: list[bool] = []

    def write(self, conversation, snapshot, stop):
        slowly = threading.Event()
        whole = super().write(conversation, snapshot, lambda: bool(slowly.wait(0.001)) or stop())
        self.ends.append(whole)
        return whole


def test_a_cache_changed_while_it_is_written_never_makes_a_wrong_file(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.kv_file._PIECE", 1 << 16)
    disk = CountingDisk(tmp_path / "kv", "buffers", 1 << 40)
    store = KVStore(BufferRunner(), 40 << 20, disk)
    chance = random.Random(1)
    pause = threading.Event()
    held: dict[str, list[int]] = {}
    for step in range(150):
        name = chance.choice("abcd")
        before = held.get(name, [])
        ids = [*before[: chance.randint(0, len(before))], *prompt(step, chance.randint(50, 400))][:2000]
        cache = store.begin(name, ids).cache
        rest = cache.reuse(ids)
        for start in range(0, len(rest), 100):
            cache.prefill(rest[start : start + 100])
        assert cache._cache.held == cache.ids == ids
        held[name] = ids
        store.end(name)
        pause.wait(chance.choice([0, 0, 0.002, 0.02, 0.1]))
        if step % 10 == 0:
            check_files(disk)
    assert store.settle(PATIENCE_S)
    assert check_files(disk) == 4
    assert {True, False} <= set(disk.ends)  # some were finished, some given up
    store.close()
