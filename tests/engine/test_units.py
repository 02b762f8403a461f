"""Bytes as people write them."""

from __future__ import annotations

import pytest

from engine.units import binary, parse_bytes


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("24GiB", 24 << 30),
        ("24 GB", 24_000_000_000),
        ("24g", 24 << 30),
        ("1.5GiB", 3 << 29),
        ("512mib", 512 << 20),
        ("1kB", 1000),
        ("4096", 4096),
        (" 2TiB ", 2 << 40),
    ],
)
def test_sizes_are_read(text: str, nbytes: int) -> None:
    assert parse_bytes(text) == nbytes


@pytest.mark.parametrize("text", ["", "abc", "0", "0GiB", "-1GiB", "1e9", "GiB", "5 apples", "nan", "9" * 30, "9" * 99])
def test_what_is_no_size_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no amount of memory; write it like 24GiB or 512MiB\.$"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1000, "1,000 bytes"),
        (46_080, "45.0 KiB"),
        (1 << 20, "1.00 MiB"),
        (1023 << 20, "1023 MiB"),
        ((1 << 30) - 1, "1.00 GiB"),
        (18_957_044_736, "17.7 GiB"),
        (-(3 << 30), "-3.00 GiB"),
        (5000 << 40, "5000 TiB"),
    ],
)
def test_sizes_are_written(nbytes: int, text: str) -> None:
    assert binary(nbytes) == text
