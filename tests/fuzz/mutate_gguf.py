"""Changes GGUF files where it matters: a walk of its own finds numbers and texts, and lies are put in their place."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from random import Random

from tests.fuzz.mutate_bytes import mutate_bytes

LIES = (0, 1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62)
LARGE = (2**63 - 1, 2**63, 2**64 - 1)
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9
Field = tuple[str, int, int]  # "number" or "text" (of which the length lies before), where, bytes


class _Walk:
    """Follows the layout as far as it goes; a damaged file ends the walk, not the fuzzing."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 24
        self.fields: list[Field] = [("number", 4, 4), ("number", 8, 8), ("number", 16, 8)]

    def number(self, size: int) -> int:
        value = int.from_bytes(self.data[self.at : self.at + size], "little")
        self.fields.append(("number", self.at, size))
        self.at += size
        if self.at > len(self.data):
            raise EOFError
        return value

    def text(self) -> None:
        size = self.number(8)
        if size > len(self.data) - self.at:
            raise EOFError
        self.fields.append(("text", self.at, size))
        self.at += size

    def value(self, kind: int) -> None:
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            inner, count = self.number(4), self.number(8)
            for _ in range(min(count, 10_000)):
                self.value(inner)
        else:
            self.number(WIDTHS[kind])

    def all(self) -> Iterator[Field]:
        try:
            for _ in range(min(1000, int.from_bytes(self.data[16:24], "little"))):
                self.text()
                self.value(self.number(4))
            for _ in range(min(1000, int.from_bytes(self.data[8:16], "little"))):
                self.text()
                for _ in range(self.number(4)):
                    self.number(8)
                self.number(4)
                self.number(8)
        except (EOFError, KeyError, RecursionError):
            pass
        return iter(self.fields)


def fields(data: bytes) -> list[Field]:
    """Where the numbers and texts of a GGUF file lie."""
    return [field for field in _Walk(data).all() if field[1] + field[2] <= len(data)]


def _lie(data: bytes, random: Random) -> bytes:
    _, at, size = random.choice([field for field in fields(data) if field[0] == "number"])
    old = int.from_bytes(data[at : at + size], "little")
    new = random.choice((*LIES, *LARGE, old + 1, old - 1, 2 * old, old // 2, old ^ 1 << random.randrange(8 * size)))
    return data[:at] + (new % 2 ** (8 * size)).to_bytes(size, "little") + data[at + size :]


def _swap_numbers(data: bytes, random: Random) -> bytes:
    numbers = [field for field in fields(data) if field[0] == "number"]
    (_, one, size), (_, two, _) = random.choice(numbers), random.choice(numbers)
    return data[:one] + data[two : two + size].ljust(size, b"\0") + data[one + size :]


def _retell(data: bytes, random: Random) -> bytes:
    """Another text, with a length that is true."""
    texts = [field for field in fields(data) if field[0] == "text"]
    if not texts:
        return data
    _, at, size = random.choice(texts)
    _, other, length = random.choice(texts)
    old = data[at : at + size]
    made = random.choice(
        (data[other : other + length], b"", old * 2, old[:-1], b"\0" + old, b"\xff" + old, old + b" ", b"x" * 70_000)
    )
    return data[: at - 8] + struct.pack("<Q", len(made)) + made + data[at + size :]


def _noise_in_text(data: bytes, random: Random) -> bytes:
    _, at, size = random.choice(fields(data))
    made = bytes(random.randrange(256) for _ in range(size)) if size <= 64 else data[at : at + size]
    return data[:at] + made + data[at + size :]


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_lie, _lie, _lie, _swap_numbers, _retell, _noise_in_text, mutate_bytes),
)


def mutate_gguf(data: bytes, random: Random) -> bytes:
    """One to three changes to a GGUF file."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(CHANGES)(data, random) if len(data) >= 24 else mutate_bytes(data, random)
    return data
