"""A built folder as it must be the same from build to build: times and modes set, files listed with their hashes.

`python3 -m building.tree FOLDER [OTHER]` in packaging/ lists one folder, or says where two differ.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# How programs of Linux, scripts, programs of macOS and of Windows begin.
_PROGRAMS: Final = (b"\x7fELF", b"#!", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One file or link of a folder.

    Attributes:
        path: Below the folder, with forward slashes.
        kind: "file" or "link".
        executable: Whether it may be run.
        digest: SHA-256 of a file's bytes; of a link, where it points to.
        nbytes: Size of a file.
    """

    path: str
    kind: str
    executable: bool
    digest: str
    nbytes: int


def files_of(folder: Path) -> Iterator[Path]:
    """Every file and link below a folder, sorted; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from files_of(path)
        else:
            yield path


def settle(folder: Path, epoch: int) -> None:
    """Give every file and folder the time of the commit and plain modes, whoever built it.

    Args:
        folder: Changed in place.
        epoch: Seconds since 1970.
    """
    for here, folders, files in os.walk(folder, topdown=False):
        for path in [Path(here) / name for name in (*files, *folders)] + [Path(here)]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or _is_program(path) else 0o644)
                os.utime(path, (epoch, epoch))
            elif os.utime in os.supports_follow_symlinks:
                os.utime(path, (epoch, epoch), follow_symlinks=False)


def listing(folder: Path) -> tuple[Item, ...]:
    """What lies in a folder."""
    return tuple(_item(path, path.relative_to(folder).as_posix()) for path in files_of(folder))


def differences(first: Iterable[Item], second: Iterable[Item]) -> list[str]:
    """Where two listings differ, one line each; empty if they are the same."""
    left, right = ({item.path: item for item in items} for items in (first, second))
    lines = [f"only in the first: {path}" for path in left.keys() - right.keys()]
    lines += [f"only in the second: {path}" for path in right.keys() - left.keys()]
    lines += [f"differs: {path}" for path in left.keys() & right.keys() if left[path] != right[path]]
    return sorted(lines)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _item(path: Path, name: str) -> Item:
    if path.is_symlink():
        return Item(name, "link", False, str(path.readlink()), 0)
    return Item(name, "file", _may_run(path), sha256(path), path.stat().st_size)


def _is_program(path: Path) -> bool:
    """Whether a file that may be run is meant to be: libraries and modules carry that mode by accident."""
    if not _may_run(path) or ".so" in path.name or path.suffix == ".py":
        return False
    with path.open("rb") as file:
        return file.read(4).startswith(_PROGRAMS)


def _may_run(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


def main(arguments: list[str]) -> int:
    """List a folder or compare two; returns the exit code, 1 where they differ."""
    listings = [listing(Path(name)) for name in arguments]
    if len(listings) == 1:
        print("\n".join(f"{item.digest}  {item.path}" for item in listings[0]))
        return 0
    if len(listings) != 2:
        print(__doc__)
        return 2
    found = differences(*listings)
    print("\n".join(found) or f"The same: {len(listings[0])} files.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
