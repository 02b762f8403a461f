"""`loquat bench start`: from the start of the process to the first token, each run in a fresh process."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.process import FIRST_TOKEN, child_command, child_environment, loquat_subject
from engine.errors import EngineError
from engine.models.registry import ModelEntry

PEAK_LIMIT: Final = 0.5
NO_LIMITS: Final[Mapping[str, float]] = {}
STAGES: Final = (
    ("process", "process start", "spawned", "began"),
    ("imports", "imports", "began", "imported"),
    ("load", "load", "imported", "loaded"),
    ("first_token", "first token", "loaded", "first_token"),
    ("total", "in all", "spawned", "first_token"),
)


def bench_start(entry: ModelEntry, runs: int, gguf: Path | None = None, warm_up: bool = True) -> Report:
    """Seconds of each stage, for Loquat and for transformers.

    Args:
        entry: The model.
        runs: Of each path.
        gguf: Let transformers load this file instead of the model folder.
        warm_up: Run each once before, without counting it, with compiled kernels kept and the disk warm.

    Raises:
        EngineError: A path did not come to its first token.
    """
    sources = {"loquat": entry.name, "transformers": str(gguf or entry.folder)}
    sides = {path: lambda path=path, source=source: _run(path, source) for path, source in sources.items()}
    if warm_up:  # a process that ends at its first token would never come to keep compiled kernels
        loquat_subject("loquat", entry.folder).close()
    results = alternate(sides, runs, warm_up)
    about: dict[str, str | int | float] = {
        "model": entry.label,
        "machine": machine_name(),
        "runs": runs,
        "transformers loads": Path(sources["transformers"]).name,
    }
    return Report("start", about, start_figures(results, {"total": 0.25} if gguf else {}))


def start_figures(
    results: Mapping[str, Sequence[Mapping[str, float]]], limits: Mapping[str, float] = NO_LIMITS
) -> list[Figure]:
    """The medians of each stage, from the moments of every run, with what is promised of some ratios."""
    figures = []
    for name, label, start, end in STAGES:
        seconds = medians({path: [run[end] - run[start] for run in of] for path, of in results.items()})
        figures.append(Figure(name, label, "s", _compared(seconds, limits.get(name))))
    peak = medians({path: [run["peak_bytes"] / 2**20 for run in of] for path, of in results.items()})
    return [*figures, Figure("peak_memory", "peak resident memory", "MiB", _compared(peak, PEAK_LIMIT))]


def _compared(values: Mapping[str, float], limit: float | None) -> dict[str, float | None]:
    promise = {} if limit is None else {"limit": limit}
    return {**values, "ratio": values["loquat"] / values["transformers"], **promise}


def _run(path: str, source: str) -> dict[str, Any]:
    spawned = time.time()
    command = [*child_command(FIRST_TOKEN), path, source]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=child_environment(), encoding="utf-8"
    )
    if done.returncode != 0:
        raise EngineError(f"The process that measures {path} ended before its first token.", done.stderr)
    return {"spawned": spawned, **json.loads(done.stdout.splitlines()[-1])}
