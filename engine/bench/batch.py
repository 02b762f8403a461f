"""`loquat bench batch`: several sequences in one pass, and at which number of them it stops paying."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.batch import DecodesMany
from engine.bench.forward import prompt_ids
from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.subject import Subject, load_subject
from engine.config import EngineConfig
from engine.errors import UnsupportedModel
from engine.models.registry import ModelEntry
from engine.tokenizer import load_tokenizer

SIZES: Final = (1, 2, 4, 8, 16, 32, 64)
WORTH: Final = 1.1  # more sequences pay where they give at least so many times the tokens


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What to measure.

    Attributes:
        runs: Of each size.
        context: Tokens that each sequence holds when its decode is timed.
        steps: Tokens of each sequence in a run.
        sizes: Numbers of sequences, rising, the first is 1.
        dtype: Of the weights.
        threads: 0 takes one per physical core.
    """

    runs: int = 5
    context: int = 256
    steps: int = 24
    sizes: tuple[int, ...] = SIZES
    dtype: str = "auto"
    threads: int = 0


def bench_batch(entry: ModelEntry, options: BatchOptions) -> Report:
    """Tokens a second of all sequences together, and of each, by how many decode in one pass.

    Raises:
        UnsupportedModel: What runs the model reads one sequence a pass.
        EngineError: The model cannot be loaded.
    """
    config = EngineConfig(dtype=options.dtype, threads=options.threads)
    subject = load_subject("loquat", entry.folder, config)
    if not isinstance(subject.runner, DecodesMany):
        raise UnsupportedModel(
            f"What runs this model ({subject.runner.description}) reads one sequence a pass, so there is nothing to "
            "measure."
        )
    prompt = prompt_ids(load_tokenizer(entry.folder), options.context)
    caches = _caches(subject, prompt, max(options.sizes))
    tokens = prompt[: options.steps]
    sides = {str(size): _timed(subject.runner, caches[:size], tokens) for size in options.sizes}
    seconds = medians(alternate(sides, options.runs))
    rates = {str(size): size / seconds[str(size)] for size in options.sizes}
    figures = [
        Figure("all", f"decode at {options.context:,} tokens of context, all sequences", "tokens/s", rates, "more"),
        Figure("each", "  of each sequence", "tokens/s", {name: rate / int(name) for name, rate in rates.items()}),
        Figure("gain", "  times one sequence alone", "", {name: rate / rates["1"] for name, rate in rates.items()}),
    ]
    about: dict[str, str | int | float] = {
        "model": entry.label,
        "machine": machine_name(),
        "threads": subject.choice.threads,
        "runs": options.runs,
        "runner": subject.runner.description,
        "stops paying": pays_until(rates),
    }
    return Report("batch", about, figures)


def pays_until(rates: Mapping[str, float]) -> str:
    """The fewest sequences that come near the best rate, in words."""
    enough = max(rates.values()) / WORTH
    return f"beyond {next(size for size, rate in rates.items() if rate >= enough)} at once"


def _caches(subject: Subject, prompt: Sequence[int], count: int) -> list[Any]:
    """So many caches that hold the prompt, which is read once."""
    first = subject.runner.new_cache()
    subject.runner.prefill(prompt, first)
    held = first.export()
    return [first, *(subject.runner.restore_cache(held) for _ in range(count - 1))]


def _timed(runner: DecodesMany, caches: Sequence[Any], tokens: Sequence[int]) -> Callable[[], float]:
    """Measures the seconds of one pass over so many sequences, and leaves them as they were."""
    held = caches[0].length

    def run() -> float:
        began = time.perf_counter()
        for token in tokens:
            runner.decode_many([token] * len(caches), caches)
        seconds = time.perf_counter() - began
        for cache in caches:
            cache.crop(held)
        return seconds / len(tokens)

    return run
