"""Many conversations over the fake model: who may reuse what, what memory may hold, and what reaches the disk."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.kv_cache import KVCache, Snapshot
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore, Reuse
from tests.engine.fakes import FakeCache, FakeRunner

TOKEN = 8  # bytes that a token of the fake model costs
PATIENCE_S = 20.0
SYSTEM = list(range(1000, 1050))


def prompt(seed: int, tokens: int = 40) -> list[int]:
    return random.Random(seed).choices(range(200), k=tokens)


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


@pytest.fixture
def stores(tmp_path):
    made = Stores(tmp_path / "kv")
    yield made
    made.close()


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


@pytest.mark.parametrize("croppable", [True, False])
def test_a_conversation_goes_on_where_it_was(stores, croppable):
    store = stores(croppable=croppable, disk=None)
    _, _, held = answer(store, "a", prompt(1))
    reuse, rest, _ = answer(store, "a", [*held, 1, 2, 3])
    assert (reuse.source, rest) == ("own", [1, 2, 3])


@pytest.mark.parametrize("croppable", [True, False])
def test_switching_to_another_chat_and_back_costs_nothing(stores, croppable):
    store = stores(croppable=croppable, disk=None)
    _, _, held = answer(store, "a", prompt(1))
    answer(store, "b", prompt(2))
    assert answer(store, "a", [*held, 1])[1] == [1]


@pytest.mark.parametrize("croppable", [True, False])
def test_asking_again_costs_one_token(stores, croppable):
    store = stores(croppable=croppable, disk=None)
    answer(store, "a", prompt(1))
    assert answer(store, "a", prompt(1))[1] == prompt(1)[-1:]


def test_a_new_chat_starts_from_another_ones_system_prompt(stores):
    store = stores(disk=None)
    answer(store, "a", [*SYSTEM, *prompt(1)])
    reuse, rest, _ = answer(store, "b", [*SYSTEM, *prompt(2)])
    assert (reuse.source, rest) == ("other", prompt(2))
    reuse, rest, _ = answer(store, "a", [*SYSTEM, *prompt(1)])  # the source is as it was
    assert (reuse.source, rest) == ("own", prompt(1)[-1:])


def test_where_states_are_kept_a_new_chat_starts_from_one_of_them(stores):
    store = stores(croppable=False, disk=None)
    _, _, held = answer(store, "a", SYSTEM)
    reuse, rest, _ = answer(store, "b", [*held, *prompt(2)])
    assert (reuse.source, rest) == ("other", prompt(2))
    reuse, rest, _ = answer(store, "c", [*SYSTEM[:-1], *prompt(3)])
    assert (reuse.source, rest) == ("other", prompt(3))


def test_a_few_tokens_are_not_worth_a_copy(stores):
    store = stores(disk=None)
    answer(store, "a", [1, 2, 3, 4, 5, 6, 7, *prompt(1)])
    assert answer(store, "b", [1, 2, 3, 4, 5, 6, 7, *prompt(2)])[0].source == "none"


def test_a_prompt_that_shares_nothing_starts_from_nothing(stores):
    store = stores()
    answer(store, "a", [1, *prompt(1)])
    assert answer(store, "b", [2, *prompt(2)])[0].source == "none"
    assert answer(store, "a", [3, *prompt(3)])[0].source == "none"


@pytest.mark.parametrize("croppable", [True, False])
def test_after_a_restart_everything_is_still_there(stores, croppable):
    store = stores(croppable=croppable)
    _, _, first = answer(store, "a", prompt(1))
    _, _, second = answer(store, "b", prompt(2))
    again = stores(croppable=croppable)
    reuse, rest, _ = answer(again, "a", [*first, 1, 2])
    assert (reuse.source, rest) == ("disk", [1, 2])
    assert answer(again, "b", [*second, 3])[1] == [3]


@pytest.mark.parametrize("croppable", [True, False])
def test_asking_again_after_a_restart_costs_one_token(stores, croppable):
    answer(stores(croppable=croppable), "a", prompt(1))
    assert answer(stores(croppable=croppable), "a", prompt(1))[1] == prompt(1)[-1:]


def test_a_new_chat_after_a_restart_starts_from_a_saved_system_prompt(stores):
    answer(stores(), "a", [*SYSTEM, *prompt(1, 4000)])
    store = stores()
    reuse, rest, _ = answer(store, "b", [*SYSTEM, *prompt(2)])
    assert (reuse.source, rest) == ("disk", prompt(2))
    assert store.nbytes < 2 * TOKEN * (len(SYSTEM) + 50)  # only the beginning was read


def test_an_edit_leaves_what_lies_before_it(stores):
    store = stores()
    _, _, held = answer(store, "a", prompt(1))
    answer(store, "a", [*held, *prompt(2)])
    assert answer(store, "a", [*held, *prompt(3)])[1] == prompt(3)


def run_at_random(store: KVStore, budget: int, seed: int, steps: int = 60) -> None:
    """Turns, edits and questions asked again in many conversations; the budget is counted at every moment."""
    chance = random.Random(seed)
    held: dict[str, list[int]] = {}

    def within() -> None:
        assert store.nbytes <= budget or len(in_memory(store)) == 1, (store.nbytes, in_memory(store))

    for step in range(steps):
        name = chance.choice("abcdefgh")
        before = held.get(name, SYSTEM if chance.random() < 0.5 else [])
        ids = [*before[: chance.randint(0, len(before))], *prompt(step, chance.randint(1, 60))]
        reuse = store.begin(name, ids)
        within()
        assert TOKEN * len(ids) + store.nbytes - reuse.cache.nbytes <= budget or len(in_memory(store)) == 1
        rest = reuse.cache.reuse(ids)
        reuse.cache.prefill(rest)
        store.end(name)
        within()
        assert reuse.cache.ids == reuse.cache._cache.held == ids
        held[name] = ids


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("croppable", [True, False])
def test_the_budget_holds_at_every_moment(stores, seed, croppable):
    budget = TOKEN * 400
    run_at_random(stores(budget, croppable), budget, seed)


def test_the_source_of_a_prefix_goes_too_when_both_do_not_fit(stores):
    store = stores(budget=TOKEN * 100)
    answer(store, "a", [*SYSTEM, *prompt(1, 10)], reply=0)
    ids = [*SYSTEM, *prompt(2, 20)]
    assert store.begin("b", ids).source == "other"
    assert in_memory(store) == ["b"]
    assert set(saved(store)) == {"a"}


def test_the_source_of_a_prefix_stays_when_others_can_go(stores):
    store = stores(budget=TOKEN * 160)
    answer(store, "a", [*SYSTEM, *prompt(1, 10)], reply=0)
    answer(store, "b", prompt(2, 50), reply=0)
    assert store.begin("c", [*SYSTEM, *prompt(3, 10)]).source == "other"
    assert in_memory(store) == ["a", "c"]


def test_a_budget_of_nothing_still_answers(stores):
    run_at_random(stores(0), 0, seed=9, steps=20)


def test_the_least_recently_used_goes_first(stores):
    store = stores(budget=TOKEN * 140)
    for name, seed in (("a", 1), ("b", 2), ("c", 3)):
        answer(store, name, prompt(seed))
    answer(store, "a", prompt(1))
    answer(store, "d", prompt(4))
    assert in_memory(store) == ["c", "a", "d"]


def test_what_goes_from_memory_is_on_disk_first(stores):
    store = stores(budget=TOKEN * 50)
    _, _, first = answer(store, "a", prompt(1))
    store._pause()  # before the background got to it
    answer(store, "b", prompt(2))
    assert in_memory(store) == ["b"]
    assert saved(store)["a"] == first
    reuse, rest, _ = answer(store, "a", [*first, 1])
    assert (reuse.source, rest) == ("disk", [1])


def test_all_that_was_not_saved_is_saved_when_there_is_time(stores):
    store = stores()
    held = {}
    for n, name in enumerate("abc"):  # each question comes before the writer has begun
        _, _, held[name] = answer(store, name, prompt(n))
    assert store.settle(PATIENCE_S)
    assert saved(store) == held


def test_a_shorter_beginning_is_not_saved_over_the_whole(stores):
    store = stores()
    _, _, held = answer(store, "a", prompt(1))
    assert store.settle(PATIENCE_S)
    store.begin("a", held[:10]).cache.reuse(held[:10])  # and cancelled at once
    store.end("a")
    assert store.settle(PATIENCE_S)
    assert saved(store)["a"] == held


def test_closing_saves_and_lets_the_folder_go(stores):
    store = stores()
    _, _, held = answer(store, "a", prompt(1))
    store._pause()
    store.close()
    stores.open = None
    with_folder = KVDisk(stores.root, "fake-True", 1 << 40)
    assert not with_folder.problem
    assert [found.ids.tolist() for found in with_folder.saved] == [held]
    with_folder.close()


def test_the_writers_thread_ends_with_the_store(stores):
    before = threading.active_count()
    store = stores()
    answer(store, "a", prompt(1))
    assert threading.active_count() == before + 1
    stores.close()
    assert threading.active_count() == before


def test_forgetting_leaves_nothing_in_memory_and_on_disk(stores):
    store = stores()
    answer(store, "a", prompt(1))
    answer(store, "b", prompt(2))
    assert store.settle(PATIENCE_S)
    store.forget("a")
    store.forget("never there")
    assert in_memory(store) == ["b"]
    assert set(saved(store)) == {"b"}
    assert answer(store, "a", prompt(1))[0].source == "none"


def test_when_memory_runs_out_all_but_one_are_freed(stores):
    store = stores()
    held = {name: answer(store, name, prompt(n))[2] for n, name in enumerate("abc")}
    assert store.settle(PATIENCE_S)
    store.drop_memory(keep="b")
    assert in_memory(store) == ["b"]
    store.drop_memory()
    assert store.nbytes == 0
    assert answer(store, "a", [*held["a"], 5])[1] == [5]  # what had been saved is still there


def test_a_proof_leaves_all_caches_alone(stores):
    store = stores(disk=None)
    answer(store, "a", prompt(1))
    proof = store.fresh()
    assert proof.reuse(prompt(1)) == prompt(1)
    proof.prefill(prompt(1))
    assert in_memory(store) == ["a"]


def test_how_much_a_conversation_has_at_hand_is_known_without_moving_anything(stores):
    store = stores()
    answer(store, "a", [*SYSTEM, *prompt(1)])
    assert store.held("a", [*SYSTEM, *prompt(1)]) == len(SYSTEM) + 39
    assert store.held("a", [1, 2, 3]) == 0
    assert store.held("b", [*SYSTEM, *prompt(2)]) == 0, "another's is not its own"
    assert in_memory(store) == ["a"]
    assert stores().held("a", [*SYSTEM, *prompt(1)]) == 0, "nor is what lies on disk"


@pytest.mark.expects_log("A saved cache is damaged and is not used")
def test_a_damaged_file_costs_only_time(stores, caplog):
    _, _, held = answer(stores(), "a", prompt(1))
    store = stores()
    (path,) = stores.root.glob("*/*.safetensors")
    path.write_bytes(path.read_bytes()[:-3])
    reuse, rest, _ = answer(store, "a", [*held, 1])
    assert (reuse.source, rest) == ("none", [*held, 1])
    assert len(caplog.records) == 1


@pytest.mark.expects_log("A saved cache is damaged and is not used")
def test_after_a_damaged_file_the_next_best_is_taken(stores):
    answer(stores(), "a", [*SYSTEM, *prompt(1)])
    store = stores()
    answer(store, "b", [*SYSTEM[:30], *prompt(2)])
    path = next(found.path for found in store._disk.saved if found.conversation == "a")
    path.write_bytes(path.read_bytes()[:-3])
    reuse, rest, _ = answer(store, "c", [*SYSTEM, *prompt(1)])
    assert (reuse.source, rest) == ("other", [*SYSTEM[30:], *prompt(1)])


@pytest.mark.expects_log("A saved cache does not fit and is not used")
def test_a_file_with_other_tensors_than_its_ids_promise_is_computed_again(stores, caplog):
    store = stores()
    ids = prompt(1)
    store._disk.write("a", Snapshot(ids, {"held": torch.tensor([ids[:-5]])}), lambda: False)
    reuse, rest, _ = answer(store, "a", [*ids, 1])
    assert (reuse.source, rest) == ("none", [*ids, 1])
    assert len(caplog.records) == 1


@pytest.mark.expects_log("Another Loquat uses the folder")
def test_a_second_store_on_the_folder_answers_from_memory(stores):
    first = stores()
    answer(first, "a", prompt(1))
    second = KVStore(FakeRunner(), 1 << 20, KVDisk(stores.root, "fake-True", 1 << 40))
    _, _, held = answer(second, "a", prompt(1))
    assert answer(second, "a", [*held, 1])[1] == [1]
    second.close()


@pytest.mark.expects_log("was not saved")
def test_a_folder_that_vanishes_costs_no_answer(stores, caplog):
    store = stores()
    shutil.rmtree(stores.root)
    answer(store, "a", prompt(1))
    assert store.settle(PATIENCE_S)
    assert len(caplog.records) == 1


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
