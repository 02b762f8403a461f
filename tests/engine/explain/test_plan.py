"""Memory as a bar, what other settings would take, and the turns that are left."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from engine.explain.plan import memory_base, triangle, turns_left, what_if
from engine.explain.trace import MemoryState
from engine.memory import Footprint, Limits, Machine, plan
from engine.overflow import history_room
from tests.engine.explain.traces import typical

MEMORY = typical().memory
FOOTPRINT = Footprint("Tiny", 100 << 20, 80 << 20, 180, 64, "float16", 8192, 5 << 20, 100, 1 << 20, ("int8",))
MACHINE = Machine("cpu", 8 << 30, 7 << 30, 200 << 20)


class Held:
    weight_bytes = 100 << 20
    kv_bytes_per_token = FOOTPRINT.kv_bytes_per_token
    context_limit = 8192


def test_the_bar_is_the_whole_allowance():
    bar = triangle(MEMORY)
    assert bar.weights + bar.workspace + bar.kv_this + bar.kv_others + bar.free == bar.allowed
    overdrawn = triangle(dataclasses.replace(MEMORY, allowed=1))
    assert overdrawn.free == 0


@given(st.integers(16, 8192), st.integers(1, 40))
def test_what_if_says_what_the_plan_says(context: int, conversations: int):
    planned = plan(FOOTPRINT, MACHINE, context=4096)
    base = memory_base(planned, FOOTPRINT, Held(), planned.caches)
    wanted = plan(FOOTPRINT, MACHINE, context=context, conversations=conversations)
    found = what_if(base, context=context, conversations=conversations)
    assert found is not None
    assert (found.left, found.fits) == (wanted.left, wanted.fits)
    assert found.conversations_that_fit == wanted.conversations_that_fit
    assert found.kv == conversations * context * FOOTPRINT.kv_bytes_per_token


def test_a_smaller_kv_type_costs_less_and_fits_more():
    planned = plan(FOOTPRINT, MACHINE, limits=Limits(0.1))
    base = memory_base(planned, FOOTPRINT, Held(), planned.caches)
    assert base.kv_dtypes == ("float16", "int8")
    wide = what_if(base, context=8192, conversations=3)
    narrow = what_if(base, context=8192, conversations=3, kv_dtype="int8")
    assert wide is not None and narrow is not None
    assert narrow.kv_bytes_per_token == 180 * (64 + 4)
    assert narrow.needed < wide.needed
    assert narrow.conversations_that_fit > wide.conversations_that_fit


def test_the_longest_context_that_is_named_fits_and_the_next_does_not():
    base = dataclasses.replace(MEMORY, allowed=700 << 20, model_context=1 << 20)
    longest = what_if(base, context=16).longest_context
    assert what_if(base, context=longest).fits
    assert not what_if(base, context=longest + 1).fits


def test_what_is_of_no_known_kind_is_not_planned():
    assert what_if(MemoryState(), context=100) is None
    assert what_if(MEMORY, context=100, kv_dtype="float3") is None


def test_what_holds_keys_and_values_in_another_way_is_planned_by_its_size_alone():
    class Other(Held):
        kv_bytes_per_token = 777

    planned = plan(FOOTPRINT, MACHINE)
    base = memory_base(planned, FOOTPRINT, Other(), planned.caches)
    assert (base.kv_dtype, base.kv_dtypes, base.kv_rows) == ("", (), 0)
    assert what_if(base, context=100).kv == 77_700


def test_turns_left_by_the_chats_own_habit():
    left = turns_left([300, 500, 700, 900], 8192)
    assert left.tokens_per_turn == 200
    assert left.room == history_room(8192) - 900
    assert left.turns == left.room // 200
    assert left.kept == 1_536
    assert left.room + left.kept + 900 == 8192, "every token of the context is accounted for"
    assert turns_left([], 8192) is None
    assert turns_left([300], 0) is None
    assert turns_left([9000], 8192).turns == 0
    assert turns_left([4000, 2000, 2100], 8192).tokens_per_turn == 2050  # the cut between them is no habit
