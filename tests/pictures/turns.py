"""Traces of example turns: a fast one, one with a broken prefix, a stalled one."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Final

from engine.explain.comparison import Candidate, Comparison, Step
from engine.explain.trace import (
    BreakReason,
    KvState,
    KvTrace,
    MemoryState,
    ModelFacts,
    Phases,
    Piece,
    PrefixBreak,
    Segment,
    Stall,
    StallCause,
    TurnTrace,
    Usage,
)
from tests.pictures.examples import MODEL

MEMORY: Final = MemoryState(
    allowed=1_200_000_000,
    reason="15 % of 7.5 GiB; the rest is for the system and other programs",
    weights=90_000_000,
    workspace=258_000_000,
    workspace_per_token=1_000,
    kv_this=32_000_000,
    kv_others=32_000_000,
    budget=852_000_000,
    kv_rows=180,
    head_dim=64,
    kv_bytes_per_token=46_080,
    kv_dtype="float32",
    kv_dtypes=("float32", "float16", "int8"),
    context_limit=8_192,
    model_context=8_192,
)
FACTS: Final = ModelFacts(
    name=MODEL.name,
    label=MODEL.label,
    architecture="llama",
    version="0.5.2",
    device="cpu",
    dtype="int4",
    kv_dtype="float32",
    path="kernels",
    threads=2,
    parameters=MODEL.parameters,
    weight_bytes=90_000_000,
    weight_bytes_per_token=76_000_000,
    linear_parameters=106_000_000,
    kv_bytes_per_token=46_080,
    layers=30,
    kv_heads=3,
    head_dim=64,
    context_limit=8_192,
    load_s=1.4,
    turns_before=3,
)


def _times(first_ms: float, gaps_ms: list[float]) -> tuple[int, ...]:
    return tuple(round(10 * at) for at in accumulate([first_ms, *gaps_ms]))


def _steady(count: int) -> list[float]:
    """Milliseconds from token to token, with the small differences that there always are."""
    return [13.5 + 0.15 * (index * 7 % 5) for index in range(count)]


FAST: Final = TurnTrace(
    reason="end",
    wall_s=0.0765 + 1.408,
    phases=Phases(0.001, 0.0, 0.003, 0.071, 0.0015, 1.408, 0.026),
    token_times=_times(76.5, _steady(102)),
    prompt_tokens=705,
    cached_tokens=688,
    computed_tokens=17,
    generated_tokens=103,
    chunk_tokens=(17,),
    chunk_times=(710,),
    prefill_from=40,
    segments=(
        Segment("system", 0, 31, 31, 0),
        Segment("user", 1, 18, 18, 0),
        Segment("assistant", 2, 639, 639, 0),
        Segment("user", 3, 17, 0, 17),
    ),
    prefix=PrefixBreak(BreakReason.NONE, 688),
    kv=KvTrace(KvState(688, 31_700_000), KvState(808, 37_200_000), "own"),
    memory=MEMORY,
    model=FACTS,
)
STALLED: Final = replace(
    FAST,
    wall_s=0.0765 + 2.735,
    phases=replace(FAST.phases, decode=2.735),
    token_times=_times(76.5, [*_steady(36), 612.0, *_steady(30), 743.0, *_steady(34)]),
    stalls=(
        Stall(37, 612.0, StallCause.CACHE_GROWTH, "The KV cache moved to a larger place, 47 MB in all."),
        Stall(68, 743.0, StallCause.OTHER_PROCESS, "Other programs took 1.9 of 2 processors."),
    ),
    usage=(Usage("decode", 2.735, cores=2, cpu_s=2.6, others_cpu_s=1.4, waited_s=0.7),),
)
BROKEN: Final = replace(
    FAST,
    wall_s=2.6 + 1.41,
    phases=replace(FAST.phases, prefill=2.59),
    token_times=_times(2_600.0, _steady(102)),
    cached_tokens=49,
    computed_tokens=656,
    chunk_tokens=(256, 256, 144),
    chunk_times=(10_100, 20_300, 25_900),
    segments=(
        Segment("system", 0, 31, 31, 0),
        Segment("user", 1, 18, 18, 0),
        Segment("assistant", 2, 639, 0, 639),
        Segment("user", 3, 17, 0, 17),
    ),
    prefix=PrefixBreak(
        BreakReason.EDITED,
        49,
        2,
        639,
        45,
        tuple(Piece(id, text) for id, text in enumerate((" the", " first", " word", ",", " and", " then", " it"))),
        tuple(Piece(id, text) for id, text in enumerate((" the", " first", " word", " only", "?\n", "<|im_end|>"))),
    ),
)
_LIKELY: Final = (Candidate(1_021, " It", 0.412), Candidate(504, " The", 0.231), Candidate(198, "\n", 0.058))
COMPARISON: Final = Comparison(
    prompt_tokens=705,
    prefill=Step(705, 2.31, (1, 3, 705, 64), 30, 32_500_000, _LIKELY),
    step=Step(1, 0.0139, (1, 3, 706, 64), 30, 32_500_000, (Candidate(314, " is", 0.871), Candidate(372, " was", 0.05))),
    cached_ms=tuple(13.5 + 0.1 * (index % 4) for index in range(32)),
    fresh_ms=tuple(2_310.0 + 3.4 * index + 9 * (index % 3) for index in range(32)),
    equal=True,
    text=" It is",
)
