"""JSON lines of the commands that take their time: progress, then one last word. For windows and other programs.

{"event": "progress", "stage": "download", "done": 40, "total": 98, "rate": 3e6, "left_s": 19.3, "sentence": "..."}
{"event": "done", "name": "smollm2-135m-instruct", ...}
{"event": "failed", "kind": "network", "sentence": "...", "detail": "..."}
"""

from __future__ import annotations

import argparse
import functools
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn, TypeVar

from engine.chat import RequestHandle
from engine.cli_models.shown import finish
from engine.errors import BadModelFile, Cancelled, DiskFull, EngineError, FetchFailed, ModelNotFound, UnsupportedModel
from engine.hub.values import FailureKind, HubFailure
from engine.models.pip_download import NotOffered
from engine.models.progress import Step
from engine.models.registry import Registry

ERROR_EXIT: Final = 2
_EVERY_S: Final = 0.1  # between two lines of the same step
_KINDS: Final[tuple[tuple[type[EngineError], FailureKind], ...]] = (
    (Cancelled, "cancelled"),
    (DiskFull, "disk"),
    (UnsupportedModel, "unsupported"),
    (BadModelFile, "damaged"),
    (NotOffered, "not_found"),
    (ModelNotFound, "not_found"),
    (FetchFailed, "network"),
)
Command = Callable[[Registry, argparse.Namespace], int]
Result = TypeVar("Result")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Give a command its `--json`."""
    parser.add_argument("--json", action="store_true", help="as JSON, one object a line")


def with_json(command: Command) -> Command:
    """A command whose errors are told as a line with `--json`, and as usual without."""

    @functools.wraps(command)
    def run(registry: Registry, options: argparse.Namespace) -> int:
        try:
            return command(registry, options)
        except EngineError as error:
            if not options.json:
                raise
            say({"event": "failed", "kind": kind_of(error), "sentence": error.sentence, "detail": error.detail})
            return ERROR_EXIT

    return run


def follow(steps: Generator[Step, None, Result], options: argparse.Namespace) -> Result:
    """Run a long operation to its end, with its progress on standard output as JSON, or else for people."""
    if not options.json:
        return finish(steps, sys.stderr)
    told, last = float("-inf"), ""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        kind = step.sentence.partition(":")[0]
        if kind != last or time.monotonic() - told >= _EVERY_S:
            told, last = time.monotonic(), kind
            say(_progress(step))


def say(value: Mapping[str, Any]) -> None:
    """Write one object, in ASCII, which every encoding of a pipe can take; whoever reads it has it at once."""
    print(json.dumps(value), flush=True)


def kind_of(error: EngineError) -> FailureKind:
    """What a program is told of an error."""
    if isinstance(error, HubFailure):
        return error.kind
    return next((kind for type_, kind in _KINDS if isinstance(error, type_)), "other")


@contextmanager
def pausable(sentence: str) -> Iterator[RequestHandle]:
    """A block that SIGTERM and Ctrl+C end in an orderly way: what is unfinished is closed, not lost.

    Args:
        sentence: What the person is told then.

    Raises:
        Cancelled: One of them came.
    """
    handle = RequestHandle("models")

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        handle.cancel()
        raise Cancelled(sentence)  # also out of a read that waits for the network

    if threading.current_thread() is not threading.main_thread():
        yield handle
        return
    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield handle
    except Cancelled as error:
        raise Cancelled(sentence) from error
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _progress(step: Step) -> dict[str, Any]:
    return {
        "event": "progress",
        "stage": str(step.stage),
        "done": step.done,
        "total": step.total,
        "rate": None if step.rate is None else round(step.rate),
        "left_s": None if step.left_s is None else round(step.left_s, 1),
        "sentence": step.sentence,
    }
