"""`loquat models catalogue`: the models that Loquat offers, with what each would take and do on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from engine.cli_args import size
from engine.cli_models.offers import speed, table, verdict
from engine.cli_models.shown import count
from engine.models.catalogue import catalogue
from engine.models.progress import megabytes
from engine.models.registry import Registry
from engine.paths import default_paths

if TYPE_CHECKING:
    from engine.models.rows import CatalogueRow


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the command."""
    parser = commands.add_parser("catalogue", help="show the models that Loquat offers, and what fits on this machine")
    parser.add_argument("--json", action="store_true", help="as one JSON object, with all that is known")
    parser.add_argument(
        "--freed", type=size, default=0, metavar="SIZE", help="memory that a model which is loaded now will give back"
    )
    parser.set_defaults(command=_catalogue)


def _catalogue(registry: Registry, options: argparse.Namespace) -> int:
    from engine.models.here import look_here
    from engine.models.rows import rows

    here = look_here(default_paths().cache, freed=options.freed)
    found = rows(catalogue(), here, (entry.name for entry in registry.entries()))
    if options.json:
        print(json.dumps({"models": [dataclasses.asdict(row) for row in found]}))
        return 0
    head = ("", "NAME", "PARAMETERS", "DOWNLOAD", "ON THIS MACHINE", "SPEED", "LICENCE", "GOOD AT")
    print(table([head, *map(_row, found)]))
    return 0


def _row(row: CatalogueRow) -> tuple[str, ...]:
    first = row.sources[0]
    licence = f"{row.licence} *" if row.accept else row.licence
    mark = "=" if row.installed else ""
    size_, said = megabytes(first.nbytes), verdict(first.fit)
    return mark, row.name, count(row.parameters), size_, said, speed(first.fit), licence, row.good_at
