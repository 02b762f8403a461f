"""`loquat chat`: a conversation in the terminal, or several prompts in a row as text or JSON lines."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import logging
import queue
import sys
import threading
from collections.abc import Iterator
from typing import Final, Self

from engine.chat import ChatRequest, Message, RequestHandle
from engine.cli_args import sampling, within_bounds
from engine.config import DTYPES, KV_DTYPES, EngineConfig, SamplingParams
from engine.errors import BadRequest
from engine.events import Event, Failed, Finished, Loaded, LoadProgress, ModelInfo, TextDelta
from engine.paths import Paths
from engine.worker import Worker

_LOOK_S: Final = 0.2


def run(args: list[str], paths: Paths) -> int:
    """Run the command with its arguments; returns the exit code.

    Raises:
        EngineError: A prompt is empty, or the model cannot be had.
    """
    options = _parser().parse_args(args)
    params = sampling(options)
    if any(not prompt.strip() for prompt in options.prompt):
        raise BadRequest("The prompt is empty; write something first.")
    with _Terminal(_config(options), paths) as terminal:
        info = terminal.load(options.model)
        if options.threads > info.threads:
            print(
                f"There are no more than {info.threads} processors here, so {info.threads} threads run.",
                file=sys.stderr,
            )
        chat = _Chat(terminal, info, params, options)
        for prompt in options.prompt or _typed_prompts(info):
            chat.turn(_readable(prompt))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="loquat chat", description="Chat with a model in the terminal.")
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it, or SERVER/MODEL")
    parser.add_argument("--system", default="", help="system prompt")
    parser.add_argument("--prompt", action="append", default=[], help="a turn; give several for one conversation")
    parser.add_argument("--greedy", action="store_true", help="always take the likeliest token")
    parser.add_argument("--seed", type=int, help="makes sampling reproducible")
    parser.add_argument("--max-tokens", type=int, help="longest reply in tokens")
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="what the weights are computed in")
    parser.add_argument("--kv-dtype", choices=KV_DTYPES, default="auto", help="how cached keys and values are held")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 takes one per physical core")
    parser.add_argument("--json", action="store_true", help="one JSON object a turn")
    return parser


def _config(options: argparse.Namespace) -> EngineConfig:
    with within_bounds():
        return EngineConfig(dtype=options.dtype, kv_dtype=options.kv_dtype, threads=options.threads)


def _readable(text: str) -> str:
    """What was typed, with a replacement sign for each byte that is not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _typed_prompts(info: ModelInfo) -> Iterator[str]:
    """Lines from standard input; with a prompt sign where a person types."""
    person = sys.stdin.isatty()
    if person:
        print(f"{info.label} on {info.device}. An empty line or Ctrl+D ends the chat.", file=sys.stderr)
    while True:
        if person:
            print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline().strip()
        if not line:
            return
        yield line


class _Terminal:
    """The worker, and its events in the order they come."""

    def __init__(self, config: EngineConfig, paths: Paths) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        # A chat in the terminal may be over before the kernels are compiled, and then they never would be.
        self._worker = Worker(self._events.put, config, paths, wait_for_kernels=True)

    def __enter__(self) -> _Terminal:
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def load(self, name: str | None) -> ModelInfo:
        """Load a model, its progress on standard error."""
        with _ProgressLine() as progress:
            for event in self._until_done(self._worker.load(name)):
                if isinstance(event, LoadProgress):
                    progress.show(event)
                if isinstance(event, Loaded):
                    return event.info
        raise AssertionError("a load ends with Loaded or Failed")

    def answer(self, request: ChatRequest) -> Iterator[Event]:
        """The events of an answer; Ctrl+C stops it and keeps what was said."""
        return self._until_done(self._worker.submit(request))

    def _until_done(self, handle: RequestHandle) -> Iterator[Event]:
        while True:
            event = self._next(handle)
            if isinstance(event, Failed):
                if event.bug:
                    print(event.error.detail, file=sys.stderr)
                raise event.error
            yield event
            if isinstance(event, Finished | Loaded):
                return

    def _next(self, handle: RequestHandle) -> Event:
        """The next event of a request; Ctrl+C cancels it, and ends the program when pressed again."""
        while True:
            try:
                event = self._events.get(timeout=_LOOK_S)  # on Windows a wait without end hears no Ctrl+C
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                if handle.cancelled:
                    raise
                handle.cancel()
                continue
            if event.request_id == handle.id:  # a model that moved to another device says so too
                return event


class _Chat:
    """One conversation: its messages so far, and how a turn is printed."""

    def __init__(
        self, terminal: _Terminal, info: ModelInfo, params: SamplingParams, options: argparse.Namespace
    ) -> None:
        self._terminal = terminal
        self._info = info
        self._params = params
        self._json = bool(options.json)
        self._messages = [Message("system", _readable(options.system))] if options.system else []
        self._today = datetime.date.today().isoformat()

    def turn(self, prompt: str) -> None:
        """Ask, print the answer, remember both."""
        self._messages.append(Message("user", prompt))
        request = ChatRequest(
            id=f"turn-{len(self._messages)}",
            messages=tuple(self._messages),
            params=self._params,
            conversation_id="terminal",
            started_on=self._today,
        )
        begun = False  # a line that has no end yet
        try:
            for event in self._terminal.answer(request):
                if isinstance(event, TextDelta) and not self._json:
                    print(event.text, end="", flush=True)
                    begun = True
                if isinstance(event, Finished):
                    self._finish(event)
                    begun = False
        finally:
            if begun:
                print(flush=True)  # what went wrong is said on a line of its own

    def _finish(self, event: Finished) -> None:
        self._messages.append(Message("assistant", event.text, event.token_ids))
        # In ASCII, which every encoding of a pipe can take.
        print(json.dumps(turn_record(event, self._info)) if self._json else "", flush=True)


def turn_record(event: Finished, info: ModelInfo) -> dict[str, object]:
    """A finished turn as the JSON object of `loquat chat --json`; times in seconds, ITL in milliseconds."""
    stats = dataclasses.asdict(event.stats)
    return {
        "text": event.text,
        "finish_reason": event.reason.value,
        **stats,
        "token_ids": list(event.token_ids),
        "model": info.name,
        "device": info.device,
        "dtype": info.dtype,
    }


class _ProgressLine(logging.Handler):
    """One line on standard error that is written over while a model gets ready; whole lines where nobody watches.

    What is logged meanwhile, from any thread, stands on lines of its own.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._live = sys.stderr.isatty()
        self._stage = ""
        self._width = 0
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        """Take what is logged."""
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Wipe the line, whatever comes next."""
        logging.getLogger().removeHandler(self)
        with self._writing:
            self._clear()

    def show(self, progress: LoadProgress) -> None:
        """Show a step; without a terminal only the first of each stage."""
        line = progress.sentence
        if progress.total:
            line = f"{line} {100 * progress.done // progress.total} %"
        with self._writing:
            if self._live:
                print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
                self._width = len(line)
            elif progress.stage != self._stage:
                print(progress.sentence, file=sys.stderr, flush=True)
            self._stage = progress.stage

    def emit(self, record: logging.LogRecord) -> None:
        """Say what is logged; the next step begins the line anew."""
        with self._writing:
            self._clear()
            print(self.format(record), file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self._live and self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0
