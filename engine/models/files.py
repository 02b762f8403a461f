"""Small file habits that every import shares: errors in sentences, room on the disk, durable writes, hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final

from engine.errors import DiskFull, EngineError
from engine.models.progress import megabytes

_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT))
_BLOCK: Final = 4 * 1024 * 1024
# Left free, so that the system and other programs go on working.
_RESERVE: Final = 64 * 1024 * 1024
UNFINISHED: Final = ".unfinished-"  # a folder beside the models, in which one is made


@contextmanager
def os_errors(what: str, folder: Path) -> Iterator[None]:
    """Turn what the operating system says into a sentence.

    Args:
        what: What was tried, e.g. "import the model".
        folder: Where it was written to.

    Raises:
        DiskFull: There was no room.
        EngineError: Any other OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(
                f"The disk is full: there was no room to {what} in {folder}; free some space and try again.",
                repr(error),
            ) from error
        reason = ": ".join(str(part) for part in (error.strerror or type(error).__name__, error.filename) if part)
        raise EngineError(f"Loquat could not {what} in {folder} ({reason}).", repr(error)) from error


def need_room(folder: Path, nbytes: int, what: str) -> None:
    """Check for free space before any of it is used.

    Raises:
        DiskFull: Less than `nbytes` and a small reserve are free where `folder` lies.
    """
    free = shutil.disk_usage(folder).free
    if free < nbytes + _RESERVE:
        folder = folder.parent if folder.name.startswith(UNFINISHED) else folder  # the person knows that of the models
        raise DiskFull(
            f"The disk is too full to {what}: it needs {megabytes(nbytes + _RESERVE)} in {folder}, "
            f"and {megabytes(free)} are free."
        )


def blocks(file: BinaryIO | IO[bytes]) -> Iterator[bytes]:
    """The rest of a file, a few megabytes at a time."""
    while block := file.read(_BLOCK):
        yield block


def sha256_steps(*paths: Path) -> Generator[int, None, str]:
    """The SHA-256 of a file, or of several as if they were one, in hex; yields the bytes read so far."""
    digest = hashlib.sha256()
    done = 0
    for path in paths:
        with path.open("rb") as file:
            for block in blocks(file):
                digest.update(block)
                done += len(block)
                yield done
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path) -> Generator[int, None, None]:
    """Give a file a second place: without a copy where the file system can, else block by block.

    Yields:
        Bytes copied so far; nothing where a link was enough.
    """
    try:
        os.link(source.resolve(), target)
        return
    except OSError as error:
        if error.errno in _FULL:
            raise
    done = 0
    with source.open("rb") as file, target.open("wb") as copy:
        for block in blocks(file):
            copy.write(block)
            done += len(block)
            yield done


def can_link(source: Path, folder: Path) -> bool:
    """Whether `link_or_copy` needs no copy there; found by linking it for a moment: FAT, say, has no links."""
    probe = folder / f".{source.name}.link"
    try:
        os.link(source.resolve(), probe)
    except OSError:
        return False
    probe.unlink()
    return True


def flush_to_disk(path: Path) -> None:
    """Make a file or folder survive a loss of power, as far as the system can promise it."""
    windows = os.name == "nt"
    if windows and path.is_dir():
        return  # Windows has no fsync for folders; its file system journals renames
    handle = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def folder_bytes(folder: Path, shared: bool = True) -> int:
    """Size of all files in a folder; without `shared` only of those that no other place on the disk holds.

    What goes away meanwhile, and what may not be looked at, counts nothing.
    """
    found = (_file_stat(Path(here, name)) for here, _, names in os.walk(folder) for name in names)
    return sum(stat.st_size for stat in found if stat is not None and (shared or stat.st_nlink == 1))


def _file_stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat() if path.is_file() else None
    except OSError:
        return None
