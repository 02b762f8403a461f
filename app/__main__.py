"""The `loquat` command: the window, or one of the engine's commands, for which no Qt is imported."""

from __future__ import annotations

import argparse
import io
import logging
import os
import re
import socket
import sys
import threading
from collections.abc import Mapping, MutableMapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final, NoReturn

from app.options import SELF_TEST, SELF_TEST_WINDOW, window_options
from engine import cli, cuda_pack
from engine.events import COMPILER
from engine.offline import stay_offline
from engine.own_command import free_children
from engine.paths import default_paths
from engine.system_libraries import cannot_open, loader_words

ERROR_EXIT: Final = 2
DISTRIBUTION: Final = "loquat-chat"
_WAITING: Final = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code: 0 done, 2 could not begin (with one sentence on standard error)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _give_streams()
    free_children(os.environ)
    stay_offline(os.environ)
    cuda_pack.take(default_paths())
    if arguments[:1] != ["bench"]:  # which measures torch as it comes
        _wait_passively(os.environ)
    if arguments and arguments[0] in cli.COMMANDS:
        return cli.main(arguments)
    if SELF_TEST in arguments:
        from app import self_test  # noqa: PLC0415 - of this command alone

        return self_test.main(arguments)
    parser = _parser()
    if arguments and not arguments[0].startswith("-"):
        parser.error(f"there is no command {arguments[0]}; there are {', '.join(cli.COMMANDS)}")
    if SELF_TEST_WINDOW not in arguments:  # whose options are its own
        parser.parse_args(arguments)
    if not _has_display(sys.platform, os.environ) or _is_dead_display(os.environ):
        return _refuse("There is no display to open a window on. Run `loquat chat` to chat in the terminal.")
    try:
        if SELF_TEST_WINDOW in arguments:
            from app.self_test_window import main as run  # noqa: PLC0415 - Qt from here on
        else:
            from app.desktop import run  # noqa: PLC0415 - Qt from here on
    except ImportError as error:
        return _refuse(cannot_open(loader_words(error)))
    return run(arguments)


def start() -> NoReturn:
    """Run the command and end the process, also where a thread does what nothing may be taken down under.

    The kernels' compiler takes up to a minute and cannot be stopped; LLVM crashes a process that ends around it.
    """
    code = main()
    if any(thread.name == COMPILER for thread in threading.enumerate()):
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)


def _give_streams() -> None:
    """Give a program without a terminal, as Windows starts one, somewhere to print to: nowhere.

    What the encoding of a pipe lacks, as Windows' code pages do most letters, is spelled rather than a crash.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the program
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _wait_passively(environment: MutableMapping[str, str]) -> None:
    """Have torch's threads sleep while they wait, unless the person chose otherwise; before torch is imported.

    By default they spin, and where something else computes, the kernels' compiler say, they spin against what they wait
    for: a token took 1,300 ms beside four busy processes on two processors, and takes 70 ms so.
    """
    if not any(name in environment for name in _WAITING):
        environment["OMP_WAIT_POLICY"] = "PASSIVE"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="loquat",
        description="A local chat application that shows why it is as fast as it is.",
        epilog=_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[window_options()],
    )
    parser.add_argument(
        SELF_TEST, action="store_true", help="test the program in a home of its own, and say how fast it is"
    )
    parser.add_argument("--self-test-output", metavar="FILE", help="write what the test found to a file as well")
    parser.add_argument("--version", action="version", version=f"loquat {metadata.version(DISTRIBUTION)}")
    return parser


def _commands() -> str:
    lines = [f"  {name:<10} {what}" for name, what in {"(none)": "open the window", **cli.COMMANDS}.items()]
    return "\n".join(["commands:", *lines, "", "`loquat COMMAND --help` tells more."])


def _has_display(platform: str, environment: Mapping[str, str]) -> bool:
    if not platform.startswith("linux"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _is_dead_display(environment: Mapping[str, str]) -> bool:
    """Whether Qt would use a local X display on which no server answers: it would end the whole process."""
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", environment.get("DISPLAY", ""))
    if (
        not sys.platform.startswith("linux")
        or not local
        or environment.get("WAYLAND_DISPLAY")
        or environment.get("QT_QPA_PLATFORM", "xcb") != "xcb"
    ):
        return False
    path = f"/tmp/.X11-unix/X{local[1]}"  # noqa: S108 - where every X server listens
    return not any(_answers(address) for address in (f"\0{path}", path))


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address) == 0


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return ERROR_EXIT


if __name__ == "__main__":
    start()
