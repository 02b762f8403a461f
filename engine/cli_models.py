"""`loquat models`: list, add, remove and choose models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from engine.chat import RequestHandle
from engine.errors import EngineError
from engine.models.prepare import prepare
from engine.models.progress import Step, megabytes
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from engine.remote.servers import model_names

ERROR_EXIT: Final = 2


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat models ARGS`.

    Returns:
        The exit code: 0, or 2 with one sentence on standard error.
    """
    options = _parser().parse_args(args)
    try:
        return int(options.command(_registry(paths), options))
    except EngineError as error:
        print(error.sentence, file=sys.stderr)
        return ERROR_EXIT


def ready_model(paths: Paths, name: str | None) -> ModelEntry:
    """The model of that name (None: the default one), fetched and imported first if need be.

    Raises:
        EngineError: There is none of that name, or it cannot be had.
    """
    return _finish(prepare(_registry(paths), name, RequestHandle("ready")), sys.stderr)


def _registry(paths: Paths) -> Registry:
    return Registry(paths.models, partial(model_names, paths.config))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loquat models", description="The models on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("list", help="show them").set_defaults(command=_list)
    add = commands.add_parser("add", help="import a GGUF file, or a Hugging Face folder with safetensors")
    add.add_argument("source", metavar="FILE_OR_FOLDER", type=Path)
    add.add_argument("--name", help="how to call it; made from the file's name if left out")
    add.set_defaults(command=_add)
    remove = commands.add_parser("remove", help="delete one")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(command=_remove)
    default = commands.add_parser("default", help="choose the one that is loaded when none is named")
    default.add_argument("name", metavar="NAME")
    default.set_defaults(command=_default)
    return parser


def _list(registry: Registry, options: argparse.Namespace) -> int:
    entries, elsewhere = registry.entries(), registry.elsewhere()
    if not entries and not elsewhere:
        print("No models yet; the first chat fetches one, or: loquat models add FILE_OR_FOLDER")
        return 0
    rows = [("", "NAME", "PARAMETERS", "ON DISK", "ARCHITECTURE", "LABEL"), *map(_row, entries)]
    rows += [("", name, "-", "-", "-", "on a server") for name in elsewhere]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _row(entry: ModelEntry) -> tuple[str, ...]:
    mark = "*" if entry.default else ""
    return mark, entry.name, _count(entry.parameters), megabytes(entry.nbytes), entry.architecture, entry.label


def _count(parameters: int) -> str:
    """Parameters for people: "135 M", "1.5 B"."""
    return f"{parameters / 1e9:.1f} B" if parameters >= 1e9 else f"{parameters / 1e6:.0f} M"


def _add(registry: Registry, options: argparse.Namespace) -> int:
    entry = _finish(registry.add(options.source, RequestHandle("models-add"), options.name), sys.stderr)
    print(f"Added {entry.name} ({entry.label}, {_count(entry.parameters)}, {megabytes(entry.nbytes)}).")
    return 0


def _remove(registry: Registry, options: argparse.Namespace) -> int:
    freed = registry.remove(options.name)
    print(f"Removed {options.name}; {megabytes(freed)} are free again.")
    return 0


def _default(registry: Registry, options: argparse.Namespace) -> int:
    registry.set_default(options.name)
    print(f"{options.name} is loaded from now on when no model is named.")
    return 0


def _finish(steps: Generator[Step, None, ModelEntry], out: TextIO) -> ModelEntry:
    """Run to the end; one line that changes on a terminal, one line per kind of step elsewhere."""
    terminal = out.isatty()
    last = ""
    while True:
        try:
            step = next(steps)
        except StopIteration as stop:
            print(end="\r\033[K" if terminal else "", file=out)
            entry: ModelEntry = stop.value
            return entry
        kind = step.sentence.partition(":")[0]
        if terminal:
            print(f"\r\033[K{step.sentence}", end="", file=out, flush=True)
        elif kind != last:
            print(kind, file=out)
        last = kind
