"""A file that is not whole yet: it grows at its end, its checksum with it, and it gets its name when both are right.

What a killed process wrote is read once more when the download goes on, so that nothing is believed that is not there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from engine.hub.values import HubFile
from engine.models.files import blocks, flush_to_disk

SUFFIX: Final = ".part"
_ETAG: Final = ".etag"


class Partial:
    """One file being downloaded.

    Args:
        folder: Where it lies until it is whole.
        file: What it is to become.
    """

    def __init__(self, folder: Path, file: HubFile) -> None:
        self._file = file
        self._path = folder / (file.name + SUFFIX)
        self._etag = folder / (file.name + _ETAG)
        self._handle = self._path.open("a+b")
        self._digest = _digest(file)
        self.done = 0

    def __enter__(self) -> Partial:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it; what it holds stays."""
        self._handle.close()

    def read(self) -> Generator[int, None, None]:
        """Read what an earlier process left; yields bytes read so far."""
        if os.fstat(self._handle.fileno()).st_size > self._file.nbytes:
            self.restart()  # of another file
        self._handle.seek(0)
        for block in blocks(self._handle):
            self._digest.update(block)
            self.done += len(block)
            yield self.done

    @property
    def whole(self) -> bool:
        """Whether all bytes are here, right or wrong."""
        return self.done == self._file.nbytes

    @property
    def etag(self) -> str:
        """What names the contents that the bytes belong to."""
        with suppress(OSError, ValueError):
            return self._etag.read_text(encoding="ascii")
        return ""

    def belongs_to(self, etag: str) -> None:
        """Note it before the first byte is written."""
        if etag != self.etag:
            self._etag.write_text(etag, encoding="ascii", errors="replace")

    def write(self, block: bytes) -> None:
        """Add bytes; never more than the file has."""
        block = block[: self._file.nbytes - self.done]
        self._handle.write(block)
        self._digest.update(block)
        self.done += len(block)

    def restart(self) -> None:
        """Begin anew."""
        self._handle.truncate(0)
        self._digest = _digest(self._file)
        self.done = 0

    def checksum(self) -> str:
        """Of all bytes so far, in hex."""
        return self._digest.hexdigest()

    @property
    def right(self) -> bool:
        """Whether these are the bytes that the hub speaks of."""
        return self.whole and self.checksum() == (self._file.sha256 or self._file.blob)

    def publish(self, target: Path) -> None:
        """Give the whole file its name; it is on the disk before it has it."""
        self._handle.close()
        flush_to_disk(self._path)
        self._path.replace(target)
        self._etag.unlink(missing_ok=True)


def _digest(file: HubFile) -> hashlib._Hash:
    """Of a large file its SHA-256; of one in git what git calls it (https://git-scm.com/book, "Git Objects")."""
    if file.sha256:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % file.nbytes, usedforsecurity=False)
