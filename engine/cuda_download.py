"""Fetches torch for NVIDIA GPUs, checks and unpacks it; goes on where it stopped, is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Final

import httpx2

from engine.chat import RequestHandle
from engine.cuda_pack import COMPLETE, CudaSource, Wheel, pack_folder
from engine.errors import EngineError, FetchFailed
from engine.events import LoadStage
from engine.models.files import need_room, os_errors
from engine.models.progress import Step, megabytes, stop_if_cancelled
from engine.paths import Paths

_WHAT: Final = "fetch torch for NVIDIA GPUs"
_UNPACKED: Final = 2.0  # times the size of its wheels, about
_BLOCK: Final = 1 << 20
_TIMEOUT: Final = httpx2.Timeout(30.0)
_AGAIN: Final = "try again; it goes on where it stopped."


def install(
    source: CudaSource, paths: Paths, handle: RequestHandle, client: httpx2.Client | None = None
) -> Generator[Step, None, Path]:
    """Bring it here.

    Args:
        source: What came with the program.
        paths: Where to.
        handle: Cancels; what was fetched stays for the next time.
        client: Fetches; None makes one that follows redirections and takes proxies from the environment.

    Returns:
        The folder, which the next start of the program takes.

    Raises:
        FetchFailed: No network, or something else came than was asked for.
        DiskFull: There is too little room.
        Cancelled: `handle` was cancelled.
        EngineError: The disk refused.
    """
    target = pack_folder(paths)
    downloads = target.with_name(f"{target.name}-downloads")
    with os_errors(_WHAT, paths.data):
        downloads.mkdir(parents=True, exist_ok=True)
        files = [downloads / f"{number}.whl" for number in range(1, len(source.wheels) + 1)]
        here = sum(file.stat().st_size for file in files if file.is_file())
        need_room(downloads, max(0, int((1 + _UNPACKED) * source.nbytes) - here), _WHAT)
        with client or httpx2.Client(timeout=_TIMEOUT, follow_redirects=True) as asked:
            for wheel, file in zip(source.wheels, files, strict=True):
                yield from _Arrival(wheel, file, handle).fetch(asked)
        yield from _unpack(source, files, target, handle)
        shutil.rmtree(downloads, ignore_errors=True)
    return target


def remove(paths: Paths) -> None:
    """Delete it, and what was fetched of it; the program's own torch is taken again.

    Raises:
        EngineError: The disk refused.
    """
    target = pack_folder(paths)
    with os_errors("remove torch for NVIDIA GPUs", paths.data):
        (target / COMPLETE).unlink(missing_ok=True)  # first: a folder that is half deleted is none
        for folder in (target, target.with_name(f"{target.name}-downloads"), _unfinished(target)):
            if folder.exists():
                shutil.rmtree(folder)


class _Arrival:
    """One wheel on its way: what is here of it, and the checksum of that."""

    def __init__(self, wheel: Wheel, file: Path, handle: RequestHandle) -> None:
        self._wheel = wheel
        self._file = file
        self._handle = handle
        self._digest = hashlib.sha256()
        self._done = 0

    def fetch(self, client: httpx2.Client) -> Generator[Step, None, None]:
        """Until it is here, whole and right."""
        yield from self._read_again()
        if self._done < self._wheel.nbytes:
            try:
                yield from self._rest(client)
            except httpx2.HTTPError as error:
                raise FetchFailed(f"The connection for torch broke off; {_AGAIN}", repr(error)) from error
        if self._digest.hexdigest() != self._wheel.sha256:
            self._file.unlink()
            raise FetchFailed(
                "torch arrived damaged, or another file came in its place; try again.", self._wheel.address
            )

    def _read_again(self) -> Generator[Step, None, None]:
        """What is here from before, of which the checksum has to know."""
        if not self._file.is_file() or self._file.stat().st_size > self._wheel.nbytes:
            self._file.unlink(missing_ok=True)
            return
        with self._file.open("rb") as held:
            while block := held.read(_BLOCK):
                self._count(block)
                yield Step(LoadStage.VERIFY, self._done, self._wheel.nbytes, "Checking what is here of torch")

    def _rest(self, client: httpx2.Client) -> Generator[Step, None, None]:
        headers = {"Range": f"bytes={self._done}-"} if self._done else {}
        with client.stream("GET", self._wheel.address, headers=headers) as answer:
            self._check(answer.status_code)
            with self._file.open("ab") as held:
                for block in answer.iter_bytes(_BLOCK):
                    held.write(block)
                    self._count(block)
                    yield self._step()
                    if self._done > self._wheel.nbytes:
                        break  # something else, as the checksum will say
        if self._done < self._wheel.nbytes:
            raise FetchFailed(f"The connection for torch ended early; {_AGAIN}", self._wheel.address)

    def _check(self, status: int) -> None:
        if status not in (200, 206):
            raise FetchFailed(f"torch is not given out (HTTP {status}); try again later.", self._wheel.address)
        if self._done and status == 200:
            self._file.unlink()
            raise FetchFailed(
                "The server cannot go on with a file; try again, from the beginning.", self._wheel.address
            )

    def _count(self, block: bytes) -> None:
        stop_if_cancelled(self._handle)
        self._digest.update(block)
        self._done += len(block)

    def _step(self) -> Step:
        total = self._wheel.nbytes
        sentence = f"Downloading torch for NVIDIA GPUs: {megabytes(self._done)} of {megabytes(total)}"
        return Step(LoadStage.DOWNLOAD, self._done, total, sentence)


def _unpack(
    source: CudaSource, files: Sequence[Path], target: Path, handle: RequestHandle
) -> Generator[Step, None, None]:
    """All wheels into a folder beside the target, which then takes its place."""
    fresh = _unfinished(target)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    for wheel in files:
        with _opened(wheel) as archive:
            members = archive.infolist()
            for number, member in enumerate(members):
                stop_if_cancelled(handle)
                _check(member.filename)
                archive.extract(member, fresh)
                if number % 50 == 0:
                    yield Step(LoadStage.IMPORT, number, len(members), "Unpacking torch for NVIDIA GPUs")
    about = {"torch": source.version, "python": source.python, "wheels": [asdict(wheel) for wheel in source.wheels]}
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    (target / COMPLETE).write_text(json.dumps(about, indent=2), encoding="utf-8")


def _unfinished(target: Path) -> Path:
    """Where the wheels are unpacked; gigabytes stay there where that was broken off."""
    return target.with_name(f"{target.name}-unfinished")


def _opened(wheel: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(wheel)
    except zipfile.BadZipFile as error:
        raise FetchFailed("torch came in a file that cannot be opened; try again.", repr(error)) from error


def _check(name: str) -> None:
    """Refuse a name that leads out of the folder; the checksum vouches for the file, this for its maker's mistakes."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name:
        raise EngineError(f"torch's file names {name} outside of its folder, so it is not unpacked.", sys.platform)
