"""What came of an export or an import, as frozen values between the job and the views. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.records import Folder


@dataclass(frozen=True, slots=True)
class Skipped:
    """A conversation that was not taken, and why, in a sentence."""

    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What came of an export or an import.

    Attributes:
        count: Conversations that were written to the file, or added.
        already_here: Conversations of the file that were here before, with all their messages.
        skipped: Those that could not be taken; at most `MOST_SKIPPED` are named.
        skipped_count: How many they were.
        problem: Why nothing was done, in one sentence; empty if it was done.
        cancelled: Whether it was given up; nothing was changed then.
        path: The file, or the folder that the files were written to.
        ids: Of the conversations that were added.
        folders: Those that were made for them.
    """

    path: Path
    count: int = 0
    already_here: int = 0
    skipped: tuple[Skipped, ...] = ()
    skipped_count: int = 0
    problem: str = ""
    cancelled: bool = False
    ids: tuple[str, ...] = ()
    folders: tuple[Folder, ...] = ()
