"""The terminal side of Loquat, one command a module. No Qt is imported here."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from engine.errors import EngineError
from engine.paths import default_paths

COMMANDS = {  # with what each does, for `loquat --help`
    "chat": "chat in the terminal",
    "serve": "serve a model to other programs, as OpenAI's API does",
    "models": "list, add or remove models, or choose the default",
    "plan": "show what a model takes in memory, and what fits beside it",
    "verify": "prove on this machine that kept caches change no answer",
    "bench": "measure how fast a model runs on this machine",
}
ERROR_EXIT = 2


def main(argv: Sequence[str]) -> int:
    """Run a command; its first word is one of COMMANDS. Returns the exit code, 2 after an error."""
    try:
        return _dispatch(argv[0], list(argv[1:]))
    except EngineError as error:
        print(error.sentence, file=sys.stderr)
        return ERROR_EXIT
    except BrokenPipeError:
        # Whoever read our output has gone; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


def _dispatch(command: str, rest: list[str]) -> int:
    if command == "chat":
        from engine.cli_chat import run_chat

        return run_chat(rest, default_paths())
    if command == "serve":
        from engine.cli_serve import run as run_serve

        return run_serve(rest, default_paths())
    if command == "models":
        from engine.cli_models import run

        return run(rest, default_paths())
    if command == "plan":
        from engine.cli_plan import run as run_plan

        return run_plan(rest, default_paths())
    if command == "verify":
        from engine.cli_verify import run as run_verify

        return run_verify(rest, default_paths())
    if command == "bench":
        from engine.cli_bench import run as run_bench

        return run_bench(rest, default_paths())
    argparse.ArgumentParser(prog="loquat").error(f"unknown command {command}; there are {', '.join(COMMANDS)}.")
