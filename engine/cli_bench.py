"""`loquat bench`: how fast the model runs on this machine, beside what it is measured against."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli_args import Parser, size, whole
from engine.config import DEVICES, DTYPES, EngineConfig
from engine.errors import BadRequest, ModelNotFound
from engine.paths import Paths

if TYPE_CHECKING:
    import argparse

    from engine.bench.harness import Report
    from engine.models.registry import ModelEntry

_FEWEST_WORDS = 100
_REFERENCES = ("float32", "bfloat16", "float16")


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat bench ARGS` and print the report; returns the exit code.

    Raises:
        EngineError: An argument is out of bounds, or the model cannot be had.
    """
    from engine.bench.process import FIRST_TOKEN, SUBJECT

    if args[:1] == [SUBJECT]:
        from engine.bench.subject import main

        main(args[1])
        return 0
    if args[:1] == [FIRST_TOKEN]:
        from engine.bench import first_token

        first_token.main(*args[1:])
        return 0
    from engine.cli_models import ready_model

    options = _parser().parse_args(args)
    entry = ready_model(paths, options.model)
    print(f"Measuring {entry.label}; other programs disturb the figures.", file=sys.stderr)
    report = options.measure(entry, paths, options)
    print(report.json() if options.json else report.table())
    return 0


def _parser() -> Parser:
    parser = Parser(prog="loquat bench", description="Benchmarks: medians over alternating runs.")
    benches = parser.add_subparsers(required=True, metavar="BENCH", parser_class=Parser)
    turns = benches.add_parser("turns", help="time to the first token, with kept caches and without")
    turns.add_argument("--memory", action="store_true", help="many conversations in little memory instead; minutes")
    turns.add_argument("--conversations", type=whole(1, 10_000), default=30, help="for --memory", metavar="N")
    turns.add_argument("--tokens", type=whole(128, 1_000_000), default=2000, help="of each, for --memory", metavar="N")
    turns.add_argument("--budget", type=size, default=300 << 20, help="for --memory", metavar="SIZE")
    turns.set_defaults(measure=_turns)
    for name, reference, what in (("prefill", "float32", "reading"), ("decode", "bfloat16", "writing")):
        forward = benches.add_parser(name, help=f"{what} speed beside transformers, memory and quality")
        forward.add_argument(
            "--tokens", type=whole(2, 1_000_000), action="append", help="of the prompt; may be given again", metavar="N"
        )
        forward.add_argument(
            "--reference", choices=_REFERENCES, default=reference, help="what transformers computes in"
        )
        forward.add_argument("--text", type=Path, help="for the mean NLL, instead of the built-in one", metavar="FILE")
        forward.set_defaults(measure=_forward, bench=name)
    start = benches.add_parser("start", help="from the start of the program to the first token")
    start.add_argument("--gguf", type=Path, help="let transformers load this file", metavar="FILE")
    start.set_defaults(measure=_start)
    kv = benches.add_parser("kv", help="keys and values in fewer bits: quality, memory and speed of each format")
    kv.set_defaults(measure=_kv)
    batch = benches.add_parser("batch", help="several sequences in one pass, and when more of them stop paying")
    batch.set_defaults(measure=_batch)
    formats = benches.add_parser("formats", help="the weights in each format: quality, speed and memory; minutes")
    formats.add_argument(
        "--format", choices=DTYPES[1:], action="append", help="only this one; may be given again", dest="formats"
    )
    formats.add_argument("--device", choices=DEVICES, default="auto", help="where the model runs")
    formats.set_defaults(measure=_formats)
    for bench in (turns, kv, batch, benches.choices["prefill"], benches.choices["decode"], start):
        bench.add_argument("--dtype", choices=DTYPES, default="auto", help="how Loquat holds the weights")
    for bench in benches.choices.values():
        _add_common(bench)
    return parser


def _add_common(bench: argparse.ArgumentParser) -> None:
    bench.add_argument("--model", help="name of the model, as `loquat models list` shows it")
    bench.add_argument("--runs", type=whole(1, 1000), default=5, help="of each side", metavar="N")
    bench.add_argument("--threads", type=whole(0, 1024), default=0, help="CPU threads; 0: one per core", metavar="N")
    bench.add_argument("--json", action="store_true", help="one JSON object")


def _turns(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench.crowd import Crowd, bench_crowd
    from engine.bench.turns import bench_turns

    config = EngineConfig(dtype=options.dtype, threads=options.threads)
    if options.memory:
        return bench_crowd(entry, config, Crowd(options.conversations, options.tokens, options.budget))
    return bench_turns(entry, paths, config, options.runs)


def _kv(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench.kv_formats import KvOptions, bench_kv

    dtype = "float32" if options.dtype == "auto" else options.dtype
    return bench_kv(entry, KvOptions(dtype=dtype, runs=options.runs, threads=options.threads))


def _batch(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench.batch import BatchOptions, bench_batch

    return bench_batch(entry, BatchOptions(runs=options.runs, dtype=options.dtype, threads=options.threads))


def _formats(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench.formats import FormatOptions, bench_formats

    wanted = FormatOptions(tuple(options.formats or ()), options.device, options.runs, options.threads)
    return bench_formats(entry, paths.cache, wanted)


def _forward(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench import forward
    from engine.bench.text import prose

    settings = forward.ForwardOptions(
        tokens=tuple(options.tokens or (512,)),
        runs=options.runs,
        dtype=options.dtype,
        reference_dtype=options.reference,
        threads=options.threads,
        text=_read(options.text) if options.text else prose(),
    )
    bench = forward.bench_prefill if options.bench == "prefill" else forward.bench_decode
    return bench(entry, settings)


def _read(path: Path) -> str:
    """Raises BadRequest where there is no text of at least some words."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadRequest(f"The text {path} cannot be read.", str(error)) from error
    if len(text.split()) < _FEWEST_WORDS:
        raise BadRequest(f"The text {path} is too short for a mean NLL; take one of a page or more.")
    return text


def _start(entry: ModelEntry, paths: Paths, options: argparse.Namespace) -> Report:
    from engine.bench.start import bench_start

    if options.gguf and not options.gguf.is_file():
        raise ModelNotFound(f"There is no file {options.gguf}.")
    return bench_start(entry, options.runs, options.gguf and options.gguf.resolve())
