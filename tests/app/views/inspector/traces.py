"""Traces of example turns."""

from __future__ import annotations

from itertools import accumulate

from engine.explain.trace import (
    BreakReason,
    MemoryState,
    ModelFacts,
    Phases,
    Piece,
    PrefixBreak,
    Segment,
    Stall,
    StallCause,
    TurnTrace,
)

GAPS = [180] * 40 + [1100] + [180] * 60  # steps of 0.1 ms


def turn() -> TurnTrace:
    """705 tokens of prompt, of which 300 reused; 102 tokens, one of them late."""
    times = tuple(accumulate([710, *GAPS]))
    return TurnTrace(
        reason="end",
        wall_s=2.3,
        phases=Phases(0.001, 0.0, 0.003, 0.071, 0.0002, 2.199, 0.026),
        token_times=times,
        stalls=(Stall(41, 110.0, StallCause.CACHE_GROWTH, "The KV cache moved to a larger place, 47 MB in all."),),
        prompt_tokens=705,
        cached_tokens=300,
        computed_tokens=405,
        generated_tokens=102,
        segments=(
            Segment("system", 0, 30, 30, 0),
            Segment("user", 1, 200, 200, 0),
            Segment("assistant", 2, 300, 70, 230),
            Segment("user", 3, 175, 0, 175),
        ),
        prefix=PrefixBreak(BreakReason.EDITED, 300, 2, 230, 298, (Piece(1, "the"),), (Piece(2, "dog\n"),)),
        memory=MEMORY,
        model=ModelFacts(name="smollm2", layers=30, kv_heads=3, head_dim=64, kv_bytes_per_token=46_080),
    )


MEMORY = MemoryState(
    allowed=1_200_000_000,
    weights=90_000_000,
    workspace=250_000_000,
    workspace_per_token=1_000,
    kv_this=32_000_000,
    kv_others=16_000_000,
    budget=800_000_000,
    kv_rows=180,
    head_dim=64,
    kv_bytes_per_token=23_040,
    kv_dtype="float16",
    kv_dtypes=("float16", "int8"),
    context_limit=8_192,
    model_context=8_192,
)
