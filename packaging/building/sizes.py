"""What each part of the program weighs: `python3 -m building.sizes FOLDER` in packaging/ prints a table."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from building.tree import files_of

INSTALLED_LIMIT: Final = 1_600_000_000
PACKAGE_LIMIT: Final = 520_000_000
"""Bytes that were promised of the build for CPUs and of its Debian package."""

_LIBRARIES: Final = "_internal"


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the program.

    Attributes:
        name: A library, or what else the files are.
        nbytes: Sum of its files.
        files: How many.
    """

    name: str
    nbytes: int
    files: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """The program part by part.

    Attributes:
        nbytes: Of all files.
        components: Largest first.
    """

    nbytes: int
    components: tuple[Component, ...]

    def table(self) -> str:
        """For people: decimal megabytes."""
        lines = [f"{part.nbytes / 1e6:9.1f} MB  {part.files:6}  {part.name}" for part in self.components]
        return "\n".join([f"{'size':>12}  {'files':>6}  part", *lines, f"{self.nbytes / 1e6:9.1f} MB  in all"])

    def json(self) -> str:
        """For programs."""
        return json.dumps(asdict(self), indent=2) + "\n"


def measure(folder: Path) -> Sizes:
    """What the files of a frozen program weigh."""
    return summed((path.relative_to(folder).as_posix(), path.lstat().st_size) for path in files_of(folder))


def summed(files: Iterable[tuple[str, int]]) -> Sizes:
    """Files with their bytes, summed by the part that they belong to."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for path, nbytes in files:
        sizes[component_of(path)].append(nbytes)
    parts = [Component(name, sum(of), len(of)) for name, of in sizes.items()]
    ordered = tuple(sorted(parts, key=lambda part: (-part.nbytes, part.name)))
    return Sizes(sum(part.nbytes for part in ordered), ordered)


def component_of(path: str) -> str:
    """The part that a file at this place below the program's folder belongs to."""
    inner = path.partition(f"{_LIBRARIES}/")[2]
    if not inner:
        return "program file with Loquat's and all libraries' Python code"
    top, slash, _ = inner.partition("/")
    if not slash:
        return "libraries of the system and of Python" if ".so" in top or top.endswith((".dll", ".dylib")) else top
    return "versions of libraries" if top.endswith(".dist-info") else top.removesuffix(".libs")


def main(arguments: list[str]) -> int:
    """Print the table of a folder; returns the exit code."""
    print(measure(Path(arguments[0])).table())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
