"""`loquat bench kv`: what keys and values in fewer bits cost in quality and speed, and spare in memory."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from engine.bench.forward import measure_decode, prompt_ids
from engine.bench.harness import Figure, Report, machine_name, medians
from engine.bench.process import SubjectProcess, loquat_subject
from engine.bench.text import prose
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
    """Mean NLL, bytes of a token and decode rate with keys and values in each format, a process each.

    Raises:
        EngineError: The model cannot be loaded.
    """
    tokenizer = load_tokenizer(entry.folder)
    text, prompt = tokenizer.encode(prose())[: options.nll_tokens], prompt_ids(tokenizer, options.context)
    with ExitStack() as stack:
        subjects = {
            name: stack.enter_context(
                loquat_subject(
                    "loquat", entry.folder, device="cpu", dtype=options.dtype, kv_dtype=name, threads=options.threads
                )
            )
            for name in NAMES
        }
        nll = {name: float(subject.ask("nll", ids=text)["nll"]) for name, subject in subjects.items()}
        steps = medians(measure_decode(subjects, prompt, _STEPS, options.runs))
        held = {name: float(subject.about["kv_bytes_per_token"]) for name, subject in subjects.items()}
        described = _described(subjects)
    loss = {name: 100 * (value / nll[NAMES[0]] - 1) for name, value in nll.items()}
    rate = {name: 1 / seconds for name, seconds in steps.items()}
    figures = [
        Figure("nll", f"mean NLL of {len(text):,} tokens", "nats", nll),
        Figure("nll_change", f"  more than {NAMES[0]}", "%", loss),
        Figure("bytes_per_token", "memory of a token", "B", held),
        Figure("decode", f"decode at {options.context:,} tokens of context", "tokens/s", rate, "more"),
    ]
    return Report("kv", {"model": entry.label, "machine": machine_name(), "runs": options.runs, **described}, figures)


def _described(subjects: dict[str, SubjectProcess]) -> dict[str, str]:
    return {name: f"{s.about['description']}, {s.about['threads']} threads" for name, s in subjects.items()}
