"""This machine, as the commands of `loquat models` that foretell something look at it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from engine.cli_args import size
from engine.paths import default_paths

if TYPE_CHECKING:
    from engine.models.fit import Here


def add_freed(parser: argparse.ArgumentParser) -> None:
    """Let a window say how much memory its loaded model will give back; nobody else has to know of it."""
    parser.add_argument("--freed", type=size, default=0, metavar="SIZE", help=argparse.SUPPRESS)


def here(options: argparse.Namespace) -> Here:
    """This machine; a person is told before it is measured, a program that reads objects is not."""
    # Imported here: it asks torch, which takes seconds.
    from engine.models.here import look_here

    return look_here(default_paths().cache, freed=options.freed, tell=None if options.json else _tell)


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
