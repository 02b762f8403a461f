"""Changes a config.json in its values: sizes of other kinds, none, far too large, and what is no size."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

from tests.fuzz.mutate_bytes import mutate_bytes

VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 64, 100, 1000, 9_999, 10**6, 10**9, 10**12, 2**31, 2**53, 2**63, 2**64, 10**30, 10**400),
    *(0.5, 64.0, 64.5, -0.0, 1e-320, 1e30, 1e308, float("nan"), float("inf"), -float("inf"), True, False, None),
    *("", "64", "x" * 5000, "\u0000", "\ud800", "default", "yarn", "llama3", "full_attention", "float16"),
    *(
        [],
        {},
        [64],
        [64] * 40,
        [10**9] * 3,
        ["x"],
        [[[]]],
        {"a": {"b": [1]}},
        {"rope_type": "yarn"},
        [None],
        {"0": 10**12},
    ),
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in `value`, with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]


def _change(config: Any, random: Random) -> None:
    # What a model is of is rarely changed: another one's values are all defaults.
    places = [place for place in _places(config) if place[1] != "model_type" or random.random() < 0.1]
    if not places:
        return
    holder, key = random.choice(places)
    old = holder[key]
    choice = random.randrange(6)
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(old, int | float) and not isinstance(old, bool):
        half = old // 2 if abs(old) > sys.float_info.max else old / 2
        holder[key] = random.choice((old + 1, old - 1, old * 2, -old, old * 10**6, half, str(old)))
    elif choice == 2 and isinstance(holder, dict):
        holder[random.choice(("text_config", "quantization_config", "rope_scaling", "layer_types", "num_experts"))] = (
            old
        )
    elif choice == 3:
        holder[key] = [old, old] if random.random() < 0.5 else {"factor": old}
    else:
        holder[key] = random.choice(VALUES)


def mutate_config(data: bytes, random: Random) -> bytes:
    """One to three changes to a config.json; one to its bytes where an earlier change left no JSON object of it."""
    try:
        config = json.loads(data)
        if not isinstance(config, dict) or not config:
            return mutate_bytes(data, random)
        for _ in range(random.choice((1, 1, 2, 3))):
            _change(config, random)
        return json.dumps(config).encode()
    except (ValueError, RecursionError):  # no JSON; or a part was put into itself
        return mutate_bytes(data, random)
