"""Changes safetensors files where it matters: in the values of the header, with lengths that are mostly true."""

from __future__ import annotations

import json
import struct
from random import Random
from typing import Any

from tests.fuzz.mutate_bytes import mutate_bytes

VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 8, 2**31, 2**53, 2**63, 2**64, 10**30, 0.5, 1e308, True, None, "", "F32", "BF16", "F33", "I64"),
    *([], {}, [0], [0, 8], [8, 0], [[0, 8]], [2**63, 2**63], [1] * 40, [0, 2**40], "x" * 5000, "\u0000", "\ud800"),
)


def _place(value: Any, random: Random) -> tuple[Any, Any]:
    """A container somewhere in `value`, and a key of it."""
    key = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
    inner = value[key]
    if isinstance(inner, dict | list) and inner and random.random() < 0.8:
        return _place(inner, random)
    return value, key


def _change_header(header: Any, random: Random) -> None:
    if not (isinstance(header, dict | list) and header):
        return
    holder, key = _place(header, random)
    old = holder[key]
    choice = random.randrange(5)
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(old, int) and not isinstance(old, bool):
        holder[key] = random.choice((old + 1, old - 1, old * 2, -old, old + 8))
    elif choice == 2 and isinstance(holder, dict):
        holder[random.choice(("x" * 3000, "\u001b[31m\n", "__metadata__", ""))] = old
    elif choice == 3:
        holder[key] = [old, old] if random.random() < 0.5 else {"dtype": old}
    else:
        holder[key] = random.choice(VALUES)


def _change_json(text: bytes, random: Random) -> bytes:
    """Where the text of the header breaks, rather than its values."""
    made = mutate_bytes(text, random)
    return random.choice(
        (made, text + b" " * 100, text.replace(b"}", b',"dtype":"F16"}', 1), b"[" * 5000, b"{}" + text)
    )


def mutate_safetensors(data: bytes, random: Random) -> bytes:
    """One change to a safetensors file."""
    if len(data) < 8 or random.random() < 0.15:
        return mutate_bytes(data, random)
    length = min(struct.unpack("<Q", data[:8])[0], len(data) - 8)
    text, tail = data[8 : 8 + length], data[8 + length :]
    try:
        header = json.loads(text)
        for _ in range(random.choice((1, 1, 2))):
            _change_header(header, random)
        changed = json.dumps(header).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        changed = text
    if random.random() < 0.15:
        changed = _change_json(text, random)
    told = len(changed) if random.random() < 0.9 else random.choice((0, 1, 2**32, 2**63, 2**64 - 1, len(changed) + 1))
    return struct.pack("<Q", told) + changed + (tail if random.random() < 0.9 else mutate_bytes(tail, random))
