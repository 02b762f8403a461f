"""`loquat bench kv`: what keys and values in fewer bits cost in quality and speed, and spare in memory."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch

from engine.bench.forward import prompt_ids
from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.subject import Subject, load_subject
from engine.bench.text import prose
from engine.config import EngineConfig
from engine.decoder import DecoderRunner
from engine.models.registry import ModelEntry
from engine.tokenizer import load_tokenizer

NAMES: Final = ("float32", "float16", "bfloat16", "int8")
NLL_TOKENS: Final = 1024
_CONTEXT: Final = 512
_STEPS: Final = 32


@dataclass(frozen=True, slots=True)
class KvOptions:
    """What to measure.

    Attributes:
        dtype: Of the weights. A format that its path lacks is measured as what takes its place.
        runs: Of each format.
        threads: 0 takes one per physical core.
        context: Tokens held while decode is timed.
        nll_tokens: Of plain English, read in chunks of 128: the later ones attend to what was cached.
    """

    dtype: str = "float32"
    runs: int = 5
    threads: int = 0
    context: int = _CONTEXT
    nll_tokens: int = NLL_TOKENS


def bench_kv(entry: ModelEntry, options: KvOptions) -> Report:
    """Mean NLL, bytes of a token and decode rate with keys and values in each format, over the same weights.

    Raises:
        EngineError: The model cannot be loaded.
    """
    tokenizer = load_tokenizer(entry.folder)
    text, prompt = tokenizer.encode(prose())[: options.nll_tokens], prompt_ids(tokenizer, options.context)
    subjects = _subjects(entry, options)
    nll = {name: float(subject.nll(text)["nll"]) for name, subject in subjects.items()}
    steps = medians(alternate({name: _timed(subject, prompt) for name, subject in subjects.items()}, options.runs))
    loss = {name: 100 * (value / nll[NAMES[0]] - 1) for name, value in nll.items()}
    rate = {name: 1 / seconds for name, seconds in steps.items()}
    held = {name: float(subject.runner.kv_bytes_per_token) for name, subject in subjects.items()}
    figures = [
        Figure("nll", f"mean NLL of {len(text):,} tokens", "nats", nll),
        Figure("nll_change", f"  more than {NAMES[0]}", "%", loss),
        Figure("bytes_per_token", "memory of a token", "B", held),
        Figure("decode", f"decode at {options.context:,} tokens of context", "tokens/s", rate, "more"),
    ]
    return Report("kv", _about(entry, options, subjects), figures)


def _subjects(entry: ModelEntry, options: KvOptions) -> dict[str, Subject]:
    """A runner for each format; decoders share their weights, packed ones are mapped into memory once anyway."""
    config = EngineConfig(device="cpu", dtype=options.dtype, threads=options.threads, kv_dtype=NAMES[0])
    subjects = {NAMES[0]: load_subject("loquat", entry.folder, config)}
    first = subjects[NAMES[0]]
    for name in NAMES[1:]:
        if isinstance(first.runner, DecoderRunner):
            kv_dtype: torch.dtype = getattr(torch, name)
            runner = DecoderRunner(first.runner.config, first.runner.weights, kv_dtype=kv_dtype)
            subjects[name] = replace(first, runner=runner)
        else:
            subjects[name] = load_subject("loquat", entry.folder, replace(config, kv_dtype=name))
    return subjects


def _timed(subject: Subject, prompt: Sequence[int]) -> Callable[[], float]:
    """Measures the median seconds of a decode step after the prompt."""
    return lambda: float(statistics.median(subject.decode(prompt, _STEPS)["steps"]))


def _about(entry: ModelEntry, options: KvOptions, subjects: Mapping[str, Subject]) -> dict[str, str | int]:
    described = {name: subject.runner.description for name, subject in subjects.items()}
    threads = subjects[NAMES[0]].choice.threads
    return {
        "model": entry.label,
        "machine": machine_name(),
        "threads": threads,
        "runs": options.runs,
        **described,
    }
