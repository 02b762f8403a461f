"""What the commands of `loquat models` print alike: progress of a long step, and counts for people."""

from __future__ import annotations

import shutil
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
    try:
        while True:
            step = next(steps)
            kind = step.sentence.partition(":")[0]
            if terminal:
                print(f"\r\033[K{_on_terminal(step)}", end="", file=out, flush=True)
            elif kind != last:
                print(kind, file=out)
            last = kind
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:  # what is said next, an error too, begins on an empty line
        print(end="\r\033[K" if terminal else "", file=out, flush=True)


def _on_terminal(step: Step) -> str:
    """A line that stays, or one that another takes back, for which it must not be wrapped."""
    return f"{step.sentence}\n" if step.lasting else step.sentence[: shutil.get_terminal_size().columns - 1]
