"""`loquat models adapter`: the LoRA adapters of a model, added, switched on and off, and removed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.models.adapter_file import read_adapter
from engine.models.adapters import ADAPTERS, add_adapter, remove_adapter, switch_adapter
from engine.models.choices import read_choices
from engine.models.progress import megabytes
from engine.models.registry import ModelEntry, Registry

Do = Callable[[ModelEntry, argparse.Namespace], None]


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the command of this group; it is called with the registry and its options, and returns the exit code."""
    adapter = commands.add_parser("adapter", help="LoRA adapters of a model: add, list, on, off, remove")
    actions = adapter.add_subparsers(required=True, metavar="ACTION")
    add = _action(actions, "add", _add, "copy a peft folder beside the model, and switch it on")
    add.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that peft wrote the adapter to")
    add.add_argument("--name", help="how to call it; made from the folder's name if left out")
    for name, do, words in (
        ("on", _on, "merge it from the next load on"),
        ("off", _off, "leave it out from the next load on"),
        ("remove", _remove, "delete it"),
    ):
        _action(actions, name, do, words).add_argument("name", metavar="NAME")
    _action(actions, "list", _list, "show them").add_argument("--json", action="store_true", help="as a JSON list")


def _action(actions: Any, name: str, do: Do, words: str) -> argparse.ArgumentParser:  # noqa: ANN401
    parser: argparse.ArgumentParser = actions.add_parser(name, help=words)
    parser.add_argument("model", metavar="MODEL", help="the name of the model, as in: loquat models list")

    def run(registry: Registry, options: argparse.Namespace) -> int:
        do(registry.find(options.model), options)
        return 0

    parser.set_defaults(command=run)
    return parser


def _add(entry: ModelEntry, options: argparse.Namespace) -> None:
    added = add_adapter(entry.folder, options.folder, options.name)
    print(f"Added {added.name} to {entry.name}; it is merged the next time that the model is loaded.")


def _on(entry: ModelEntry, options: argparse.Namespace) -> None:
    switch_adapter(entry.folder, options.name, on=True)
    print(f"{options.name} is merged the next time that {entry.name} is loaded.")


def _off(entry: ModelEntry, options: argparse.Namespace) -> None:
    switch_adapter(entry.folder, options.name, on=False)
    print(f"{options.name} is left out the next time that {entry.name} is loaded.")


def _remove(entry: ModelEntry, options: argparse.Namespace) -> None:
    freed = remove_adapter(entry.folder, options.name)
    print(f"Removed {options.name}; {megabytes(freed)} are free again.")


def _list(entry: ModelEntry, options: argparse.Namespace) -> None:
    rows = [_about(entry, choice.name, choice.on) for choice in read_choices(entry.folder).adapters]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    if not rows:
        print(f"{entry.name} has no adapters; add one with: loquat models adapter add {entry.name} FOLDER")
    for row in rows:
        print(f"{'on ' if row['on'] else 'off'}  {row['name']}  {megabytes(row['nbytes'])}  {row['matrices']} matrices")


def _about(entry: ModelEntry, name: str, on: bool) -> dict[str, Any]:
    adapter = read_adapter(entry.folder / ADAPTERS / name)
    return {"name": name, "on": on, "nbytes": adapter.nbytes, "matrices": len(adapter.targets), "base": adapter.base}
