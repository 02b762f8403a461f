"""`loquat models draft`: which smaller model guesses ahead for a model."""

from __future__ import annotations

import argparse
from typing import Any

from engine.models.draft import set_draft
from engine.models.registry import Registry

_NONE = "none"


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the command of this group; it is called with the registry and its options, and returns the exit code."""
    draft = commands.add_parser("draft", help="choose a smaller model of the same tokenizer that guesses ahead")
    draft.add_argument("model", metavar="MODEL")
    draft.add_argument("draft", metavar="DRAFT", help=f"its name, or {_NONE}")
    draft.set_defaults(command=_draft)


def _draft(registry: Registry, options: argparse.Namespace) -> int:
    entry = registry.find(options.model)
    other = None if options.draft == _NONE else registry.find(options.draft)
    set_draft(entry, other)
    drafts = f"{other.label} drafts for {entry.label}" if other else f"{entry.label} has no draft model"
    print(f"{drafts}, the next time that it is loaded.")
    return 0
