"""The budget: arithmetic checked by hand, and what is refused with which sentence."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DoesNotFit
from engine.memory import Footprint, Limits, Machine, allowance, check, largest_that_fits, plan

GIB = 1 << 30
# 10 rows of 50 float32: 2,000 bytes a token.
MODEL = Footprint(
    label="Example",
    weights=1_000_000,
    code=10_000,
    kv_rows=10,
    head_dim=50,
    kv_dtype="float32",
    context_limit=4000,
    activations=30_000,
    activations_per_token=100,
    logits=20_000,
)
ALL = Limits(utilization=1.0)


def machine(total: int, kind: str = "cpu") -> Machine:
    return Machine(kind, total, None, runtime=40_000)


def test_the_triangle_adds_up() -> None:
    made = plan(MODEL, machine(9_600_000), context=1000, conversations=3, limits=ALL)
    # 1,000,000 weights + 40,000 + 10,000 program + 30,000 + 100 * 1,000 activations + 20,000 logits = 1,200,000
    assert made.workspace.total == 200_000
    assert made.caches == 8_400_000
    assert made.kv_bytes_per_token == 2000
    assert made.conversations_that_fit == 4  # 8,400,000 / (1,000 * 2,000)
    assert made.left == 2_400_000  # 8,400,000 - 3 * 2,000,000
    # The longest alone has 8,500,000 before its own activations: / (2,000 + 100) = 4,047, the model holds 4,000.
    assert made.longest_context == 4000


def test_the_longest_context_is_exact() -> None:
    # 1,100,000 before any token, then 2,100 bytes a token.
    exact = plan(MODEL, machine(1_100_000 + 2_100 * 777), limits=ALL)
    assert (exact.context, exact.longest_context, exact.left) == (777, 777, 0)
    assert plan(MODEL, machine(1_100_000 + 2_100 * 777 - 1), limits=ALL).longest_context == 776
    assert not plan(MODEL, machine(1_100_000 + 2_100 * 777 - 1), context=777, limits=ALL).fits


@pytest.mark.parametrize(
    ("dtype", "nbytes"), [("float32", 2000), ("float16", 1000), ("bfloat16", 1000), ("int8", 10 * (50 + 4))]
)
def test_what_a_token_costs(dtype: str, nbytes: int) -> None:
    assert dataclasses.replace(MODEL, kv_dtype=dtype).kv_bytes_per_token == nbytes


def test_a_gpu_is_taken_almost_whole_and_ram_is_shared() -> None:
    assert allowance(machine(100 * GIB, "cuda"), None)[0] == 92 * GIB
    allowed, reason = allowance(machine(16 * GIB), None)
    assert (allowed, reason) == (12 * GIB, "75% of 16.0 GiB; the rest is for the system and other programs")
    assert allowance(machine(16 * GIB), 0.5) == (8 * GIB, "50% of 16.0 GiB, as set")


def test_what_other_programs_hold_is_not_ours() -> None:
    busy = Machine("cpu", 16 * GIB, 4 * GIB, 0)
    assert allowance(busy, None) == (3 * GIB, "all that other programs leave free but 1.00 GiB")
    assert allowance(dataclasses.replace(busy, kind="cuda"), None)[0] == 4 * GIB
    assert allowance(dataclasses.replace(busy, available=GIB // 2), None)[0] == 0


def test_a_limit_on_caches_limits_the_context_too() -> None:
    made = plan(MODEL, machine(1 * GIB), limits=Limits(caches=2_100_000))
    assert made.context == made.longest_context == 1000
    assert made.caches == 2_000_000  # what the mask of 1,000 tokens leaves
    assert made.reason == "caches are limited to 2.00 MiB, as set"


def refused(total: int, context: int, conversations: int, model: Footprint = MODEL) -> str:
    wanted = plan(model, machine(total), context=context, conversations=conversations, limits=ALL)
    with pytest.raises(DoesNotFit) as failure:
        check(model, machine(total), wanted, ALL)
    return failure.value.sentence.rpartition("the largest that fits is ")[2]


def test_first_the_context_is_made_shorter() -> None:
    # 1,100,000 + (3 * 2,000 + 100) * 600
    assert refused(4_760_000, 1000, 3) == "3 chats of 600 tokens (float32)."
    assert refused(1_100_000 + 2_100 * 600, 1000, 1) == "a context of 600 tokens (float32)."


def test_then_there_are_fewer_conversations() -> None:
    # 20 of the smallest context, 512 tokens, would take 21,631,200; 4 of 1,000 take 9,200,000.
    assert refused(9_600_000, 1000, 20) == "4 chats of 1,000 tokens (float32)."


def test_then_keys_and_values_are_held_smaller() -> None:
    # In float32 512 tokens take 1,100,000 + 2,100 * 512 = 2,175,200; in float16 1,100,000 + 1,100 * 800.
    assert refused(1_980_000, 1000, 1) == "a context of 800 tokens (float16)."
    # In float16 512 tokens take 1,663,200; in int8 1,100,000 + 640 * 600.
    assert refused(1_484_000, 600, 1) == "a context of 600 tokens (int8)."


def test_where_no_conversation_fits_the_model_is_too_large() -> None:
    assert refused(1_200_000, 1000, 1).endswith("choose a smaller model.")
    assert "takes 1.14 MiB before the first word" in refused(1_200_000, 1000, 1)


MODELS = st.builds(
    lambda weights, dtype: dataclasses.replace(MODEL, weights=weights, kv_dtype=dtype),
    st.integers(0, 1 << 33),
    st.sampled_from(["float32", "float16", "int8"]),
)
LIMITS = st.builds(Limits, st.none() | st.floats(0.01, 1.0), st.none() | st.integers(1, 1 << 33))


@given(MODELS, LIMITS, st.builds(machine, st.integers(1, 1 << 34)), st.integers(1, 4000), st.integers(1, 500))
def test_what_is_offered_fits_and_is_no_more_than_was_asked(
    model: Footprint, limits: Limits, computer: Machine, context: int, conversations: int
) -> None:
    wanted = plan(model, computer, context=context, conversations=conversations, limits=limits)
    largest = largest_that_fits(model, computer, wanted, limits)
    assert wanted.fits == (largest is wanted)
    if largest is not None:
        assert largest.fits
        assert 1 <= largest.context <= context
        assert 1 <= largest.conversations <= conversations
        held = largest.conversations * largest.context * largest.kv_bytes_per_token
        assert largest.weights + largest.workspace.total + held <= largest.allowed <= computer.total
