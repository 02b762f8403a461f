"""What the commands of `loquat models` print alike: progress of a long step, and counts for people."""

from __future__ import annotations

from collections.abc import Generator
from typing import TextIO, TypeVar

from engine.models.progress import Step

Result = TypeVar("Result")


def count(parameters: int) -> str:
    """Parameters for people: "130 k", "135 M", "1.5 B"."""
    if parameters < 999.5e3:
        return f"{parameters / 1e3:.0f} k"
    return f"{parameters / 1e9:.1f} B" if parameters >= 999.5e6 else f"{parameters / 1e6:.0f} M"


def finish(steps: Generator[Step, None, Result], out: TextIO) -> Result:
    """Run to the end; one line that changes on a terminal, one line per kind of step elsewhere."""
    terminal = out.isatty()
    last = ""
    while True:
        try:
            step = next(steps)
        except StopIteration as stop:
            print(end="\r\033[K" if terminal else "", file=out)
            result: Result = stop.value
            return result
        kind = step.sentence.partition(":")[0]
        if terminal:
            print(f"\r\033[K{step.sentence}", end="\n" if step.lasting else "", file=out, flush=True)
        elif kind != last:
            print(kind, file=out)
        last = kind
