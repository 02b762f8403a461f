"""`loquat models`: the models on this machine, and how they come here. One group of commands a module."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from engine.chat import RequestHandle
from engine.cli_models import adapters, catalogue, check, draft, hub, local
from engine.cli_models.shown import finish
from engine.errors import EngineError
from engine.models.prepare import prepare
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from engine.remote.servers import model_names

ERROR_EXIT = 2
_GROUPS = (local, catalogue, hub, check, adapters, draft)


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat models ARGS`.

    Returns:
        The exit code: 0, or 2 with one sentence on standard error.
    """
    options = _parser().parse_args(args)
    try:
        return int(options.command(registry_of(paths), options))
    except EngineError as error:
        print(error.sentence, file=sys.stderr)
        return ERROR_EXIT


def ready_model(paths: Paths, name: str | None) -> ModelEntry:
    """The model of that name (None: the default one), fetched and imported first if need be.

    Raises:
        EngineError: There is none of that name, or it cannot be had.
    """
    return finish(prepare(registry_of(paths), name, RequestHandle("ready")), sys.stderr)


def registry_of(paths: Paths) -> Registry:
    """The models on this machine; it also knows the names of those on the person's servers."""
    return Registry(paths.models, partial(model_names, paths.config))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loquat models", description="The models on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for group in _GROUPS:
        group.register(commands)
    return parser
