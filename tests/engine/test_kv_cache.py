"""One conversation's cache: ids and the runner's state stay in step through every cut, return, copy and failure."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import BadModelFile
from engine.kv_cache import KVCache, Snapshot, common_prefix, reusable
from tests.engine.fakes import FakeRunner

IDS = list(range(100, 140))


def read(cache: KVCache, ids: list[int]) -> list[int]:
    """Take a prompt in, as a turn does, with a mark before its last token; the tokens that had to be computed."""
    rest = cache.reuse(ids)
    if len(rest) > 1:
        cache.prefill(rest[:-1])
    cache.mark()
    cache.prefill(rest[-1:])
    in_step(cache, ids)
    return rest


def in_step(cache: KVCache, ids: list[int]) -> None:
    assert cache.ids == ids
    assert cache._cache.held == ids


@pytest.fixture(params=[True, False], ids=["croppable", "stateful"])
def runner(request):
    return FakeRunner(croppable=request.param)


@given(st.lists(st.integers(0, 2), max_size=300), st.lists(st.integers(0, 2), max_size=300), st.integers(0, 300))
def test_the_common_prefix_is_what_a_loop_would_find(a, b, shared):
    b = a[:shared] + b
    expected = 0
    while expected < min(len(a), len(b)) and a[expected] == b[expected]:
        expected += 1
    assert common_prefix(a, b) == expected


@pytest.mark.parametrize(
    ("held", "marks", "ids", "expected"),
    [
        ([], None, [1, 2], 0),
        ([1, 2], None, [3, 4], 0),
        ([1, 2], None, [1, 2, 3], 2),
        ([1, 2], None, [1, 2], 1),  # the last token's logits are wanted
        ([1, 2, 3], None, [1, 2], 1),  # a strict beginning of what is held
        ([1, 2, 3], None, [1], 0),
        ([1, 2, 3], None, [], 0),
        ([1, 2], (), [1, 2, 3], 2),
        ([1, 2], (), [1, 2], 0),
        ([1, 2], (1,), [1, 2], 1),
        ([1, 2, 3, 4], (1, 3), [1, 2, 9], 1),
        ([1, 2, 3, 4], (2, 3), [1, 9], 0),
        ([1, 2, 3, 4], (4,), [1, 2, 3, 4], 0),
    ],
)
def test_what_a_cache_spares(held, marks, ids, expected):
    assert reusable(held, marks, ids) == expected


def test_a_prompt_that_goes_on_costs_only_what_is_new(runner):
    cache = KVCache(runner)
    read(cache, IDS[:10])
    assert read(cache, IDS[:25]) == IDS[10:25]


def test_the_same_prompt_again_costs_one_token(runner):
    cache = KVCache(runner)
    read(cache, IDS)
    for token_id in (1, 2, 3):  # a reply
        cache.decode(token_id)
    assert read(cache, IDS) == IDS[-1:]
    assert read(cache, IDS) == IDS[-1:]


def test_a_change_keeps_what_lies_before_it(runner):
    cache = KVCache(runner)
    read(cache, IDS[:10])
    cache.decode(1)
    turn_start = [*IDS[:10], 1]
    read(cache, [*turn_start, 5, 6, 7])
    cache.decode(2)
    assert read(cache, [*turn_start, 9, 9]) == [9, 9]  # the second message is another
    assert read(cache, [1, 2, 3]) == [1, 2, 3]


def test_a_strict_beginning_of_what_is_held(runner):
    cache = KVCache(runner)
    read(cache, IDS)
    rest = read(cache, IDS[:30])
    assert rest == (IDS[29:30] if runner.croppable else IDS[:30])


def test_states_are_few_and_spread():
    cache = KVCache(FakeRunner(croppable=False))
    for n in range(1, 41):
        cache.prefill([n, n])
        cache.mark()
    assert len(cache.marks) == 6
    assert cache.marks[-2:] == (78, 80)  # those of the turn at hand
    assert cache.marks[0] < 40  # and some far back, for an edit there
    in_step(cache, [n for n in range(1, 41) for _ in range(2)])


def test_going_back_forgets_later_states():
    cache = KVCache(FakeRunner(croppable=False))
    for n in range(6):
        cache.prefill([n, n])
        cache.mark()
    cache.reuse([0, 0, 1, 1, 9])
    assert cache.marks == (2, 4)
    cache.prefill([9, 8])
    assert cache.covers([0, 0, 1, 1, 9, 8, 7, 7]) == 6  # nothing of the old branch
    assert cache.covers([0, 0, 1, 1, 2, 2, 3, 3]) == 4


@pytest.mark.parametrize("length", [1, 12, 39, 40])
def test_a_copy_shares_nothing_with_its_source(runner, length):
    cache = KVCache(runner)
    cache.reuse(IDS)
    for n in (1, 12, 39, 40):
        cache.prefill(IDS[len(cache.ids) : n])
        cache.mark()
    copy = cache.copy(length)
    in_step(copy, IDS[:length])
    copy.decode(7)
    in_step(cache, IDS)
    assert read(copy, [*IDS[:length], 8]) == [8]


def test_a_snapshot_with_its_states_comes_back():
    cache = KVCache(FakeRunner(croppable=False))
    read(cache, IDS[:20])
    read(cache, IDS)
    again = KVCache.restored(FakeRunner(croppable=False), cache.snapshot())
    in_step(again, IDS)
    assert again.marks == cache.marks
    assert read(again, IDS) == IDS[-1:]
    assert again.nbytes >= cache._cache.nbytes


def test_a_snapshot_of_another_length_is_refused(runner):
    cache = KVCache(runner)
    read(cache, IDS)
    whole = cache.snapshot()
    with pytest.raises(BadModelFile):
        KVCache.restored(runner, Snapshot((*whole.ids, 5), whole.tensors))


@pytest.mark.parametrize("error", [RuntimeError("injected"), KeyboardInterrupt()])
def test_a_failing_pass_leaves_an_empty_cache(error):
    def fail(ids):
        raise error

    runner = FakeRunner()
    cache = KVCache(runner)
    read(cache, IDS)
    runner._before = fail
    with pytest.raises(type(error)):
        cache.prefill([1, 2])
    in_step(cache, [])
    runner._before = None
    assert read(cache, IDS) == IDS


@pytest.mark.parametrize("croppable", [True, False])
def test_a_failing_cut_leaves_an_empty_cache(croppable, monkeypatch):
    cache = KVCache(FakeRunner(croppable=croppable))
    read(cache, IDS[:20])
    read(cache, IDS)

    def fail(*_):
        cache._cache.held.clear()  # half done
        raise MemoryError

    monkeypatch.setattr(cache._cache, "crop" if croppable else "rewind", fail)
    with pytest.raises(MemoryError):
        cache.reuse(IDS[:20])
    in_step(cache, [])
    assert cache.covers(IDS) == 0
    assert read(cache, IDS) == IDS


def test_the_bytes_of_states_count():
    cache = KVCache(FakeRunner(croppable=False))
    cache.prefill(IDS)
    before = cache.nbytes
    cache.mark()
    assert cache.nbytes == before + 8 * len(IDS)
    cache.mark()
    assert cache.nbytes == before + 8 * len(IDS)  # once at one length
    cache.clear()
    assert cache.nbytes == 0


def test_a_snapshot_of_a_beginning_is_cut(runner):
    cache = KVCache(runner)
    read(cache, IDS)
    shot = cache.snapshot(10)
    assert list(shot.ids) == (IDS[:10] if runner.croppable else IDS)
    assert torch.equal(shot.tensors["held"], torch.tensor([list(shot.ids)]))
