"""`loquat doctor`: what this machine and this installation are, and what is wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, Final

import psutil

from engine.cli_args import Parser
from engine.cuda_pack import read_source, unpacked_version
from engine.doctor import chats, children, compute, libraries, places, program
from engine.doctor.report import Part, as_json, as_text, is_well, without_home
from engine.kernels.cache_folder import kept, kernels_root
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.registry import Registry
from engine.nvidia import nvidia_cards, nvidia_driver
from engine.paths import Paths, portable_folder

WRONG: Final = 1
_LOOKS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "libraries": libraries.look_at_libraries,
    "device": compute.look_at_device,
    "keyring": places.look_at_keyring,
}


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat doctor ARGS`; returns 0 if nothing is wrong, else 1.

    Raises:
        EngineError: The command line is wrong.
    """
    options = _parser().parse_args(args)
    if options.look_at:
        children.answer(options.look_at, _LOOKS)
        return 0
    parts = examine(paths)
    print(without_home(as_json(parts) if options.json else as_text(parts), Path.home()))
    return 0 if is_well(parts) else WRONG


def examine(paths: Paths) -> tuple[Part, ...]:
    """Look at everything; seconds, since torch is imported in a child process."""
    found = children.look(tuple(_LOOKS))
    how = program.installation()
    models = _models(paths)
    memory = psutil.virtual_memory()
    return (
        program.program_part(how),
        libraries.libraries_part(found["libraries"], how),
        compute.device_part(
            found["device"], nvidia_cards(), nvidia_driver(), _compiled(paths), fetchable=_fetchable(paths)
        ),
        compute.memory_part(int(memory.total), int(memory.available)),
        places.places_part(places.look_at_places(paths), has_model=models.values["count"] > 0),
        chats.chats_part(chats.schema_version(paths.database)),
        models,
        places.keyring_part(found["keyring"], portable_folder() is not None),
    )


def _compiled(paths: Paths) -> bool:
    """Whether the kernels of this version are kept on the disk."""
    try:
        return kept(kernels_root(paths.cache))
    except PackageNotFoundError:  # Numba itself is missing, which is told
        return False


def _fetchable(paths: Paths) -> bool:
    """Whether torch for NVIDIA GPUs can be had for this installation, and is not there yet."""
    source = read_source()
    return source is not None and unpacked_version(paths) != source.version


def _models(paths: Paths) -> Part:
    registry = Registry(paths.models)
    entries = registry.entries()
    bundled = bundled_file(DEFAULT_MODEL) is not None
    return places.models_part(len(entries), sum(entry.nbytes for entry in entries), registry.newer(), bundled)


def _parser() -> Parser:
    parser = Parser(prog="loquat doctor", description="What this machine and this installation are, and what is wrong.")
    parser.add_argument("--json", action="store_true", help="as one JSON object; nothing private is in it")
    parser.add_argument(children.OPTION, choices=_LOOKS, help=argparse.SUPPRESS)
    return parser
