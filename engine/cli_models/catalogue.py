"""`loquat models catalogue`: the models that Loquat offers, with what each would take and do on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from engine.cli_models.here import add_freed, here
from engine.cli_models.offers import fitted, speed, table, verdict
from engine.cli_models.shown import count
from engine.models.catalogue import catalogue
from engine.models.progress import megabytes
from engine.models.registry import Registry

if TYPE_CHECKING:
    from engine.models.rows import CatalogueRow

_LEAST_NEEDED: Final = ("GOOD AT", "LICENCE", "PARAMETERS", "DISK", "DOWNLOAD", "SPEED")


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the command."""
    parser = commands.add_parser("catalogue", help="show the models that Loquat offers, and what fits on this machine")
    parser.add_argument("--json", action="store_true", help="as one JSON object, with all that is known")
    add_freed(parser)
    parser.set_defaults(command=_catalogue)


def _catalogue(registry: Registry, options: argparse.Namespace) -> int:
    from engine.models.rows import rows

    found = rows(catalogue(), here(options), (entry.name for entry in registry.entries()))
    if options.json:
        print(json.dumps({"models": [dataclasses.asdict(row) for row in found]}))
        return 0
    head = ("", "NAME", "PARAMETERS", "DOWNLOAD", "DISK", "ON THIS MACHINE", "SPEED", "LICENCE", "GOOD AT")
    shown: Sequence[Sequence[str]] = [head, *map(_row, found)]
    if sys.stdout.isatty():
        shown = fitted(shown, shutil.get_terminal_size().columns, _LEAST_NEEDED)
    print(table(shown))
    return 0


def _row(row: CatalogueRow) -> tuple[str, ...]:
    first = row.sources[0]
    licence = f"{row.licence} *" if row.accept else row.licence
    mark = "=" if row.installed else ""
    download, disk, said = megabytes(first.nbytes), megabytes(first.disk), verdict(first.fit)
    return mark, row.name, count(row.parameters), download, disk, said, speed(first.fit), licence, row.good_at
