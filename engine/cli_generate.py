"""`loquat generate`: a file of prompts, completed offline, several at once where that is faster."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.batch_values import Answer, Prompt
from engine.cli_args import Parser, sampling, whole
from engine.config import DTYPES, EngineConfig, SamplingParams
from engine.errors import BadRequest
from engine.jsonl_answers import AnswerFile
from engine.jsonl_prompts import Line, read_lines
from engine.keys import Keys
from engine.paths import Paths
from engine.remote.servers import FILE, RemoteServer, find_model, read_servers

if TYPE_CHECKING:
    import argparse

    from engine.loader import LoadedModel
    from engine.models.registry import ModelEntry

SOME_FAILED: Final = 1
_LONGEST: Final = 512  # tokens of an answer where nothing is said
_SERVER_REQUESTS: Final = 8  # at once; a server that batches has more use for many than for one
_EVERY_S: Final = 1.0  # between two lines of progress


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat generate ARGS`; returns 0, or 1 if some lines have an error in place of an answer.

    Raises:
        EngineError: The files cannot be used, or the model cannot be had.
    """
    options = _parser().parse_args(args)
    params, name = sampling(options), options.model or ""
    next(read_lines(options.input, params, name), None)  # what cannot be read is said before a model is got
    if options.output.exists() and options.output.samefile(options.input):
        raise BadRequest("The output is the input; name another file.")
    remote = find_model(read_servers(paths.config / FILE), name) if name else None
    engine: partial[Iterator[Answer]]
    if remote is None:
        from engine.cli_models import ready_model

        entry = ready_model(paths, options.model)
        name, engine = entry.name, partial(_here, paths, options, entry)
    else:
        name = remote[0].name_of(remote[1])  # however it was written, the answers are those of one model
        engine = partial(_by_server, *remote, options.batch or _SERVER_REQUESTS)
    job = _Job(options.input, params, name, options.output)
    with AnswerFile(options.output) as answers:
        job.survey(answers)
        if job.left:
            job.finish(answers, engine)
        answers.sort()
        job.say_end(answers.failed)
        return SOME_FAILED if answers.failed else 0


def _parser() -> Parser:
    parser = Parser(
        prog="loquat generate",
        description='Complete a file of prompts, one JSON object a line: {"prompt": "..."} or {"messages": [...]}, '
        'with "id" and "sampling" if you like. Run it again after an interruption, and it goes on where it was.',
    )
    parser.add_argument("--input", type=Path, required=True, metavar="FILE", help="prompts, one JSON object a line")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="answers, in the input's order")
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it, or SERVER/MODEL")
    parser.add_argument(
        "--batch", type=whole(1, 1024), metavar="N", help="prompts at once; left out: as many as pay on this device"
    )
    parser.add_argument(
        "--max-tokens", type=whole(1, 10_000_000), default=_LONGEST, metavar="N", help=f"longest answer; {_LONGEST}"
    )
    parser.add_argument("--greedy", action="store_true", help="always take the likeliest token")
    parser.add_argument("--seed", type=whole(0, 2**63 - 1), help="makes sampling reproducible", metavar="N")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="how the weights are held")
    parser.add_argument("--threads", type=whole(0, 1024), default=0, help="CPU threads; 0: one per core", metavar="N")
    return parser


def _here(paths: Paths, options: argparse.Namespace, entry: ModelEntry, prompts: Iterator[Prompt]) -> Iterator[Answer]:
    """With a model on this machine."""
    from engine.batch import answer_all, best_size
    from engine.loader import load_model

    print(f"Loading {entry.label}", file=sys.stderr, flush=True)
    config = EngineConfig(dtype=options.dtype, threads=options.threads, save_caches=False)
    model: LoadedModel = load_model(entry, config, paths.cache)
    size = best_size(model, options.batch)
    print(f"{entry.label}, {size} at once: {model.runner.description}", file=sys.stderr, flush=True)
    yield from answer_all(model, prompts, size)


def _by_server(server: RemoteServer, model: str, size: int, prompts: Iterator[Prompt]) -> Iterator[Answer]:
    """With a model on a server."""
    from engine.remote.batch import answer_all
    from engine.remote.engine import RemoteEngine

    key = Keys().get(server.id)
    print(f"{model} on {server.name}, {size} at once: the prompts go to {server.host}", file=sys.stderr, flush=True)
    yield from answer_all(lambda: RemoteEngine(server, model, key), prompts, size)


class _Job:
    """The lines of an input on their way into an output, and how far they have come."""

    def __init__(self, source: Path, params: SamplingParams, model: str, output: Path) -> None:
        self._read = partial(read_lines, source, params, model)
        self._output = output
        self._open: dict[int, Line] = {}
        self._began = self._said = time.perf_counter()
        self._tokens = 0
        self._done = 0
        self.total = self.left = 0

    def survey(self, answers: AnswerFile) -> None:
        """See what is done already, and write down at once what cannot be done."""
        for line in self._read():
            self.total += 1
            if line.request is None:
                print(line.error, file=sys.stderr, flush=True)
            if answers.holds(line):
                continue
            if line.request is None:
                answers.add(line, None)
            else:
                self.left += 1
        if 0 < self.left < self.total:
            print(f"{self.left:,} of {self.total:,} prompts are left", file=sys.stderr, flush=True)

    def finish(self, answers: AnswerFile, engine: partial[Iterator[Answer]]) -> None:
        """Answer what is left."""
        for answer in engine(self._prompts(answers)):
            line = self._open.pop(answer.index)
            answers.add(line, answer)
            self._count(line, answer)

    def say_end(self, failures: int) -> None:
        """One line for the end."""
        failed = f", {failures:,} of them skipped or refused" if failures else ""
        print(f"{self.total:,} prompts are in {self._output}{failed}.", file=sys.stderr, flush=True)

    def _prompts(self, answers: AnswerFile) -> Iterator[Prompt]:
        self._began = time.perf_counter()  # whoever asks for the first one has loaded, which is not what is measured
        for line in self._read():
            if line.request is not None and not answers.holds(line):
                self._open[line.number] = line
                yield Prompt(line.number, line.request)

    def _count(self, line: Line, answer: Answer) -> None:
        if answer.error:
            print(f"Line {line.number} has no answer: {answer.error}", file=sys.stderr, flush=True)
        self._done += 1
        self._tokens += answer.completion_tokens or 0
        now = time.perf_counter()
        if now - self._said >= _EVERY_S or self._done == self.left:
            self._said = now
            self._say(now - self._began)

    def _say(self, seconds: float) -> None:
        line = f"{self._done:,} of {self.left:,}"
        if seconds > 0:
            left_s = seconds * (self.left - self._done) / self._done
            line += f", {self._tokens / seconds:,.0f} tokens/s, about {left_s:,.0f} s left"
        end = "\r" if os.isatty(sys.stderr.fileno()) and self._done < self.left else "\n"
        print(line, end=end, file=sys.stderr, flush=True)
