"""`loquat serve`: the engine as an OpenAI-compatible server, without a window."""

from __future__ import annotations

import argparse
import os
import queue
import signal
import sys
import threading
from types import FrameType
from typing import Final

from engine.cli_args import Parser, whole, within_bounds
from engine.config import EngineConfig
from engine.errors import BadRequest
from engine.events import Event, Failed, Loaded, LoadProgress, ModelInfo
from engine.paths import Paths
from engine.worker import Worker

KEY_VARIABLE: Final = "LOQUAT_API_KEY"
_SMALLEST_CONTEXT: Final = 16


def run(args: list[str], paths: Paths) -> int:
    """Run the command with its arguments until Ctrl+C; returns the exit code.

    Raises:
        EngineError: The model cannot be loaded or is too small, or the address not be listened on.
    """
    from engine.server.options import ServerOptions
    from engine.server.thread import ServerThread

    options = _parser().parse_args(args)
    key = options.api_key or os.environ.get(KEY_VARIABLE, "")
    asked = ServerOptions(
        options.host, options.port, key, tuple(options.name), options.queue_limit, not options.no_prefix_caching
    )
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    worker = Worker(events.put, _config(options), paths, wait_for_kernels=True)
    server = ServerThread(worker, asked)
    stop = _stop_on_signals()
    worker.start()
    try:
        server.start()  # a port that is taken is said before a model is loaded
        info = _load(worker, events, options.model, stop)
        if info is not None:
            _check_context(info, options.max_model_len)
            print(f"{info.label} is served at {server.url} as {info.name}. Ctrl+C ends it.", flush=True)
            while not stop.wait(0.5):  # on Windows a wait without end hears no Ctrl+C
                pass
    finally:
        server.stop()
        worker.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="loquat serve", description="Serve a model to other programs, as OpenAI's API does.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; 127.0.0.1 is this machine alone")
    parser.add_argument("--port", type=whole(0, 65_535), default=8000, help="port to listen on; 8000 if not given")
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it")
    parser.add_argument("--max-model-len", type=whole(_SMALLEST_CONTEXT, 100_000_000), help="longest context in tokens")
    parser.add_argument("--memory-utilization", type=float, help="share of the memory to take, from 0.01 to 1")
    parser.add_argument("--api-key", default="", help=f"key that clients must send; better given in {KEY_VARIABLE}")
    parser.add_argument("--name", action="append", default=[], help="host name that clients may use; can be repeated")
    parser.add_argument(
        "--queue-limit", type=whole(1, 10_000), default=32, help="most requests at once; 32 if not given"
    )
    parser.add_argument("--no-prefix-caching", action="store_true", help="compute every prompt afresh, to compare")
    return parser


def _config(options: argparse.Namespace) -> EngineConfig:
    with within_bounds():
        return EngineConfig(max_context=options.max_model_len, memory_utilization=options.memory_utilization)


def _check_context(info: ModelInfo, asked: int | None) -> None:
    """Refuse a context that the model does not have, rather than serve a shorter one than was asked for.

    Raises:
        BadRequest: It does not.
    """
    if asked is not None and 0 < info.context_limit < asked:
        raise BadRequest(
            f"{info.label} can hold {info.context_limit:,} tokens, fewer than the {asked:,} of --max-model-len; "
            f"give {info.context_limit} or less."
        )


def _stop_on_signals() -> threading.Event:
    """An event that Ctrl+C, Windows' Ctrl+Break and a polite kill set."""
    stop = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), ask)
    return stop


def _load(
    worker: Worker, events: queue.SimpleQueue[Event], name: str | None, stop: threading.Event
) -> ModelInfo | None:
    """Load the model, with a line on standard error for each stage; None if it was stopped meanwhile."""
    handle, stage = worker.load(name), ""
    while not stop.is_set():
        try:
            event = events.get(timeout=0.2)
        except queue.Empty:
            continue
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Loaded):
            return event.info
        if isinstance(event, LoadProgress) and event.stage != stage:
            stage = event.stage
            print(event.sentence, file=sys.stderr, flush=True)
    handle.cancel()
    return None
