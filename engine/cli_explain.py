"""`loquat explain`: a turn or two in numbers, with what they were bound by and what the machine can do."""

from __future__ import annotations

import dataclasses
import datetime
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.chat import ChatRequest, Message, RequestHandle
from engine.cli_args import Parser, whole
from engine.cli_explain_text import report
from engine.config import DTYPES, GREEDY, KV_DTYPES, EngineConfig
from engine.errors import BadRequest
from engine.events import Compared, CompareProgress, Finished, ModelInfo
from engine.explain.comparison import Comparison
from engine.explain.figures import figures, shares, unaccounted
from engine.explain.plan import triangle, turns_left
from engine.explain.profile import MachineProfile
from engine.explain.trace import TurnTrace
from engine.explain.verdict import verdict
from engine.paths import Paths

if TYPE_CHECKING:
    import argparse

    from engine.engine import Engine

_QUESTIONS = ("Why does a ship made of steel float?", "And why does it sink when water gets in?")


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything that the command found out.

    Attributes:
        info: Of the model.
        traces: Of each turn; never empty.
        profile: Of the machine.
        comparison: With and without the cache, if that was asked for.
    """

    info: ModelInfo
    traces: tuple[TurnTrace, ...]
    profile: MachineProfile | None
    comparison: Comparison | None


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat explain ARGS`; returns 0.

    Raises:
        EngineError: An argument is out of bounds, or the model cannot be had.
    """
    from engine.cli_models import ready_model
    from engine.engine import Engine

    options = _parser().parse_args(args)
    prompts = options.prompt or list(_QUESTIONS)
    if any(not prompt.strip() for prompt in prompts):
        raise BadRequest("The prompt is empty; write something first.")
    entry = ready_model(paths, options.model)
    engine = Engine(_config(options), paths.cache)
    info = engine.load(entry)
    try:
        found = _explained(engine, info, prompts, options)
    finally:
        engine.unload()
    print(_json(found) if options.json else report(found.info, found.traces, found.profile, found.comparison))
    return 0


def _parser() -> Parser:
    parser = Parser(prog="loquat explain", description="Answer a turn or two and say where the time went.")
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it")
    parser.add_argument("--prompt", action="append", default=[], help="a turn; give several for one conversation")
    parser.add_argument("--tokens", type=whole(1, 10_000), default=64, help="longest answer", metavar="N")
    parser.add_argument("--no-cache", action="store_true", help="also generate 32 tokens with the cache and without")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="how the weights are held")
    parser.add_argument("--kv-dtype", choices=KV_DTYPES, default="auto", help="how cached keys and values are held")
    parser.add_argument("--threads", type=whole(0, 1024), default=0, help="CPU threads; 0: one per core", metavar="N")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def _config(options: argparse.Namespace) -> EngineConfig:
    return EngineConfig(dtype=options.dtype, kv_dtype=options.kv_dtype, threads=options.threads, save_caches=False)


def _explained(engine: Engine, info: ModelInfo, prompts: Sequence[str], options: argparse.Namespace) -> Explained:
    messages: list[Message] = []
    traces = []
    for prompt in prompts:
        messages.append(Message("user", prompt))
        finished = _answer(engine, messages, options.tokens)
        messages.append(Message("assistant", finished.text, finished.token_ids))
        traces += [finished.trace] if finished.trace else []
    comparison = None
    if options.no_cache:
        comparison = _compared(engine.compare_cache(_request(messages[:-1], 1), RequestHandle("compare")))
    # Last, or the first turn would find everything warm.
    return Explained(info, tuple(traces), engine.profile(), comparison)


def _answer(engine: Engine, messages: Sequence[Message], tokens: int) -> Finished:
    *_, last = engine.stream(_request(messages, tokens))
    if not isinstance(last, Finished):
        raise AssertionError("an answer ends with Finished")
    return last


def _request(messages: Sequence[Message], tokens: int) -> ChatRequest:
    params = dataclasses.replace(GREEDY, max_tokens=tokens)
    return ChatRequest("explain", tuple(messages), params, "explain", datetime.date.today().isoformat())


def _compared(events: Iterator[CompareProgress | Compared]) -> Comparison:
    for event in events:
        if isinstance(event, Compared):
            return event.comparison
        if sys.stderr.isatty():
            which = "with" if event.cached else "without"
            print(f"\r{which} the cache: token {event.index + 1} of {event.total} ", end="", file=sys.stderr)
    raise AssertionError("the experiment ends with Compared")


def _json(found: Explained) -> str:
    last = found.traces[-1]
    left = turns_left(
        [trace.prompt_tokens + trace.generated_tokens for trace in found.traces], last.model.context_limit
    )
    whole_report = {
        "model": dataclasses.asdict(last.model),
        "turns": [_turn(trace, found.profile) for trace in found.traces],
        "memory": {**dataclasses.asdict(last.memory), "bar": dataclasses.asdict(triangle(last.memory))},
        "turns_left": dataclasses.asdict(left) if left else None,
        "profile": dataclasses.asdict(found.profile) if found.profile else None,
        "comparison": dataclasses.asdict(found.comparison) if found.comparison else None,
    }
    return json.dumps(whole_report, indent=2)  # in ASCII, which every encoding of a pipe can take


def _turn(trace: TurnTrace, profile: MachineProfile | None) -> dict[str, object]:
    return {
        "figures": dataclasses.asdict(figures(trace)),
        "bar": [dataclasses.asdict(share) for share in shares(trace.phases)],
        "unaccounted": unaccounted(trace),
        "verdict": dataclasses.asdict(verdict(trace, profile)),
        "trace": dataclasses.asdict(trace),
    }
