"""What each format of a model's weights costs on this machine, measured once and kept on disk. Torch-free."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.atomic import write_atomically
from engine.explain.codec import built, plain

if TYPE_CHECKING:
    from engine.models.registry import ModelEntry

_FOLDER: Final = "formats"


@dataclass(frozen=True, slots=True)
class FormatFigures:
    """What was measured of a model in one format.

    Attributes:
        name: Of the format, as `EngineConfig.dtype` has it.
        words: What it is, for people: "4-bit weights".
        device: "cpu", "cuda" or "mps".
        nll: Mean negative log likelihood of the text, nats a token.
        prefill, decode: Tokens a second.
        weight_bytes: Memory that the weights take.
        bytes_per_weight: That, divided by the number of weights.
    """

    name: str = ""
    words: str = ""
    device: str = ""
    nll: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0
    weight_bytes: int = 0
    bytes_per_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class FormatTable:
    """The figures of one model on this machine.

    Attributes:
        label: The model's name for people, when it was measured.
        source, parameters: Which model it is: the file or folder it was made from, and its size.
        machine: Where, in a few words.
        measured: When, UTC, ISO 8601.
        tokens: Of the text that the NLL is of.
        figures: Formats in the order of their size, the smallest first.
    """

    label: str = ""
    source: str = ""
    parameters: int = 0
    machine: str = ""
    measured: str = ""
    tokens: int = 0
    figures: tuple[FormatFigures, ...] = ()

    def including(self, older: FormatTable) -> FormatTable:
        """These figures, with those of formats that were only measured before."""
        measured = {(one.device, one.name) for one in self.figures}
        kept = [one for one in older.figures if (one.device, one.name) not in measured]
        return dataclasses.replace(self, figures=in_order([*self.figures, *kept]))


def in_order(figures: list[FormatFigures]) -> tuple[FormatFigures, ...]:
    """The smallest first."""
    return tuple(sorted(figures, key=lambda one: (one.weight_bytes, one.device, one.name)))


def read_formats(cache: Path, entry: ModelEntry) -> FormatTable | None:
    """What was measured of a model; None where nothing was, or of another model of that name.

    Args:
        cache: The folder for what can be made again.
        entry: Which model.
    """
    table = read_formats_of(cache, entry.name, entry.parameters)
    return table if table is not None and table.source == entry.source else None


def read_formats_of(cache: Path, name: str, parameters: int) -> FormatTable | None:
    """The same for whoever knows a model by its name and number of weights alone, as the window does."""
    try:
        table = built(FormatTable, json.loads(_file(cache, name).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return table if table.parameters == parameters and table.figures else None


def keep_formats(cache: Path, entry: ModelEntry, table: FormatTable) -> None:
    """Keep what was measured, beside what was measured before of formats that it lacks.

    Raises:
        OSError: The disk refused.
    """
    older = read_formats(cache, entry)
    whole = table.including(older) if older else table
    write_atomically(_file(cache, entry.name), json.dumps(plain(whole), indent=2, ensure_ascii=False) + "\n")


def _file(cache: Path, name: str) -> Path:
    return cache / _FOLDER / f"{name}.json"
