"""The terminal side of Loquat, one command a module. No Qt is imported here."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from engine.errors import EngineError
from engine.paths import default_paths

COMMANDS = {  # with what each does, for `loquat --help`
    "chat": "chat in the terminal",
    "serve": "serve a model to other programs, as OpenAI's API does",
    "generate": "complete a file of prompts offline, several at once",
    "models": "list, add or remove models, or choose the default",
    "plan": "show what a model takes in memory, and what fits beside it",
    "explain": "answer a turn or two and say where the time went",
    "verify": "prove on this machine that kept caches change no answer",
    "bench": "measure how fast a model runs on this machine",
    "cuda": "fetch torch for NVIDIA GPUs, where Loquat was installed for them",
    "doctor": "say what is wrong with this machine or this installation",
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
    if command not in COMMANDS:
        argparse.ArgumentParser(prog="loquat").error(f"unknown command {command}; there are {', '.join(COMMANDS)}.")
    # Only the module of the command at hand is imported: some take seconds.
    module: Any = importlib.import_module(f"engine.cli_{command}")
    return int(module.run(rest, default_paths()))
