"""`loquat bench prefill` and `loquat bench decode`: one forward pass beside the same in transformers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.process import SubjectProcess, loquat_subject
from engine.bench.rewrite import rewrite_figures
from engine.bench.text import passage, prose
from engine.config import EngineConfig
from engine.models.registry import ModelEntry
from engine.tokenizer import Tokenizer, load_tokenizer

NLL_TOKENS: Final = 1024
_SETTLE_S: Final = 0.3  # worker threads of the path measured before go on spinning for a while


@dataclass(frozen=True, slots=True)
class ForwardOptions:
    """What to measure.

    Attributes:
        tokens: Prompt lengths (prefill) or contexts (decode).
        steps: Tokens decoded in each run.
        runs: Of each path.
        dtype: Loquat's; "auto" takes what it takes on this machine.
        reference_dtype: What transformers computes in.
        threads: For all paths; 0 takes one per physical core.
        text: For the mean NLL.
    """

    tokens: tuple[int, ...] = (512,)
    steps: int = 64
    runs: int = 5
    dtype: str = "auto"
    reference_dtype: str = "float32"
    threads: int = 0
    text: str = field(default_factory=prose)


def bench_prefill(entry: ModelEntry, options: ForwardOptions) -> Report:
    """Tokens read per second, with achieved bandwidth, peak memory and mean NLL.

    Raises:
        EngineError: A path cannot be loaded.
    """
    return _bench("prefill", entry, options, _prefill_figures)


def bench_decode(entry: ModelEntry, options: ForwardOptions) -> Report:
    """Tokens generated per second, also with prompt lookup on a text that repeats; otherwise as `bench_prefill`."""
    report = _bench("decode", entry, options, _decode_figures)
    config = EngineConfig(dtype=options.dtype, threads=options.threads, save_caches=False)
    return replace(report, figures=[*report.figures, *rewrite_figures(entry, config, options.runs)])


def measure_prefill(subjects: Mapping[str, SubjectProcess], ids: Sequence[int], runs: int) -> dict[str, list[Any]]:
    """What each path says of each of its runs: seconds, and passes over the weights."""
    return _alternate(subjects, runs, lambda subject: subject.ask("prefill", ids=list(ids)))


def measure_decode(
    subjects: Mapping[str, SubjectProcess], ids: Sequence[int], steps: int, runs: int
) -> dict[str, list[Any]]:
    """The median seconds of a step in each run of each path."""

    def run(subject: SubjectProcess) -> float:
        return float(statistics.median(subject.ask("decode", ids=list(ids), count=steps)["steps"]))

    return _alternate(subjects, runs, run)


def _alternate(
    subjects: Mapping[str, SubjectProcess], runs: int, run: Callable[[SubjectProcess], Any]
) -> dict[str, list[Any]]:
    def settled(subject: SubjectProcess) -> Callable[[], Any]:
        def measure() -> Any:  # noqa: ANN401 - whatever `run` gives
            time.sleep(_SETTLE_S)
            return run(subject)

        return measure

    return alternate({name: settled(subject) for name, subject in subjects.items()}, runs)


def _limit(options: ForwardOptions, reference: str, value: float) -> dict[str, float]:
    """A promise, which is made beside transformers in one dtype only."""
    return {"limit": value} if options.reference_dtype == reference else {}


def ratios(figure: Figure, ours: str, theirs: str) -> Figure:
    """The figure with the ratio of two of its columns."""
    mine, other = figure.values.get(ours), figure.values.get(theirs)
    ratio = mine / other if mine and other else None
    return Figure(figure.name, figure.label, figure.unit, {**figure.values, "ratio": ratio}, figure.better)


def _bench(
    bench: str,
    entry: ModelEntry,
    options: ForwardOptions,
    figures: Callable[[Mapping[str, SubjectProcess], Tokenizer, ForwardOptions], list[Figure]],
) -> Report:
    tokenizer = load_tokenizer(entry.folder)
    with ExitStack() as stack:
        common = {"threads": options.threads}
        subjects = {
            "loquat": loquat_subject("loquat", entry.folder, dtype=options.dtype, **common),
            "transformers": loquat_subject("transformers", entry.folder, dtype=options.reference_dtype, **common),
        }
        for subject in subjects.values():
            stack.enter_context(subject)
        measured = figures(subjects, tokenizer, options)
        measured += [
            _memory_figure(subjects),
            _nll_figure(subjects, tokenizer.encode(options.text)[:NLL_TOKENS], options),
        ]
        about = {name: subject.about for name, subject in subjects.items()}
    return Report(bench, _about(entry, options, about), [ratios(f, "loquat", "transformers") for f in measured])


def _about(entry: ModelEntry, options: ForwardOptions, paths: Mapping[str, Mapping[str, Any]]) -> dict[str, str | int]:
    described = {
        name: f"{about['description']}, {about['dtype']}, {about['threads']} threads" for name, about in paths.items()
    }
    return {"model": entry.label, "machine": machine_name(), "runs": options.runs, **described}


def _prefill_figures(
    subjects: Mapping[str, SubjectProcess], tokenizer: Tokenizer, options: ForwardOptions
) -> list[Figure]:
    figures = []
    for tokens in options.tokens:
        ids = prompt_ids(tokenizer, tokens)
        runs = measure_prefill(subjects, ids, options.runs)
        seconds = medians({name: [run["seconds"] for run in of] for name, of in runs.items()})
        passes = {name: of[-1]["passes"] for name, of in runs.items()}
        rate = {name: len(ids) / value for name, value in seconds.items()}
        read = {name: _weights(subjects[name]) * passes[name] / seconds[name] / 1e9 for name in subjects}
        figures += [
            Figure(
                f"prefill_{tokens}",
                f"prefill of {tokens:,} tokens",
                "tokens/s",
                {**rate, **_limit(options, "float32", 1.5)},
                "more",
            ),
            Figure(f"prefill_{tokens}_read", "  weights read", "GB/s", read, "more"),
        ]
    return figures


def _decode_figures(
    subjects: Mapping[str, SubjectProcess], tokenizer: Tokenizer, options: ForwardOptions
) -> list[Figure]:
    figures = []
    for tokens in options.tokens:
        seconds = medians(measure_decode(subjects, prompt_ids(tokenizer, tokens), options.steps, options.runs))
        rate = {name: 1 / value for name, value in seconds.items()}
        step = {name: 1000 * value for name, value in seconds.items()}
        read = {name: _weights(subjects[name]) / seconds[name] / 1e9 for name in subjects}
        figures += [
            Figure(
                f"decode_{tokens}",
                f"decode at {tokens:,} tokens of context",
                "tokens/s",
                {**rate, **_limit(options, "bfloat16", 4.0)},
                "more",
            ),
            Figure(f"decode_{tokens}_step", "  one step", "ms", step),
            Figure(f"decode_{tokens}_read", "  weights read", "GB/s", read, "more"),
        ]
    return figures


def prompt_ids(tokenizer: Tokenizer, tokens: int) -> list[int]:
    """Exactly `tokens` ids of English."""
    return tokenizer.encode(passage(tokenizer, tokens + 8, seed=1))[:tokens]


def _memory_figure(subjects: Mapping[str, SubjectProcess]) -> Figure:
    peak = {name: subject.ask("about")["peak_bytes"] / 2**20 for name, subject in subjects.items()}
    return Figure("peak_memory", "peak resident memory", "MiB", peak)


def _nll_figure(subjects: Mapping[str, SubjectProcess], ids: list[int], options: ForwardOptions) -> Figure:
    nll = {name: subject.ask("nll", ids=ids)["nll"] for name, subject in subjects.items()}
    return Figure("nll", f"mean NLL of {len(ids):,} tokens", "nats", {**nll, **_limit(options, "float32", 1.015)})


def _weights(subject: SubjectProcess) -> int:
    return int(subject.about["weight_bytes"])
