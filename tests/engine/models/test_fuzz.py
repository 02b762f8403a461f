"""Files that lie: the readers are fuzzed, a little each time and for a minute in the slow tests (see tests/fuzz)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from engine.errors import BadModelFile
from tests.fuzz import guard as guarding
from tests.fuzz.__main__ import TARGETS as FUZZED
from tests.fuzz.guard import LONGEST_SENTENCE, Guard
from tests.fuzz.mutate_bytes import mutate_bytes
from tests.fuzz.targets import TARGETS, Target

ROOT = Path(__file__).parents[3]


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)


@pytest.mark.parametrize("target", FUZZED)
def test_changed_files_end_in_a_sentence(target: str, tmp_path: Path) -> None:
    """In a process of its own, which may take little memory."""
    options = (f"--findings={tmp_path}", "--plain", "--runs=700", "--seconds=200")
    ended = fuzz("tests.fuzz.one", target, *options)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["found"] == []
    assert told["runs"] == 700 and 10 < told["sound"] < 500, "some files must stay sound, and most must not"


@pytest.mark.slow
def test_a_minute_of_fuzzing_finds_nothing(tmp_path: Path) -> None:
    ended = fuzz("tests.fuzz", "--minutes=1", f"--findings={tmp_path}", f"--seed={int(time.time())}")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert list(tmp_path.iterdir()) == []


def _crash(path: Path) -> None:
    raise KeyError(path.name)


def _long(path: Path) -> None:
    raise BadModelFile("x" * LONGEST_SENTENCE + ".")


def _two_lines(path: Path) -> None:
    raise BadModelFile("This is \n not one line.")


def _slow(path: Path) -> None:
    end = time.process_time() + guarding.SLOW_S
    while time.process_time() <= end:
        pass


def _good(path: Path) -> None:
    raise BadModelFile("This file is damaged.")


BREAKS = {
    _crash: "KeyError in test_fuzz.py",
    _long: "a sentence that cannot be shown",
    _two_lines: "a sentence that cannot be shown",
    _slow: "slow",
}


@pytest.mark.parametrize("read", BREAKS)
def test_what_a_reader_must_not_do_is_found(
    read: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "SLOW_S", 0.05)
    guard = Guard(Target("x.bin", read, mutate_bytes, lambda folder: []), tmp_path, tmp_path / "found")
    guard.findings.mkdir()
    for _ in range(2):
        guard.run(b"data")
    (found,) = guard.found
    assert BREAKS[read] in found
    (kept,) = guard.findings.glob("*.bin")
    assert kept.read_bytes() == b"data"
    assert found in kept.with_suffix(".txt").read_text()


def test_a_good_sentence_is_no_finding(tmp_path: Path) -> None:
    guard = Guard(Target("x.bin", _good, mutate_bytes, lambda folder: []), tmp_path, tmp_path)
    guard.run(b"data")
    assert guard.found == set() and guard.sound == 0


GREEDY = """
import numpy
from tests.fuzz.guard import MEMORY, limit_memory
limit_memory()
numpy.zeros(MEMORY // 2, "u1")
try:
    numpy.zeros(MEMORY + (2 << 20), "u1")
except MemoryError:
    print("refused")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to such a limit")
def test_more_memory_than_promised_is_refused() -> None:
    ended = subprocess.run([sys.executable, "-c", GREEDY], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "refused", ended.stderr


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_seed_gives_the_same_files(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    seeds = target.seeds(tmp_path)
    once, again = ([target.mutate(seeds[0], Random(seed)) for seed in range(50)] for _ in range(2))
    assert once == again
    assert len(set(once)) > 30
