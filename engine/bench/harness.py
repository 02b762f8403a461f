"""What every benchmark shares: alternating runs, medians, and a report as a table or as JSON."""

from __future__ import annotations

import json
import math
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import psutil

T = TypeVar("T")


def alternate(sides: Mapping[str, Callable[[], T]], runs: int, warm_up: bool = True) -> dict[str, list[T]]:
    """Run each side `runs` times, taking turns and beginning with another one each round.

    So whatever drifts (clock rates, temperature, other programs) meets all sides alike.

    Args:
        sides: What is compared, by name.
        runs: Results wanted of each.
        warm_up: Run each once before, without counting it.
    """
    if warm_up:
        for run in sides.values():
            run()
    results: dict[str, list[T]] = {name: [] for name in sides}
    names = list(sides)
    for n in range(runs):
        first = n % len(names)
        for name in names[first:] + names[:first]:
            results[name].append(sides[name]())
    return results


def medians(results: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The median of each side."""
    return {name: statistics.median(values) for name, values in results.items()}


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a report.

    Attributes:
        name: For programs: "turn8".
        label: For people.
        unit: Of the values, except of those named "ratio" and "limit".
        values: By column. "ratio" compares two others, "limit" is the promise.
        better: "less" or "more": on which side of "limit" the value should be.
        checked: The column that "limit" is for.
    """

    name: str
    label: str
    unit: str
    values: Mapping[str, float | None]
    better: str = "less"
    checked: str = "ratio"

    @property
    def held(self) -> bool | None:
        """Whether the value is on the right side of the limit; None where there is no limit."""
        value, limit = self.values.get(self.checked), self.values.get("limit")
        if value is None or limit is None:
            return None
        return value <= limit if self.better == "less" else value >= limit


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one benchmark.

    Attributes:
        bench: "turns", "prefill", "decode", "start", "kv", "batch" or "formats".
        about: What ran where: model, machine, threads, runs.
        figures: In order.
    """

    bench: str
    about: Mapping[str, str | int | float]
    figures: Sequence[Figure]

    def json(self) -> str:
        """One JSON object; figures by name, with unit, values and whether the limit holds."""
        figures = {
            figure.name: {"label": figure.label, "unit": figure.unit, **figure.values, "held": figure.held}
            for figure in self.figures
        }
        return json.dumps({"bench": self.bench, **self.about, "figures": figures}, indent=2)

    def table(self) -> str:
        """The figures for people, one a line, what ran where above them."""
        named = dict.fromkeys(name for figure in self.figures for name in figure.values)
        columns = sorted(named, key=lambda name: name in ("ratio", "limit"))  # those two last, the others as they came
        rows = [["", *columns, "", ""], *(self._cells(figure, columns) for figure in self.figures)]
        widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
        lines = [f"{name}: {value}" for name, value in self.about.items()]
        return "\n".join([*lines, "", *(_line(row, widths) for row in rows)])

    @staticmethod
    def _cells(figure: Figure, columns: Sequence[str]) -> list[str]:
        verdict = {True: "ok", False: "missed", None: ""}[figure.held]
        values = [number(figure.values.get(name)) for name in columns]
        return [figure.label, *values, figure.unit, verdict]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """The label to the left, numbers to the right, unit and verdict to the left again."""
    label, *values, unit, verdict = row
    cells = [label.ljust(widths[0]), *(v.rjust(w) for v, w in zip(values, widths[1:-2], strict=True))]
    return "  ".join([*cells, unit.ljust(widths[-2]), verdict]).rstrip()


def number(value: float | None) -> str:
    """About three significant digits: "0.123", "4.57", "18.2", "1,234"."""
    if value is None or not math.isfinite(value):
        return "-"
    digits = next((d for size, d in ((0.9995, 3), (9.995, 2), (99.95, 1)) if abs(value) < size), 0)
    return f"{value:,.{digits}f}"


def machine_name() -> str:
    """The machine in a few words."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return f"{platform.system()} {platform.machine()}, {cores} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB"
