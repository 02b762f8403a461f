"""Traces of any shape, for property tests; `typical` is a plain good turn to change one thing of."""

from __future__ import annotations

import dataclasses
import typing
from enum import Enum
from typing import Any

from hypothesis import strategies as st

from engine.explain.trace import (
    KvState,
    KvTrace,
    MemoryState,
    ModelFacts,
    Phases,
    PrefixBreak,
    Segment,
    TurnTrace,
    Usage,
)

_NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a field's type, absurd ones too."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if type(None) in args:
        return st.none() | values(next(arg for arg in args if arg is not type(None)))
    if origin is tuple:
        return st.lists(values(args[0]), max_size=5).map(tuple)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{f.name: values(hints[f.name]) for f in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    return {int: st.integers(-(2**40), 2**40), float: _NUMBERS, str: st.text(max_size=8), bool: st.booleans()}[kind]


any_trace: st.SearchStrategy[TurnTrace] = values(TurnTrace)


def typical(**changes: object) -> TurnTrace:
    """A second turn on a small model: 40 tokens computed, 101 generated at 10 ms, nothing wrong."""
    tokens = 101
    first = 2300
    trace = TurnTrace(
        reason="end",
        wall_s=1.24,
        phases=Phases(0.001, 0.0, 0.009, 0.2, 0.02, 1.01),
        token_times=tuple(first + 100 * n for n in range(tokens)),
        prompt_tokens=340,
        cached_tokens=300,
        computed_tokens=40,
        generated_tokens=tokens,
        chunk_tokens=(40,),
        chunk_times=(2000,),
        prefill_from=100,
        segments=(Segment("system", 0, 20, 20, 0), Segment("user", 1, 320, 280, 40)),
        prefix=PrefixBreak(),
        kv=KvTrace(KvState(300, 7_000_000), KvState(440, 11_000_000), "own", 0, 0.0001),
        memory=MemoryState(
            allowed=6 << 30,
            weights=100 << 20,
            workspace=300 << 20,
            workspace_per_token=100,
            kv_this=11_000_000,
            budget=2 << 30,
            kv_rows=180,
            head_dim=64,
            kv_bytes_per_token=23_040,
            kv_dtype="float16",
            kv_dtypes=("float16", "int8"),
            context_limit=8192,
            model_context=8192,
        ),
        model=ModelFacts(
            name="tiny",
            label="Tiny",
            device="cpu",
            dtype="int4",
            path="kernels",
            threads=2,
            weight_bytes_per_token=71_000_000,
            linear_parameters=134_000_000,
            kv_bytes_per_token=23_040,
            layers=30,
            kv_heads=3,
            head_dim=64,
            load_s=0.5,
            turns_before=1,
        ),
        usage=(Usage("prefill", 0.2, 2, 0.38, 0.01, 0.0, 0, 0), Usage("decode", 1.01, 2, 1.9, 0.05, 0.0, 0, 0)),
    )
    return dataclasses.replace(trace, **changes)
