"""Many conversations over the fake model: who may reuse what, and what memory may hold."""

from __future__ import annotations

import random
import shutil
import threading

import pytest
import torch

from engine.kv_cache import Snapshot
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from tests.engine.fakes import FakeRunner
from tests.engine.kv_support import PATIENCE_S, SYSTEM, TOKEN, answer, in_memory, prompt, saved


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


def test_conversations_of_other_programs_go_first_and_never_to_disk(stores):
    store = stores(budget=TOKEN * 140)
    for name, seed in (("a", 1), ("http-b", 2), ("c", 3), ("http-d", 4)):
        answer(store, name, prompt(seed))
    assert in_memory(store) == ["a", "c", "http-d"]
    assert store.settle()
    store.close()
    assert set(saved(stores())) == {"a", "c"}


def test_what_goes_from_memory_is_on_disk_first(stores):
    store = stores(budget=TOKEN * 50)
    _, _, first = answer(store, "a", prompt(1))
    store.pause()  # before the background got to it
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
    store.pause()
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
