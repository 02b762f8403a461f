"""`loquat verify`: proves on this machine that kept caches change no answer."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Generator

from engine.cli_args import Parser, whole
from engine.config import DTYPES, EngineConfig
from engine.paths import Paths
from engine.verify import Proof, TurnProof, verify

DIFFERS = 1


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat verify ARGS`; returns 0 when all answers were equal, else 1.

    Raises:
        EngineError: An argument is out of bounds, or the model cannot be had.
    """
    from engine.cli_models import ready_model
    from engine.engine import Engine

    options = _parser().parse_args(args)
    entry = ready_model(paths, options.model)
    engine = Engine(EngineConfig(dtype=options.dtype, threads=options.threads, save_caches=False), paths.cache)
    engine.load(entry)
    try:
        proof = _watch(verify(engine, reply_tokens=options.tokens), quiet=options.json)
    finally:
        engine.unload()
    print(_json(proof, entry.name) if options.json else proof.sentence)
    return 0 if proof.equal else DIFFERS


def _parser() -> Parser:
    parser = Parser(prog="loquat verify", description="Answer a conversation with kept caches and without.")
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it")
    parser.add_argument("--tokens", type=whole(1, 10_000), default=48, help="longest answer", metavar="N")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="how the weights are held")
    parser.add_argument("--threads", type=whole(0, 1024), default=0, help="CPU threads; 0: one per core", metavar="N")
    parser.add_argument("--json", action="store_true", help="one JSON object, times in seconds")
    return parser


def _watch(steps: Generator[TurnProof, None, Proof], quiet: bool) -> Proof:
    """Run to the end, a line a turn."""
    while True:
        try:
            turn = next(steps)
        except StopIteration as end:
            proof: Proof = end.value
            return proof
        if not quiet:
            print(_line(turn), flush=True)


def _line(turn: TurnProof) -> str:
    verdict = "equal" if turn.equal else f"differs from token {turn.first_difference} on"
    prompt = f"{turn.prompt_tokens:,} tokens, {turn.cached_tokens:,} of them kept"
    ttft = f"first token after {1000 * turn.kept_ttft_s:,.0f} ms, without {1000 * turn.fresh_ttft_s:,.0f} ms"
    return f"turn {turn.turn}: {verdict}; {prompt}; {ttft}"


def _json(proof: Proof, model: str) -> str:
    turns = [{**dataclasses.asdict(turn), "equal": turn.equal} for turn in proof.turns]
    figures = {"equal": proof.equal, "kept_s": proof.kept_s, "fresh_s": proof.fresh_s, "turns": turns}
    return json.dumps({"model": model, **figures}, indent=2)
