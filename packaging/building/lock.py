"""The locks in packaging/lock: every package of a build environment with its version and the hashes of its files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from building.project import PACKAGING

LOCKS: Final = PACKAGING / "lock"
_PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)\s*(?:;((?:(?!--hash).)*))?")
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Pin:
    """One package of a lock.

    Attributes:
        name: As the package index writes it, in lower case with hyphens.
        version: With its local part: "2.13.0+cpu".
        hashes: SHA-256 of each file that may be installed.
        marker: For which systems; empty for all.
    """

    name: str
    version: str
    hashes: tuple[str, ...]
    marker: str = ""


class BadLock(Exception):
    """A lock holds something that is no pinned package with hashes."""


def read_lock(text: str) -> tuple[Pin, ...]:
    """The pins of a lock.

    Raises:
        BadLock: A line is no pin, or one has no hash: pip would install whatever the index offers.
    """
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines()]
    return tuple(_pin(line) for line in lines if line and not line.startswith("#"))


def plain_name(name: str) -> str:
    """A package's name as every spelling of it compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def disagreements(pins: Iterable[Pin], dependencies: Iterable[str]) -> list[str]:
    """What pyproject.toml pins otherwise than a lock, one sentence each; a local part such as "+cpu" may differ."""
    locked = {pin.name: pin.version.partition("+")[0] for pin in pins}
    sentences = []
    for dependency in dependencies:
        name, _, version = dependency.partition("==")
        name = plain_name(re.split(r"[\[ ;]", name)[0])
        if locked.get(name) != version:
            sentences.append(f"{name} is {version} in pyproject.toml and {locked.get(name, 'absent')} in the lock.")
    return sentences


def lock_file(name: str) -> Path:
    """The lock of that name.

    Raises:
        SystemExit: There is none for this system and Python.
    """
    file = LOCKS / f"{name}.txt"
    if not file.is_file():
        there = ", ".join(sorted(path.stem for path in LOCKS.glob("*.txt")))
        raise SystemExit(
            f"There is no lock {name}, there are {there}: build with another Python, or add it to make_locks."
        )
    return file


def _pin(line: str) -> Pin:
    found = _PIN.match(line)
    hashes = tuple(_HASH.findall(line))
    if not found or not hashes:
        raise BadLock(f"This line of the lock is no pin with a hash: {line[:80]}")
    return Pin(plain_name(found[1]), found[2], hashes, (found[3] or "").strip())
