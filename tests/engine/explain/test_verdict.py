"""The verdict names what took the time, with numbers, and says that it does not know where it does not."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.explain.profile import Bandwidth, MachineProfile
from engine.explain.trace import (
    BreakReason,
    ModelFacts,
    Phases,
    PrefixBreak,
    Stall,
    StallCause,
    TurnTrace,
    Usage,
)
from engine.explain.verdict import VerdictKind, verdict
from tests.engine.explain.traces import any_trace, typical, values

PROFILE = MachineProfile(
    processor="Test",
    device="cpu",
    threads=2,
    bandwidths=(Bandwidth(32 << 20, 45e9), Bandwidth(256 << 20, 10.2e9)),
    matrix_rate=1.2e11,
    step_s=0.009,
    step_bytes=71_000_000,
)


def facts(**changes: object) -> ModelFacts:
    return dataclasses.replace(typical().model, **changes)


@settings(max_examples=300)
@given(any_trace, st.none() | values(MachineProfile))
def test_any_trace_has_a_sentence(trace: TurnTrace, profile: MachineProfile | None):
    found = verdict(trace, profile)
    assert found.sentence.endswith(".") and "nan" not in found.sentence and "inf" not in found.sentence
    assert all(math.isfinite(number.value) for number in found.numbers)


def test_decode_bound_by_memory_bandwidth_in_numbers():
    found = verdict(typical(model=facts(dtype="int8")), PROFILE)
    assert found.kind is VerdictKind.BANDWIDTH
    assert found.sentence == "Decode is bound by memory bandwidth: 80 MB per token at 8.0 of 10.2 GB/s."
    assert found.help == "A 4-bit format would be 1.6 times faster."
    assert {n.name: n.value for n in found.numbers}["possible"] == 10.2e9


def test_a_4_bit_model_gets_no_advice_to_take_4_bits():
    assert "already" in verdict(typical(), PROFILE).help


def test_a_long_conversation_is_what_is_read():
    times = tuple(2300 + 300 * n for n in range(101))
    found = verdict(typical(prompt_tokens=8000, token_times=times, wall_s=3.24), PROFILE)
    assert found.kind is VerdictKind.BANDWIDTH
    assert found.help.startswith("72 % of that is the chat itself")


def test_decode_bound_by_overhead():
    slow = typical(token_times=tuple(2300 + 400 * n for n in range(101)), wall_s=4.24)
    slow = dataclasses.replace(slow, phases=dataclasses.replace(slow.phases, decode=4.01))
    compiled = verdict(slow, PROFILE)
    assert (compiled.kind, "computing" in compiled.sentence) == (VerdictKind.OVERHEAD, True)
    eager = verdict(dataclasses.replace(slow, model=facts(path="torch")), PROFILE)
    assert eager.kind is VerdictKind.OVERHEAD
    assert eager.sentence.startswith("A token takes 40.0 ms, of which reading memory would take 7.8 ms")
    assert "small operations" in eager.sentence and "compiled code" in eager.help


def test_a_machine_that_was_not_measured_is_not_guessed_at():
    found = verdict(typical())
    assert (found.kind, found.sentence) == (VerdictKind.NOT_KNOWN, "Each token reads 80 MB, at 8.0 GB a second.")


def test_prefill_in_tokens_a_second():
    long = typical(phases=Phases(0.0, 0.0, 0.01, 3.0, 0.01, 1.01), wall_s=4.03, computed_tokens=1200)
    found = verdict(long, PROFILE)
    assert found.kind is VerdictKind.PREFILL
    assert "1,200 new tokens: 3.0 s, 400 tokens a second of the 448 " in found.sentence


@pytest.mark.parametrize(
    ("phases", "kind"),
    [(Phases(2.0, 0.0, 0.01, 0.2, 0.0, 1.0), VerdictKind.QUEUE), (Phases(0, 2.0, 0.01, 0.2, 0, 1), VerdictKind.LOAD)],
)
def test_waiting_is_named(phases: Phases, kind: VerdictKind):
    found = verdict(typical(phases=phases, wall_s=3.21), PROFILE)
    assert found.kind is kind and "2.0 s" in found.sentence and "62 % of the time" in found.sentence


@pytest.mark.parametrize(
    ("reason", "said"),
    [(BreakReason.EDITED, "edited"), (BreakReason.TEMPLATE, "template"), (BreakReason.EVICTED, "not held")],
)
def test_a_broken_prefix_is_named_with_its_reason(reason: BreakReason, said: str):
    trace = typical(
        phases=Phases(0.0, 0.0, 0.01, 2.0, 0.01, 1.0),
        wall_s=3.02,
        computed_tokens=1000,
        prefix=PrefixBreak(reason, 20, 1, lost=900),
    )
    found = verdict(trace, PROFILE)
    assert found.kind is VerdictKind.PREFIX_LOSS
    assert found.sentence.startswith("900 tokens") and "1.8 s" in found.sentence
    assert said in found.help


def test_a_first_turn_is_no_loss():
    prefix = PrefixBreak(BreakReason.FIRST_TURN, None, lost=40)
    assert verdict(typical(prefix=prefix), PROFILE).kind is VerdictKind.BANDWIDTH


PAGED = (Usage("prefill", 3.0, 2, 0.4, 0.1, 0.0, 24_000, 0),)


def test_a_cold_start_and_swapping_are_told_apart():
    phases = Phases(0.0, 0.0, 0.01, 3.0, 0.01, 1.0)
    cold = verdict(typical(usage=PAGED, phases=phases, wall_s=4.02, model=facts(turns_before=0)), PROFILE)
    assert cold.kind is VerdictKind.COLD_START and "24,000 pages" in cold.sentence
    swapped = (dataclasses.replace(PAGED[0], swapped_in_bytes=90_000_000),)
    short = verdict(typical(usage=swapped, phases=phases, wall_s=4.02, model=facts(turns_before=0)), PROFILE)
    assert short.kind is VerdictKind.SWAP and "Memory is short" in short.sentence


def test_other_programs_are_named_only_where_no_processor_was_to_spare():
    busy = (Usage("decode", 1.01, 2, 1.0, 1.0),)
    found = verdict(typical(usage=busy), PROFILE)
    assert found.kind is VerdictKind.OTHER_PROCESS and "50 % of the processors" in found.sentence
    room = (Usage("decode", 1.01, 8, 1.9, 3.0),)
    assert verdict(typical(usage=room), PROFILE).kind is VerdictKind.BANDWIDTH


def test_withheld_processors_are_named():
    found = verdict(typical(usage=(Usage("decode", 1.01, 2, 1.0, 0.0, throttled_s=0.6),)), PROFILE)
    assert found.kind is VerdictKind.THROTTLED and "600 ms" in found.sentence


def test_stalls_are_named_with_their_cause():
    stalls = (Stall(3, 700.0, StallCause.GARBAGE_COLLECTION, "Python collected garbage for 690 ms."),)
    found = verdict(typical(stalls=stalls), PROFILE)
    assert found.kind is VerdictKind.STALLS and "700 ms" in found.sentence
    assert found.help == "Python collected garbage for 690 ms."
    unknown = verdict(typical(stalls=(Stall(3, 700.0), Stall(9, 200.0))), PROFILE)
    assert "2 tokens came late" in unknown.sentence and unknown.help == "What held them up is not known."


@pytest.mark.parametrize(
    "trace",
    [
        TurnTrace(),
        typical(wall_s=None),
        typical(wall_s=0.0),
        typical(wall_s=-1.0),
        typical(token_times=(), phases=Phases(), generated_tokens=0),
        typical(token_times=(2300,), phases=Phases(0.0, 0.0, 0.0, 0.001, 0.0, 0.1), wall_s=0.101),
        typical(token_times=()),
    ],
)
def test_what_is_not_known_is_said_to_be_not_known(trace: TurnTrace):
    assert verdict(trace, PROFILE).kind is VerdictKind.NOT_KNOWN
