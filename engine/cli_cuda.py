"""`loquat cuda`: torch for NVIDIA GPUs, for a program that was installed for them: install, remove, status."""

from __future__ import annotations

import argparse

from engine.chat import RequestHandle
from engine.cli_args import Parser
from engine.cli_models.lines import add_json, follow, kind_of, say
from engine.cuda_pack import CudaSource, read_source, unpacked_version
from engine.errors import BadRequest, EngineError
from engine.models.progress import megabytes
from engine.paths import Paths


def run(args: list[str], paths: Paths) -> int:
    """Run `loquat cuda ARGS`.

    Returns:
        The exit code: 0, or with `--json` 2 after an error that was told as a line.

    Raises:
        EngineError: It cannot be done.
    """
    options = _parser().parse_args(args)
    try:
        {"install": _install, "remove": _remove, "status": _status}[options.action](paths, options)
    except EngineError as error:
        if not options.json:
            raise
        say({"event": "failed", "kind": kind_of(error), "sentence": error.sentence, "detail": error.detail})
        return 2
    return 0


def _parser() -> Parser:
    parser = Parser(prog="loquat cuda", description="torch for NVIDIA GPUs, beside the program's own.")
    parser.add_argument("action", choices=("install", "remove", "status"))
    add_json(parser)
    return parser


def _source() -> CudaSource:
    source = read_source()
    if source is None:
        raise BadRequest("This build of Loquat is for CPUs alone; get the one for NVIDIA GPUs to use a GPU.")
    return source


def _install(paths: Paths, options: argparse.Namespace) -> None:
    from engine.cuda_download import install  # noqa: PLC0415 - its network library is for this action alone

    source = _source()
    follow(install(source, paths, RequestHandle("cuda")), options)
    if options.json:
        say({"event": "done", "name": source.version})
    else:
        print(f"torch {source.version} is taken from the next start of Loquat on.")


def _remove(paths: Paths, options: argparse.Namespace) -> None:
    from engine.cuda_download import remove  # noqa: PLC0415

    remove(paths)
    if options.json:
        say({"event": "done", "name": ""})
    else:
        print("Removed; Loquat's own torch is taken from the next start on.")


def _status(paths: Paths, options: argparse.Namespace) -> None:
    source, held = read_source(), unpacked_version(paths)
    if options.json:
        say({"offered": source.version if source else "", "nbytes": source.nbytes if source else 0, "installed": held})
    elif held:
        print(f"torch {held} is installed, and taken at each start.")
    elif source:
        print(f"torch {source.version} can be had: {megabytes(source.nbytes)}, with: loquat cuda install")
    else:
        print("This build of Loquat is for CPUs alone.")
