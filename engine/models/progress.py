"""How a long operation reports where it stands, and how it is cancelled."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

from engine.chat import RequestHandle
from engine.errors import Cancelled
from engine.events import Event, LoadProgress, LoadStage

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Step:
    """One report of a long operation.

    Attributes:
        stage: Download or import.
        done: Bytes done.
        total: Bytes in all; 0 when not known.
        sentence: For people: "Downloading SmolLM2 135M Instruct: 40 of 98 MB".
        rate: Bytes per second lately; None where that is not measured.
        left_s: Seconds until the end at this rate; None where that cannot be told.
        lasting: Whether a terminal still shows it when other steps follow.
    """

    stage: LoadStage
    done: int
    total: int
    sentence: str
    rate: float | None = None
    left_s: float | None = None
    lasting: bool = False


def as_events(handle: RequestHandle, steps: Generator[Step, None, Result]) -> Generator[Event, None, Result]:
    """Pass a long operation's steps on as events, and its result back."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield LoadProgress(handle.id, step.stage, step.done, step.total, step.sentence)


def stop_if_cancelled(handle: RequestHandle) -> None:
    """Leave a long operation if its request was cancelled.

    Raises:
        Cancelled: `handle` is cancelled.
    """
    if handle.cancelled:
        raise Cancelled


def megabytes(nbytes: int) -> str:
    """Bytes for people, in decimal units as file managers show them: "98 MB", "1.2 GB"."""
    return f"{nbytes / 1e9:.1f} GB" if nbytes >= 1e9 else f"{round(nbytes / 1e6)} MB"
