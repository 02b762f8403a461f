"""`loquat models list|add|rename|remove|default`: what is on this machine."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.cli_models.lines import add_json, follow, pausable, say, with_json
from engine.cli_models.offers import table
from engine.cli_models.shown import count
from engine.formats import WEIGHTS
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.files import folder_bytes
from engine.models.listing import listed
from engine.models.progress import megabytes
from engine.models.quality import read_quality
from engine.models.registry import ModelEntry, Registry


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the commands of this group; each is called with the registry and its options, and returns the exit code."""
    show = commands.add_parser("list", help="show them")
    add_json(show)
    show.set_defaults(command=_list)
    add = commands.add_parser("add", help="import a GGUF file, or a Hugging Face folder with safetensors")
    add.add_argument("source", metavar="FILE_OR_FOLDER", type=Path, help="the GGUF file, or the folder of the model")
    add.add_argument("--name", help="how to call it; made from the file's name if left out")
    add.add_argument("--weights", choices=WEIGHTS, default="", help="how to hold its weights; else what suits")
    add_json(add)
    add.set_defaults(command=with_json(_add))
    rename = commands.add_parser("rename", help="call one something else where people read it")
    rename.add_argument("name", metavar="NAME")
    rename.add_argument("label", metavar="NEW_LABEL", help='"" goes back to what it is called by itself')
    rename.set_defaults(command=_rename)
    remove = commands.add_parser("remove", help="delete one")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(command=_remove)
    default = commands.add_parser("default", help="choose the one that is loaded when none is named")
    default.add_argument("name", metavar="NAME")
    default.set_defaults(command=_default)


def _list(registry: Registry, options: argparse.Namespace) -> int:
    entries, elsewhere = registry.entries(), registry.elsewhere()
    if options.json:
        say({"models": [asdict(model) for model in listed(entries)], "elsewhere": list(elsewhere)})
        return 0
    if not entries and not elsewhere:
        print(f"No models yet; {_first()}, or: loquat models add FILE_OR_FOLDER")
        return 0
    rows = [("", "NAME", "PARAMETERS", "ON DISK", "ARCHITECTURE", "LABEL"), *map(_row, entries)]
    rows += [("", name, "-", "-", "-", "on a server") for name in elsewhere]
    print(table(rows))
    return 0


def _first() -> str:
    """Where the first model comes from."""
    if bundled_file(DEFAULT_MODEL) is None:
        return "the first chat fetches one"
    return f"{DEFAULT_MODEL.label} came with Loquat and is set up by the first chat, without a network"


def _row(entry: ModelEntry) -> tuple[str, ...]:
    mark, label = "*" if entry.default else "", f"{entry.label}{_beside(entry)}"
    return mark, entry.name, count(entry.parameters), megabytes(entry.nbytes), entry.architecture, label


def _beside(entry: ModelEntry) -> str:
    """What is loaded with it: its adapters, and what drafts for it."""
    adapters = ", ".join(one.name if one.on else f"{one.name} (off)" for one in entry.choices.adapters)
    draft = f"; drafts by {entry.choices.draft}" if entry.choices.draft else ""
    return f"{f' + {adapters}' if adapters else ''}{draft}"


def _add(registry: Registry, options: argparse.Namespace) -> int:
    held = {entry.name for entry in registry.entries()}
    with pausable("Cancelled.") as handle:
        entry = follow(registry.add(options.source, handle, options.name, weights=options.weights), options)
    quality, already = read_quality(entry.folder), entry.name in held
    if options.json:
        noted: dict[str, Any] = {"quality": asdict(quality)} if quality else {}
        noted |= {"already": True} if already else {}
        say({"event": "done", "name": entry.name, "label": entry.label, "nbytes": entry.nbytes, **noted})
        return 0
    if already:
        print(f"This is {entry.name} ({entry.label}), which is here already.")
        return 0
    print(f"Added {entry.name} ({entry.label}, {count(entry.parameters)}, {megabytes(entry.nbytes)}).")
    if quality:
        print(quality.sentence)
    return 0


def _rename(registry: Registry, options: argparse.Namespace) -> int:
    registry.rename(options.name, options.label)
    print(f"{options.name} is called {registry.find(options.name).label} from now on.")
    return 0


def _remove(registry: Registry, options: argparse.Namespace) -> int:
    took = folder_bytes(registry.find(options.name).folder)
    freed = registry.remove(options.name)
    print(f"Removed {options.name}; {_free_again(freed, took)}")
    return 0


def _free_again(freed: int, took: int) -> str:
    """What the disk has back: files that were linked from the folder that a model came from are still held there."""
    if freed == took:
        return f"{megabytes(freed)} are free again."
    return f"{megabytes(freed)} of its {megabytes(took)} are free again; the rest is held elsewhere on this disk too."


def _default(registry: Registry, options: argparse.Namespace) -> int:
    registry.set_default(options.name)
    print(f"{options.name} is loaded from now on when no model is named.")
    return 0
