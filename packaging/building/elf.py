"""What Linux libraries need: other libraries, and the version of glibc, as binutils' objdump tells it."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MAGIC: Final = b"\x7fELF"
_BATCH: Final = 200
_HEAD: Final = re.compile(r"^(.+):\s+file format elf", re.MULTILINE)
_NEEDED: Final = re.compile(r"^\s+NEEDED\s+(\S+)", re.MULTILINE)
_GLIBC: Final = re.compile(r"\bGLIBC_(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Needs:
    """What one program or library asks of the loader.

    Attributes:
        libraries: Their sonames.
        glibc: The newest version of glibc that one of its symbols is of.
    """

    libraries: tuple[str, ...]
    glibc: tuple[int, int] = (0, 0)


def is_elf(path: Path) -> bool:
    """Whether a file is a program or library of Linux."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def needs(files: Iterable[Path]) -> dict[Path, Needs]:
    """What each of these ELF files needs."""
    waiting = sorted({path.resolve() for path in files})
    found: dict[Path, Needs] = {}
    for start in range(0, len(waiting), _BATCH):
        command = ["objdump", "--private-headers", *map(str, waiting[start : start + _BATCH])]
        found |= parse(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def parse(output: str) -> dict[Path, Needs]:
    """What objdump says of several files."""
    pieces = _HEAD.split(output)[1:]
    return {Path(name): _needs(text) for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


def reachable(roots: Iterable[str], wanted: Mapping[str, Iterable[str]]) -> set[str]:
    """The libraries that some root needs, directly or through another library.

    Args:
        roots: Names to begin with.
        wanted: Of each name, what it needs; names that are not in it end the walk.
    """
    seen: set[str] = set()
    waiting = deque(roots)
    while waiting:
        name = waiting.popleft()
        if name not in seen:
            seen.add(name)
            waiting.extend(wanted.get(name, ()))
    return seen


def _needs(text: str) -> Needs:
    versions = [(int(major), int(minor)) for major, minor in _GLIBC.findall(text)]
    return Needs(tuple(_NEEDED.findall(text)), max(versions, default=(0, 0)))
