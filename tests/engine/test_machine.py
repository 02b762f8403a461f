"""What the machine has: against the system's own figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.machine import measure_machine, peak_resident, resident, stated_machine


def test_ram_is_the_systems_ram() -> None:
    found = measure_machine("cpu", limits=())
    assert found.total == psutil.virtual_memory().total
    assert 0 < found.runtime <= (found.available or 0) <= found.total


@pytest.mark.parametrize(
    ("text", "limited"), [("1073741824\n", True), ("max\n", False), ("9223372036854771712", False)]
)
def test_a_container_may_have_less(tmp_path: Path, text: str, limited: bool) -> None:
    file = tmp_path / "memory.max"
    file.write_text(text)
    found = measure_machine("cpu", (tmp_path / "absent", file))
    assert (found.total == 1 << 30) == limited
    assert found.available is not None
    assert found.available <= found.total


def test_a_stated_machine_is_only_its_total() -> None:
    made = stated_machine("cpu", 24 << 30)
    assert (made.total, made.available) == (24 << 30, None)
    assert made.runtime > 10 << 20  # this program is here all the same


def test_the_peak_is_of_this_process_and_stays() -> None:
    code = (
        "from engine.machine import peak_resident, resident\n"
        "low = peak_resident(); big = bytearray(b'x') * (200 << 20); del big\n"
        "print(low, peak_resident(), resident())"
    )
    padding = bytearray(b"x") * (100 << 20)  # what the parent holds must not count
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    del padding
    low, high, now = map(int, done.stdout.split())
    assert low < 100 << 20
    assert high - low > 190 << 20
    assert now < high
    assert resident() <= peak_resident()
