"""Brings a plan's files here, one after the other: on from where they stopped, verified before they get their names."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from engine.chat import RequestHandle
from engine.events import LoadStage
from engine.hub.client import Hub
from engine.hub.partial import Partial
from engine.hub.patience import Tries, Trouble
from engine.hub.plan import Unfinished
from engine.hub.rate import Meter
from engine.hub.values import HubFailure, HubFile
from engine.models.progress import Step, stop_if_cancelled

_ATTEMPTS: Final = 2  # at a file whose checksum is wrong


def download(hub: Hub, begun: Unfinished, handle: RequestHandle) -> Generator[Step, None, None]:
    """Fetch every file that is not here yet.

    Args:
        hub: Where from.
        begun: What, and where to.
        handle: Cancels; what came stays for a later time.

    Raises:
        HubFailure: A file is not given, does not come, or comes with wrong contents twice.
        Cancelled: `handle` was cancelled.
        OSError: The disk failed.
    """
    meter = Meter(begun.plan.label, begun.plan.nbytes)
    for file in begun.plan.files:
        if not begun.is_whole(file):
            yield from _File(hub, begun, file, meter, handle).fetch()


class _File:
    """One file on its way."""

    def __init__(self, hub: Hub, begun: Unfinished, file: HubFile, meter: Meter, handle: RequestHandle) -> None:
        self._hub = hub
        self._begun = begun
        self._file = file
        self._meter = meter
        self._handle = handle
        self._others = begun.done - begun.have(file)

    def fetch(self) -> Generator[Step, None, None]:
        """Until it is here and right."""
        for attempt in range(1, _ATTEMPTS + 1):
            with Partial(self._begun.folder, self._file) as partial:
                yield from self._read(partial)
                yield from self._complete(partial)
                if partial.right:
                    partial.publish(self._begun.files / self._file.name)
                    return
                partial.restart()
            if attempt < _ATTEMPTS:
                sentence = f"The file {self._file.name} arrived damaged; trying once more"
                yield Step(LoadStage.DOWNLOAD, self._others, self._begun.plan.nbytes, sentence)
        raise self._wrong(f"{self._file} | {self._begun.plan.revision}")

    def _read(self, partial: Partial) -> Generator[Step, None, None]:
        """What is here already, of which the checksum has to know."""
        name, total = self._file.name, self._file.nbytes
        for done in partial.read():
            stop_if_cancelled(self._handle)
            share = 100 * done // max(total, 1)
            yield Step(LoadStage.VERIFY, done, total, f"Checking what is here of {name}: {share} %")

    def _complete(self, partial: Partial) -> Generator[Step, None, None]:
        """Ask for the rest until it is here."""
        tries = Tries(self._hub.patience)
        while not partial.whole:
            before = partial.done
            self._meter.begin(self._others + before)
            try:
                yield from self._stream(partial)
                if not partial.whole:
                    raise Trouble(HubFailure("network", _SHORT, self._file.path))
            except Trouble as trouble:
                for step in tries.wait(trouble, max(0, partial.done - before), self._handle):
                    yield Step(step.stage, self._others + partial.done, self._begun.plan.nbytes, step.sentence)

    def _stream(self, partial: Partial) -> Generator[Step, None, None]:
        with self._hub.file(self._begun.plan.source, self._file, partial.done, partial.etag) as body:
            if body.start != partial.done:
                partial.restart()  # it is another file now, or the server can only begin at the beginning
            if body.start < 0:
                raise Trouble(self._strange())
            partial.belongs_to(body.etag)
            for chunk in body.chunks:
                stop_if_cancelled(self._handle)
                partial.write(chunk)
                if partial.whole or self._meter.due():
                    yield self._meter.step(self._others + partial.done)
                if partial.whole:
                    return

    def _wrong(self, detail: str) -> HubFailure:
        return HubFailure(
            "checksum",
            f"The file {self._file.name} of {self._begun.plan.reference.repository} arrived twice with contents that "
            "are not those the hub speaks of; get the model again later, or name another mirror in HF_ENDPOINT.",
            detail,
        )

    def _strange(self) -> HubFailure:
        return HubFailure(
            "checksum",
            f"Something else comes in the place of {self._file.name}; see whether your network wants a login in the "
            "browser first, and get the model again, it goes on.",
            f"{self._file} | {self._begun.plan.revision}",
        )


_SHORT: Final = "The connection to the hub ended early; get the model again, it goes on where it stopped."
