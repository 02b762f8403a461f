"""How a long operation reports where it stands, and how it is cancelled."""

from __future__ import annotations

from dataclasses import dataclass

from engine.chat import RequestHandle
from engine.errors import Cancelled
from engine.events import LoadStage


@dataclass(frozen=True, slots=True)
class Step:
    """One report of a long operation.

    Attributes:
        stage: Download or import.
        done: Bytes done.
        total: Bytes in all; 0 when not known.
        sentence: For people: "Downloading SmolLM2 135M Instruct: 40 of 98 MB".
    """

    stage: LoadStage
    done: int
    total: int
    sentence: str


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
