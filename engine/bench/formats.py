"""`loquat bench formats`: what each format of the weights costs in quality, and is worth in speed and memory."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psutil

from engine.bench.format_figures import FormatFigures, FormatTable, in_order, keep_formats
from engine.bench.forward import NLL_TOKENS, prompt_ids
from engine.bench.harness import Figure, Report, alternate, machine_name
from engine.bench.process import SubjectProcess, loquat_subject
from engine.bench.text import prose
from engine.budget import footprint_of, runnable
from engine.config import EngineConfig
from engine.device import choose_device
from engine.errors import BadRequest, EngineError
from engine.formats import FORMATS, Format
from engine.kernels.store import packed_path
from engine.machine import measure_machine
from engine.memory import plan
from engine.models.registry import ModelEntry
from engine.tokenizer import load_tokenizer

_log = logging.getLogger(__name__)

_SETTLE_S: Final = 0.3  # worker threads of the path measured before go on spinning for a while


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """What to measure.

    Attributes:
        formats: Names of formats; none takes all that this machine offers.
        device: As `EngineConfig.device` has it.
        runs: Of each format.
        threads: 0 takes one per physical core.
        tokens: Prompt that prefill reads, and context of decode.
        steps: Tokens decoded in each run.
        nll_tokens: Of plain English.
    """

    formats: tuple[str, ...] = ()
    device: str = "auto"
    runs: int = 5
    threads: int = 0
    tokens: int = 256
    steps: int = 32
    nll_tokens: int = NLL_TOKENS


def bench_formats(entry: ModelEntry, cache: Path, options: FormatOptions) -> Report:
    """Mean NLL, tokens a second and memory of a model in each format, kept on disk for whoever asks later.

    Each format is measured in a process of its own: all of them in turns where they fit into memory together, else one
    after the other. What had to be packed for it is removed again.

    Args:
        entry: Which model.
        cache: The folder for what can be made again.
        options: What to measure.

    Raises:
        BadRequest: This machine offers no such format for the model.
        EngineError: No format could be measured.
    """
    offered = _offered(entry, options)
    fitting = [held for held in offered if _fits(entry, held, options)]
    notes = {held.name: "does not fit into memory" for held in offered if held not in fitting}
    figures: dict[str, FormatFigures] = {}
    with _unpacked_again([packed_path(entry.folder, held.name) for held in fitting]):
        for group in _groups(entry, fitting):
            figures |= _measure(entry, group, options, notes)
    if not figures:
        raise EngineError(f"No format of {entry.label} could be measured.", repr(notes))
    table = _table(entry, figures, options)
    try:
        keep_formats(cache, entry, table)
    except OSError as error:
        _log.warning("The figures of the formats could not be kept: %s", error)
    return _report(entry, table, options, notes)


def _offered(entry: ModelEntry, options: FormatOptions) -> list[Format]:
    """The formats that the device has and the model can be held in."""
    device = choose_device(EngineConfig(device=options.device)).device.type
    here = [held for held in FORMATS if held.device == device and runnable(entry, held) == held]
    wanted = [held for held in here if held.name in options.formats or not options.formats]
    if missing := set(options.formats) - {held.name for held in wanted}:
        name, names = sorted(missing)[0], ", ".join(held.name for held in here)
        raise BadRequest(f"{entry.label} cannot be held in {name} on this machine; choose one of {names}.")
    return wanted


def _fits(entry: ModelEntry, held: Format, options: FormatOptions) -> bool:
    footprint = footprint_of(entry, held, EngineConfig().prefill_chunk)
    context = min(footprint.context_limit, max(options.nll_tokens, options.tokens + options.steps))
    return plan(footprint, measure_machine(held.device), context=context).fits


def _groups(entry: ModelEntry, fitting: Sequence[Format]) -> list[list[Format]]:
    """All together where their weights take less than half of the free memory, else each by itself."""
    total = sum(footprint_of(entry, held, 1).weights for held in fitting)
    small = all(held.device == "cpu" for held in fitting) and total < psutil.virtual_memory().available // 2
    return [list(fitting)] if small else [[held] for held in fitting]


@contextmanager
def _unpacked_again(paths: Sequence[Path]) -> Iterator[None]:
    """Remove what was packed meanwhile: it would stay in the model's folder for nothing."""
    missing = [path for path in paths if not path.exists()]
    try:
        yield
    finally:
        for path in missing:
            path.unlink(missing_ok=True)


def _measure(
    entry: ModelEntry, group: Sequence[Format], options: FormatOptions, notes: dict[str, str]
) -> dict[str, FormatFigures]:
    """The figures of some formats by name; one that cannot be loaded has a note instead."""
    tokenizer = load_tokenizer(entry.folder)
    text, prompt = tokenizer.encode(prose())[: options.nll_tokens], prompt_ids(tokenizer, options.tokens)
    with ExitStack() as stack:
        subjects: dict[str, SubjectProcess] = {}
        for held in group:
            try:
                subjects[held.name] = stack.enter_context(_subject(entry, held, options))
            except EngineError as error:
                notes[held.name] = error.sentence
        if not subjects:
            return {}
        measured = {
            "nll": {name: float(subject.ask("nll", ids=text)["nll"]) for name, subject in subjects.items()},
            "prefill": _rates(subjects, options, lambda subject: _prefill_rate(subject, prompt)),
            "decode": _rates(subjects, options, lambda subject: _decode_rate(subject, prompt, options.steps)),
        }
        return {
            held.name: _figures(entry, held, subjects[held.name], measured) for held in group if held.name in subjects
        }


def _subject(entry: ModelEntry, held: Format, options: FormatOptions) -> SubjectProcess:
    return loquat_subject("loquat", entry.folder, dtype=held.name, device=held.device, threads=options.threads)


def _rates(
    subjects: Mapping[str, SubjectProcess], options: FormatOptions, rate: Callable[[SubjectProcess], float]
) -> dict[str, float]:
    def settled(subject: SubjectProcess) -> Callable[[], float]:
        def run() -> float:
            time.sleep(_SETTLE_S)
            return rate(subject)

        return run

    runs = alternate({name: settled(subject) for name, subject in subjects.items()}, options.runs)
    return {name: statistics.median(values) for name, values in runs.items()}


def _prefill_rate(subject: SubjectProcess, prompt: list[int]) -> float:
    return len(prompt) / float(subject.ask("prefill", ids=prompt)["seconds"])


def _decode_rate(subject: SubjectProcess, prompt: list[int], steps: int) -> float:
    return 1 / float(statistics.median(subject.ask("decode", ids=prompt, count=steps)["steps"]))


def _figures(
    entry: ModelEntry, held: Format, subject: SubjectProcess, measured: Mapping[str, Mapping[str, float]]
) -> FormatFigures:
    held_bytes = int(subject.about["weight_bytes"])
    return FormatFigures(
        name=held.name,
        words=held.words,
        device=held.device,
        **{what: values[held.name] for what, values in measured.items()},
        weight_bytes=held_bytes,
        bytes_per_weight=held_bytes / max(1, entry.parameters),
    )


def _table(entry: ModelEntry, figures: Mapping[str, FormatFigures], options: FormatOptions) -> FormatTable:
    return FormatTable(
        label=entry.label,
        source=entry.source,
        parameters=entry.parameters,
        machine=machine_name(),
        measured=datetime.now(UTC).isoformat(timespec="seconds"),
        tokens=options.nll_tokens,
        figures=in_order(list(figures.values())),
    )


def _report(entry: ModelEntry, table: FormatTable, options: FormatOptions, notes: Mapping[str, str]) -> Report:
    best = max(table.figures, key=lambda one: one.bytes_per_weight)
    of: dict[str, FormatFigures] = {one.name: one for one in table.figures}
    nll = {name: one.nll for name, one in of.items()}
    figures = [
        Figure("nll", f"mean NLL of {options.nll_tokens:,} tokens", "nats", nll),
        Figure("nll_change", f"  more than {best.name}", "%", {k: 100 * (v / best.nll - 1) for k, v in nll.items()}),
        Figure(
            "prefill",
            f"prefill of {options.tokens:,} tokens",
            "tokens/s",
            {name: one.prefill for name, one in of.items()},
            "more",
        ),
        Figure(
            "decode",
            f"decode at {options.tokens:,} tokens of context",
            "tokens/s",
            {name: one.decode for name, one in of.items()},
            "more",
        ),
        Figure("weights", "memory of the weights", "MiB", {name: one.weight_bytes / 2**20 for name, one in of.items()}),
        Figure("per_weight", "  bytes a weight", "B", {name: one.bytes_per_weight for name, one in of.items()}),
    ]
    about: dict[str, Any] = {"model": entry.label, "machine": table.machine, "runs": options.runs, **notes}
    return Report("formats", about, figures)
