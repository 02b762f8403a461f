"""Bytes and tokens as people write and read them."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS: Final = "kmgt"
_LONGEST: Final = 32  # characters; a longer one is no size, and Python would take its time over it


def parse_bytes(text: str) -> int:
    """Bytes from "24GiB", "24 GB", "512MiB", "24g" or a plain number; k, m, g and t alone are powers of 1,024.

    Raises:
        ValueError: It is no size, or not a positive one; the message is a sentence.
    """
    match = _SIZE.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    value = _bytes(match) if match else 0
    if not 0 < value < 1 << 60:
        raise ValueError(f'"{text[:_LONGEST]}" is no amount of memory; write it like 24GiB or 512MiB.')
    return value


def _bytes(match: re.Match[str]) -> int:
    number, prefix, binary = match.groups()
    decimal = match.group(0)[-1] in "bB" and not binary
    power = _POWERS.index(prefix.lower()) + 1 if prefix else 0
    return int(float(number) * (1000 if decimal else 1024) ** power)


def binary(nbytes: int) -> str:
    """Bytes in binary units with three significant digits: "17.6 GiB", "350 MiB", "46.0 KiB", "12 bytes"."""
    size, unit = float(nbytes), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1023.5:
            break
        size, unit = size / 1024, larger
    if unit == "bytes":
        return f"{nbytes:,} bytes"
    digits = 2 if abs(size) < 9.995 else 1 if abs(size) < 99.95 else 0
    return f"{size:.{digits}f} {unit}"
