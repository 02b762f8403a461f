"""Loquat beside llama.cpp on the same prompts: `python -m tests.bench.compare --llama-cpp FILE.gguf [--python PATH]`.

llama-cpp-python may live in another environment: `--python` names its interpreter. Both paths run in a process of their
own and take turns; the prompts are the same token ids, so the file must be of the model that Loquat has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from engine.bench.forward import measure_decode, measure_prefill, prompt_ids, ratios
from engine.bench.harness import Figure, Report, machine_name, medians
from engine.bench.process import SubjectProcess, loquat_subject
from engine.cli_args import Parser, whole
from engine.cli_models import ready_model
from engine.device import choose_threads
from engine.errors import EngineError, ModelNotFound
from engine.models.registry import ModelEntry
from engine.paths import default_paths
from engine.tokenizer import load_tokenizer

SCRIPT = Path(__file__).with_name("llama_cpp_subject.py")
OURS, THEIRS = "loquat", "llama.cpp"
# At least so much faster than llama.cpp on the same file.
LIMITS = {"prefill": 2.0, "decode": 1.25}


def compare(entry: ModelEntry, subjects: dict[str, SubjectProcess], tokens: int, steps: int, runs: int) -> Report:
    """Prefill and decode rates, peak memory, and how far both say the same."""
    ids = prompt_ids(load_tokenizer(entry.folder), tokens)
    known = subjects[THEIRS].about["vocabulary"]
    if max(ids) >= known:
        raise EngineError(f"The file has {known:,} tokens in its vocabulary, too few to be of {entry.label}.")
    read = measure_prefill(subjects, ids, runs)
    prefill = {name: tokens / value for name, value in medians(_seconds(read)).items()}
    step = medians(measure_decode(subjects, ids, steps, runs))
    decode = {name: 1 / value for name, value in step.items()}
    about = {name: subject.ask("about") for name, subject in subjects.items()}
    figures = [
        Figure("prefill", f"prefill of {tokens:,} tokens", "tokens/s", {**prefill, "limit": LIMITS["prefill"]}, "more"),
        Figure(
            "decode",
            f"decode at {tokens:,} tokens of context",
            "tokens/s",
            {**decode, "limit": LIMITS["decode"]},
            "more",
        ),
        Figure("step", "  one step", "ms", {name: 1000 * value for name, value in step.items()}),
        Figure("load", "load", "s", {name: of["load_s"] for name, of in about.items()}),
        Figure("peak_memory", "peak resident memory", "MiB", {n: of["peak_bytes"] / 2**20 for n, of in about.items()}),
    ]
    compared = [ratios(figure, OURS, THEIRS) for figure in figures]
    agreed = Figure("agreed", f"first of {steps} greedy tokens that agree", "", {OURS: _agreed(subjects, ids, steps)})
    described = {name: f"{of['description']}, {of['threads']} threads" for name, of in about.items()}
    return Report(
        "compare", {"model": entry.label, "machine": machine_name(), "runs": runs, **described}, [*compared, agreed]
    )


def _seconds(runs: dict[str, list[dict[str, float]]]) -> dict[str, list[float]]:
    return {name: [run["seconds"] for run in of] for name, of in runs.items()}


def _agreed(subjects: dict[str, SubjectProcess], ids: Sequence[int], steps: int) -> int:
    """How many tokens both generate before the first that differs; rounding makes them part sooner or later."""
    ours, theirs = (subjects[name].ask("decode", ids=list(ids), count=steps)["tokens"] for name in (OURS, THEIRS))
    return next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), steps)


def _parser() -> Parser:
    parser = Parser(prog="python -m tests.bench.compare", description="Loquat beside llama.cpp.")
    parser.add_argument("--llama-cpp", required=True, type=Path, help="the model as a GGUF file", metavar="FILE")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has llama-cpp-python")
    parser.add_argument("--model", help="the same model in Loquat; the default one if left out")
    parser.add_argument("--tokens", type=whole(2, 100_000), default=512, help="of the prompt", metavar="N")
    parser.add_argument("--steps", type=whole(1, 10_000), default=64, help="tokens to generate", metavar="N")
    parser.add_argument("--runs", type=whole(1, 1000), default=5, help="of each", metavar="N")
    parser.add_argument("--threads", type=whole(0, 1024), default=0, help="0: one per physical core", metavar="N")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def run(arguments: Sequence[str]) -> Report:
    options = _parser().parse_args(arguments)
    if not options.llama_cpp.is_file():
        raise ModelNotFound(f"There is no file {options.llama_cpp}.")
    entry = ready_model(default_paths(), options.model)
    threads, _ = choose_threads(options.threads)
    context = options.tokens + options.steps + 8
    command = [options.python, str(SCRIPT), str(options.llama_cpp.resolve()), str(threads), str(context)]
    with ExitStack() as stack:
        theirs = stack.enter_context(SubjectProcess(THEIRS, command))
        ours = stack.enter_context(loquat_subject("loquat", entry.folder, threads=threads))
        subjects = {OURS: ours, THEIRS: theirs}
        report = compare(entry, subjects, options.tokens, options.steps, options.runs)
    print(report.json() if options.json else report.table())
    return report


def main(arguments: Sequence[str]) -> int:
    try:
        run(arguments)
    except EngineError as error:
        print(error.sentence, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main(sys.argv[1:]))
