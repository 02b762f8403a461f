"""Changes that know nothing of a format: bits, cuts, copies."""

from __future__ import annotations

from random import Random


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """One change somewhere."""
    at = random.randrange(len(data) + 1)
    end = min(len(data), at + random.choice((1, 1, 2, 4, 8, 32, 256)))
    return random.choice(
        (
            data[:at],
            data[:at] + data[end:],
            data[:end] + data[at:],
            data[:at] + random.randbytes(end - at) + data[end:],
            data[:at] + bytes(end - at) + data[end:],
            data[:at] + b"\xff" * (end - at) + data[end:],
            data + random.randbytes(random.randrange(64)),
            data[:at] + bytes(byte ^ 1 << random.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :],
        )
    )
