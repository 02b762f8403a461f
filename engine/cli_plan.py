"""`loquat plan`: what a model takes in memory, and how many conversations of what length fit beside it."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING

from engine.cli_args import Parser, size, whole, within_bounds
from engine.config import DEVICES, DTYPES, KV_DTYPES, EngineConfig
from engine.errors import BadRequest
from engine.formats import Choosy, Format, choose_format, choose_kv_dtype
from engine.memory import Footprint, MemoryPlan, largest_that_fits, plan, refusal
from engine.paths import Paths
from engine.units import binary

if TYPE_CHECKING:
    import argparse

DOES_NOT_FIT = 1
_MOST_CONVERSATIONS = 1_000_000


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat plan ARGS`; returns 0, or 1 when what was asked for does not fit.

    Raises:
        EngineError: An argument is out of bounds, or the model is not there.
    """
    from engine.budget import limits_of
    from engine.machine import measure_machine, stated_machine

    options = _parser().parse_args(args)
    config = _config(options)
    footprint, held = _footprint(paths, options, config)
    _check_context(options.context, footprint)
    machine = stated_machine(held.device, options.memory) if options.memory else measure_machine(held.device)
    limits = limits_of(config)
    wanted = plan(footprint, machine, context=options.context, conversations=options.conversations, limits=limits)
    print(_json(wanted) if options.json else _text(wanted, footprint, held, config.kv_dtype))
    if wanted.fits:
        return 0
    print(refusal(wanted, largest_that_fits(footprint, machine, wanted, limits)), file=sys.stderr)
    return DOES_NOT_FIT


def _footprint(paths: Paths, options: argparse.Namespace, config: EngineConfig) -> tuple[Footprint, Format]:
    """What a model takes and how it is held: of one that is here as its files say, else as the catalogue foretells."""
    from engine.budget import footprint_of, runnable
    from engine.models.catalogue import find
    from engine.models.fit import Held
    from engine.models.foretold import file_type, foretold_shape
    from engine.models.registry import Registry

    stated, registry = options.memory is not None, Registry(paths.models)
    offered = find(options.model or "")
    if offered is not None and offered.name not in [entry.name for entry in registry.entries()]:
        held = _format(config, Held("", offered.parameters), stated=stated)
        shape = foretold_shape(offered.config, file_type(offered.file))
        dtype, _ = choose_kv_dtype("kernels" if held.path == "kernels" else "torch", held.compute, config.kv_dtype)
        return shape.footprint(offered.label, held, config.prefill_chunk, dtype), held
    entry = registry.find(options.model)
    held = runnable(entry, _format(config, entry, stated=stated))
    return footprint_of(entry, held, config.prefill_chunk, config.kv_dtype), held


def _parser() -> Parser:
    parser = Parser(prog="loquat plan", description="What fits in memory beside a model.")
    parser.add_argument("--model", help="name of a model, as `loquat models list` or `catalogue` shows it")
    parser.add_argument("--context", type=whole(1, 100_000_000), help="tokens of each conversation", metavar="N")
    parser.add_argument(
        "--conversations", type=whole(1, _MOST_CONVERSATIONS), default=1, help="how many to keep", metavar="N"
    )
    parser.add_argument("--kv-dtype", choices=KV_DTYPES, default="auto", help="how cached keys and values are held")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="how the weights are held")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="where the model runs")
    parser.add_argument("--memory", type=size, help="of another machine, for example 24GiB", metavar="SIZE")
    parser.add_argument("--utilization", type=float, help="share of the memory that Loquat may take", metavar="SHARE")
    parser.add_argument("--json", action="store_true", help="as one JSON object, in bytes and tokens")
    return parser


def _config(options: argparse.Namespace) -> EngineConfig:
    with within_bounds():
        return EngineConfig(
            device=options.device,
            dtype=options.dtype,
            kv_dtype=options.kv_dtype,
            memory_utilization=options.utilization,
            save_caches=False,
        )


def _format(config: EngineConfig, model: Choosy, stated: bool) -> Format:
    """How weights are held; a machine that is only spoken of may have a device that this one lacks."""
    if stated and config.device != "auto":
        return choose_format(config.device, config.dtype, model=model)[0]
    from engine.device import choose_device

    return choose_device(config, model).format


def _check_context(context: int | None, footprint: Footprint) -> None:
    if context is not None and context > footprint.context_limit:
        raise BadRequest(
            f"{footprint.label} holds at most {footprint.context_limit:,} tokens; a context of {context:,} is too long."
        )


def _json(wanted: MemoryPlan) -> str:
    figures = dataclasses.asdict(wanted)
    figures["workspace"]["total"] = wanted.workspace.total
    derived = {"conversations_that_fit": wanted.conversations_that_fit, "left": wanted.left, "fits": wanted.fits}
    return json.dumps({**figures, **derived}, indent=2)


def _text(wanted: MemoryPlan, footprint: Footprint, held: Format, kv_dtype: str) -> str:
    """The triangle for people; every byte count also in full."""
    work = wanted.workspace
    parts = f"program {binary(work.runtime)}, prefill chunk {binary(work.activations)}, logits {binary(work.logits)}"
    row = f"{footprint.kv_rows} rows of {footprint.head_dim} in {wanted.kv_dtype}"
    if kv_dtype not in ("auto", wanted.kv_dtype):
        row += f", as {held.words} have none in {kv_dtype}"
    own = "all that the model can hold" if wanted.longest_context == footprint.context_limit else "of one conversation"
    rows = [
        ("  allowed", wanted.allowed, wanted.reason),
        ("- weights", wanted.weights, ""),
        ("- workspace", work.total, parts),
        ("= KV caches", wanted.caches, ""),
        ("", None, ""),
        ("  one token", wanted.kv_bytes_per_token, row),
    ]
    counts = [
        ("longest context", f"{wanted.longest_context:,} tokens", own),
        (f"conversations of {wanted.context:,} tokens", f"{wanted.conversations_that_fit:,} fit", _asked(wanted)),
    ]
    lines = [f"{wanted.model}, {held.words}, on {held.device} with {binary(wanted.total)}", ""]
    lines += [_row(*line) for line in rows]
    lines += [f"  {name}: {value}{f' ({note})' if note else ''}" for name, value, note in counts]
    return "\n".join(lines)


def _row(name: str, nbytes: int | None, note: str) -> str:
    if nbytes is None:
        return ""
    return f"{name:<14}{binary(nbytes):>10}  {nbytes:>18,} B  {note}".rstrip()


def _asked(wanted: MemoryPlan) -> str:
    if not wanted.fits:
        return f"{wanted.conversations:,} asked for, {binary(-wanted.left)} too much"
    return f"{wanted.conversations:,} asked for, {binary(wanted.left)} left"
