"""`loquat models search|show|get|downloads|forget|token`: models from a hub. Of these only some go online."""

from __future__ import annotations

import argparse
import getpass
import shlex
import sys
from typing import Any

from engine.cli_models.here import add_freed, here
from engine.cli_models.lines import add_json, follow, pausable, say, with_json
from engine.cli_models.offers import (
    download_object,
    found_offer,
    found_rows,
    repository_offer,
    repository_text,
    table,
)
from engine.cli_models.shown import count
from engine.errors import ModelNotFound
from engine.formats import WEIGHTS
from engine.hub.client import Hub
from engine.hub.get import beginning, get
from engine.hub.plan import Downloads, Unfinished
from engine.hub.reference import reference
from engine.hub.selection import choose, variants
from engine.hub.token import Tokens
from engine.hub.values import HubFailure
from engine.hub.wanted import Wanted
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL, find
from engine.models.files import os_errors
from engine.models.fit import disk_bytes
from engine.models.prepare import prepare
from engine.models.progress import megabytes
from engine.models.registry import ModelEntry, Registry
from engine.own_command import is_frozen

_HITS = 50


def register(commands: Any) -> None:  # noqa: ANN401 - argparse's own type of it is private
    """Add the commands of this group; each is called with the registry and its options, and returns the exit code."""
    search = commands.add_parser("search", help="look for models on the hub")
    search.add_argument("text", metavar="TEXT", help="what the name of the model holds, such as: qwen coder")
    add_freed(search)
    _is(search, _search)
    show = commands.add_parser("show", help="show what there is of a model on the hub")
    show.add_argument("repository", metavar="OWNER/NAME", help="a repository on the hub")
    show.add_argument("--revision", default="", help="a branch, tag or commit")
    add_freed(show)
    _is(show, _show)
    _register_get(commands)
    _is(commands.add_parser("downloads", help="show downloads that have not ended"), _downloads)
    forget = commands.add_parser("forget", help="drop a download that has not ended")
    forget.add_argument("name", metavar="NAME_OR_REPOSITORY")
    _is(forget, _forget)
    token = commands.add_parser("token", help="keep an access token for the hub in the system's keyring")
    token.add_argument("--forget", action="store_true", help="drop it")
    _is(token, _token)


def _register_get(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = commands.add_parser("get", help="download a model, or go on with that")
    parser.add_argument(
        "reference",
        metavar="NAME|OWNER/NAME[:FILE]",
        help="a name in the catalogue, or a repository on the hub, with a GGUF file or a quantisation such as Q4_K_M",
    )
    parser.add_argument("--name", default="", help="how to call it; made from the model's own name if left out")
    parser.add_argument("--revision", default="", help="a branch, tag or commit of the repository")
    parser.add_argument("--weights", choices=WEIGHTS, default="", help="how to hold its weights; else what suits")
    parser.add_argument("--for", dest="base", default="", metavar="MODEL", help="add an adapter to this model")
    parser.add_argument("--accept-licence", action="store_true", help="you read the licence and accept it")
    _is(parser, _get)


def _is(parser: argparse.ArgumentParser, command: Any) -> None:  # noqa: ANN401 - a function of this module
    add_json(parser)
    parser.set_defaults(command=with_json(command))


def _search(registry: Registry, options: argparse.Namespace) -> int:
    with pausable("Cancelled.") as handle, Hub() as hub:
        hits = follow(hub.search(options.text, _HITS, handle), options)
        machine = here(options)
        if options.json:
            say({"models": [found_offer(hit, hub.page(hit.id), machine) for hit in hits]})
        else:
            print(
                table(found_rows(hits, machine))
                if hits
                else f"The hub has no model for chat with {options.text} in its name."
            )
    return 0


def _show(registry: Registry, options: argparse.Namespace) -> int:
    wanted = reference(options.repository, options.revision)
    with pausable("Cancelled.") as handle, Hub() as hub:
        repository = follow(hub.repository(wanted, handle), options)
        page = hub.page(repository.id)
    found, machine = variants(repository), here(options)
    if not options.json:
        print(repository_text(repository, page, choose(repository, wanted.wish), found, machine))
        return 0
    try:
        chosen = choose(repository, wanted.wish)
    except HubFailure as failure:
        say({"models": [{**repository_offer(repository, page, None, found, machine), "problem": failure.sentence}]})
    else:
        say({"models": [repository_offer(repository, page, chosen, found, machine)]})
    return 0


def _get(registry: Registry, options: argparse.Namespace) -> int:
    with pausable(f"Paused; it goes on with: {_again(options)}") as handle:
        if _comes_by_pip(options):
            _tell_size(registry, options)
            entry = follow(prepare(registry, DEFAULT_MODEL.name, handle), options)
        else:
            wanted = Wanted(
                options.reference,
                options.name,
                options.revision,
                options.weights,
                options.accept_licence,
                options.base,
            )
            entry = follow(get(registry, Hub, wanted, handle), options)
    _told(entry, options)
    return 0


def _again(options: argparse.Namespace) -> str:
    """The same command once more, as it is typed; it may have been ended before anything of it was noted."""
    given = (
        *(("--name", options.name), ("--revision", options.revision)),
        *(("--weights", options.weights), ("--for", options.base)),
    )
    wishes = [word for name, value in given if value for word in (name, value)]
    accepted = ["--accept-licence"] if options.accept_licence else []
    return shlex.join(["loquat", "models", "get", options.reference, *wishes, *accepted])


def _tell_size(registry: Registry, options: argparse.Namespace) -> None:
    """Say what the default model takes, before pip gets it; of others the hub has to be asked."""
    entry = find(DEFAULT_MODEL.name)
    here_already = bundled_file(DEFAULT_MODEL) is not None or (registry.models_dir / DEFAULT_MODEL.name).exists()
    if options.json or here_already or entry is None:
        return
    disk = disk_bytes(entry.parameters, DEFAULT_MODEL.nbytes, "")
    print(beginning(entry.label, DEFAULT_MODEL.nbytes, disk, entry.licence.id), file=sys.stderr)


def _comes_by_pip(options: argparse.Namespace) -> bool:
    """Whether it is the default model as it is, which comes with the program, or from the package index by pip."""
    plain = not (options.revision or options.weights) and options.name in ("", DEFAULT_MODEL.name)
    can = not is_frozen() or bundled_file(DEFAULT_MODEL) is not None  # an installed program has no pip
    return options.reference == DEFAULT_MODEL.name and plain and can


def _told(entry: ModelEntry, options: argparse.Namespace) -> None:
    if options.json:
        about = {"name": entry.name, "label": entry.label, "nbytes": entry.nbytes, "parameters": entry.parameters}
        say({"event": "done", **about, "origin": entry.origin, "licence": entry.licence})
        return
    licence = f", licence {entry.licence}" if entry.licence else ""
    print(f"{entry.name} is here ({entry.label}, {count(entry.parameters)}, {megabytes(entry.nbytes)}{licence}).")


def _downloads(registry: Registry, options: argparse.Namespace) -> int:
    begun = Downloads(registry.models_dir).entries()
    if options.json:
        say({"downloads": [download_object(each, _called(each)) for each in begun]})
    elif not begun:
        print("No download is unfinished.")
    else:
        rows = [(_called(each), megabytes(each.done), "of " + megabytes(each.plan.nbytes)) for each in begun]
        print(table([("NAME", "HERE", ""), *rows]))
    return 0


def _called(begun: Unfinished) -> str:
    """What `get` takes to go on with it."""
    plan = begun.plan
    return plan.name if find(plan.name) is not None else str(plan.reference)


def _forget(registry: Registry, options: argparse.Namespace) -> int:
    downloads = Downloads(registry.models_dir)
    matching = downloads.matching(options.name)
    if not matching:
        raise ModelNotFound(f"No unfinished download is called {options.name}; see: loquat models downloads")
    for each in matching:
        with os_errors(f"drop {each.plan.label}", registry.models_dir), downloads.alone(each.plan.reference):
            downloads.drop(each.folder)
    if options.json:
        say({"event": "done", "name": options.name})
    else:
        print(f"Dropped what was here of {options.name}.")
    return 0


def _token(registry: Registry, options: argparse.Namespace) -> int:
    if options.forget:
        if not Tokens().forget():
            raise HubFailure(
                "token", "The system keyring does not let go of the access token; unlock it and try again."
            )
        sentence = "The access token is dropped."
    else:
        typed = getpass.getpass("Access token: ") if sys.stdin.isatty() else sys.stdin.readline()
        if not typed.strip():
            raise HubFailure("token", "No access token was given; copy one from your account's settings on the hub.")
        if Tokens().keep(typed):
            raise HubFailure("token", "There is no system keyring here; set HF_TOKEN in the environment instead.")
        sentence = "The access token is kept in the system's keyring."
    if options.json:
        say({"event": "done", "sentence": sentence})
    else:
        print(sentence)
    return 0
