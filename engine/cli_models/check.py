"""`loquat models check`: what a model's chat template and tokenizer do, and Loquat's plain template for base models."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, Final

from engine.cli_models.lines import add_json, say, with_json
from engine.models.choices import read_choices, write_choices
from engine.models.files import os_errors
from engine.models.registry import ModelEntry, Registry
from engine.templates.checked import ModelCheck, write_check

FOUND_EXIT: Final = 1
_DESCRIPTION: Final = (
    "Tries a model's chat template and tokenizer with a few small conversations, and says what they do. The exit code "
    "is 0 if all is well, 1 if something was found from which chats suffer."
)


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the command of this group; it is called with the registry and its options, and returns the exit code."""
    check = commands.add_parser("check", help="try a model's chat template and tokenizer", description=_DESCRIPTION)
    check.add_argument("name", metavar="NAME", nargs="?", help="the default model if left out")
    template = check.add_mutually_exclusive_group()
    template.add_argument(
        "--use-plain-template",
        dest="plain",
        action="store_true",
        default=None,
        help="write chats with it in Loquat's plain form from now on: for base models, which have no chat template",
    )
    template.add_argument(
        "--use-own-template",
        dest="plain",
        action="store_false",
        default=None,
        help="go back to the model's own chat template",
    )
    add_json(check)
    check.set_defaults(command=with_json(_check))


def _check(registry: Registry, options: argparse.Namespace) -> int:
    from engine.templates.check import sentences  # it needs torch, which takes seconds

    entry = registry.find(options.name)
    found = check_entry(entry, plain=options.plain)
    told = sentences(found)
    if options.json:
        say({"event": "done", "name": entry.name, **dataclasses.asdict(found), "sentences": list(told)})
    else:
        print(f"{entry.name} ({entry.label})")
        for sentence in told:
            print(f"- {sentence}")
    return FOUND_EXIT if found.serious else 0


def check_entry(entry: ModelEntry, *, plain: bool | None = None) -> ModelCheck:
    """Check a model anew and keep what is found.

    Args:
        entry: Which one.
        plain: Whether its chats are written in the plain form from now on; None leaves that as it is. A model that is
            loaded goes on as it was until it is loaded again.

    Raises:
        BadModelFile: Its tokenizer cannot be read or does not belong to its weights.
        EngineError: The disk refused.
    """
    from engine.templates.check import check_model  # it needs torch, which takes seconds

    with os_errors(f"keep what was found out about {entry.name}", entry.folder):
        if plain is not None:
            write_choices(entry.folder, dataclasses.replace(read_choices(entry.folder), plain_template=plain))
        found = check_model(entry.folder)
        write_check(entry.folder, found)
    return found
