"""The HTTP server measured: `python -m tests.bench.server turns` and `python -m tests.bench.server crowd`.

`turns`: TTFT of the sixth turn of a conversation over HTTP, beside the same with the prefix cache off and the same in
process, each in a process of its own, in turns. `crowd`: many clients at once, a third of whose requests hang up in
mid-stream, over the worker of a window that asks now and then: threads, memory and file handles, and the window's TTFT.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import queue
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from engine.bench.harness import Figure, Report, alternate, machine_name, medians
from engine.bench.text import passage
from engine.chat import ChatRequest, Message
from engine.cli_args import Parser, whole
from engine.cli_models import ready_model
from engine.config import EngineConfig, SamplingParams
from engine.errors import EngineError
from engine.events import Event, Failed, Finished, Loaded, TextDelta
from engine.models.registry import ModelEntry
from engine.paths import Paths, default_paths
from engine.server.options import ServerOptions
from engine.server.thread import ServerThread
from engine.tokenizer import Tokenizer, load_tokenizer
from engine.worker import Worker

ROOT = Path(__file__).parent.parent.parent
TURNS = 6
QUESTION, REPLY = 176, 24  # tokens: 200 new ones a turn
PATIENCE_S = 300
_seeds = itertools.count(1)


class InProcess:
    """A worker with the model, asked as the window asks."""

    def __init__(self, entry: ModelEntry, paths: Paths) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.worker = Worker(self.events.put, EngineConfig(save_caches=False), paths, wait_for_kernels=True)
        self.worker.start()
        self.worker.load(entry.name)
        self._until(Loaded)

    def conversation(self, tokenizer: Tokenizer) -> float:
        """TTFT of the last of TURNS turns, in seconds."""
        messages: list[Message] = []
        name, ttft = f"bench-{next(_seeds)}", 0.0
        for _ in range(TURNS):
            messages.append(Message("user", passage(tokenizer, QUESTION, next(_seeds))))
            ttft, done = self.ask(messages, name)
            messages.append(Message("assistant", done.text, done.token_ids))
        self.worker.forget(name)
        return ttft

    def ask(self, messages: Sequence[Message], conversation: str) -> tuple[float, Finished]:
        """TTFT and the end of one turn."""
        params = SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, max_tokens=REPLY)
        began = time.perf_counter()
        self.worker.submit(ChatRequest(f"r{next(_seeds)}", tuple(messages), params, conversation))
        self._until(TextDelta)
        ttft = time.perf_counter() - began
        done = self._until(Finished)
        assert isinstance(done, Finished)
        return ttft, done

    def close(self) -> None:
        """End the worker."""
        self.worker.close()

    def _until(self, kind: type[Event]) -> Event:
        while True:
            event = self.events.get(timeout=PATIENCE_S)
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, kind):
                return event


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """`loquat serve` in a process of its own; its URL."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        line = run.stdout.readline()
        try:
            yield line.split(" is served at ")[1].split()[0]
        finally:
            run.terminate()


def over_http(client: httpx.Client, model: str, tokenizer: Tokenizer) -> float:
    """TTFT of the last of TURNS turns as the client sees it, in seconds."""
    messages: list[dict[str, str]] = []
    ttft = 0.0
    for _ in range(TURNS):
        messages.append({"role": "user", "content": passage(tokenizer, QUESTION, next(_seeds))})
        ttft, text = stream(client, {"model": model, "messages": messages, "temperature": 0, "max_tokens": REPLY})
        messages.append({"role": "assistant", "content": text})
    return ttft


def stream(client: httpx.Client, body: dict[str, Any]) -> tuple[float, str]:
    """Seconds to the first text of a streamed reply, and all of its text."""
    began, ttft, text = time.perf_counter(), 0.0, ""
    with client.stream("POST", "chat/completions", json={**body, "stream": True}) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if line.startswith("data: {"):
                piece = json.loads(line[6:])["choices"][0]["delta"].get("content", "")
                ttft = ttft or (time.perf_counter() - began if piece else 0.0)
                text += piece
    return ttft, text


def bench_turns(entry: ModelEntry, paths: Paths, runs: int) -> Report:
    """TTFT of the last turn, three ways."""
    tokenizer = load_tokenizer(entry.folder)
    with contextlib.ExitStack() as stack:
        sides: dict[str, Callable[[], float]] = {}
        for name, arguments in (("http", ()), ("cache off", ("--no-prefix-caching",))):
            url = stack.enter_context(serving("--model", entry.name, *arguments))
            client = stack.enter_context(httpx.Client(base_url=url, timeout=PATIENCE_S))
            sides[name] = lambda client=client: over_http(client, entry.name, tokenizer)
        own = InProcess(entry, paths)
        stack.callback(own.close)
        sides["in process"] = lambda: own.conversation(tokenizer)
        values = {name: 1000 * value for name, value in medians(alternate(sides, runs)).items()}
    about: dict[str, str | int | float] = {
        "model": entry.label,
        "machine": machine_name(),
        "runs": runs,
        "a turn": f"{QUESTION} tokens and a reply of {REPLY}",
    }
    compared = [("cache off", 0.3), ("in process", 1.15)]
    figures = [Figure("ttft", f"TTFT of turn {TURNS}", "ms", values)]
    for other, limit in compared:
        ratio = values["http"] / values[other]
        figures.append(Figure(other, f"  http to {other}", "", {"ratio": ratio, "limit": limit}))
    return Report("server turns", about, figures)


@dataclass(frozen=True, slots=True)
class Size:
    """What this process holds."""

    threads: int
    mib: float
    files: int


def size() -> Size:
    """Now."""
    gc.collect()
    process = psutil.Process()
    files = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
    return Size(process.num_threads(), process.memory_info().rss / 2**20, files)


def bench_crowd(entry: ModelEntry, paths: Paths, clients: int, seconds: int) -> Report:
    """Many clients over the worker of a window that asks every few seconds."""
    tokenizer = load_tokenizer(entry.folder)
    own = InProcess(entry, paths)
    server = ServerThread(own.worker, ServerOptions(port=0))
    server.start()
    try:
        idle = [window_ttft(own, tokenizer) for _ in range(10)][2:]
        command = [sys.executable, "-m", "tests.bench.server", "clients", server.url, entry.name]
        crowd = subprocess.Popen([*command, str(clients), str(seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        began, busy, sizes = time.monotonic(), [], []
        while crowd.poll() is None:
            time.sleep(2)
            busy.append(window_ttft(own, tokenizer))
            if time.monotonic() - began > 20:  # every cache that is kept has been made once
                sizes.append(size())
        said = json.loads(crowd.stdout.read() if crowd.stdout else "{}")
    finally:
        server.stop()
        own.close()
    return crowd_report(entry, clients, said=said, idle=idle, busy=busy, sizes=sizes)


def window_ttft(own: InProcess, tokenizer: Tokenizer) -> float:
    """TTFT of a new question in the window, in seconds."""
    name = f"window-{next(_seeds)}"
    ttft, _ = own.ask([Message("user", passage(tokenizer, QUESTION, next(_seeds)))], name)
    own.worker.forget(name)
    return ttft


def crowd_report(
    entry: ModelEntry,
    clients: int,
    *,
    said: dict[str, Any],
    idle: Sequence[float],
    busy: Sequence[float],
    sizes: Sequence[Size],
) -> Report:
    """What the crowd saw, what the window saw, and what grew between the first and the last third of the time."""
    third = max(1, len(sizes) // 3)
    early, late = sizes[:third], sizes[-third:]

    def grown(read: Callable[[Size], float]) -> dict[str, float | None]:
        before, after = (statistics.median(read(at) for at in part) for part in (early, late))
        return {"early": before, "late": after, "ratio": after / before}

    ttft = {"idle": 1000 * statistics.median(idle), "busy": 1000 * statistics.median(busy[:-1] or busy)}
    statuses: dict[str, float | None] = {str(status): float(count) for status, count in sorted(said["seen"].items())}
    wrong = sum(count for status, count in said["seen"].items() if status not in ("200", "429", "hung up"))
    figures = [
        Figure("seen", "requests by how they ended", "", statuses),
        Figure("wrong", "  errors other than 429", "", {"late": float(wrong), "limit": 0.0}, checked="late"),
        Figure("threads", "threads", "", {**grown(lambda at: float(at.threads)), "limit": 1.0}),
        Figure("memory", "resident memory", "MiB", {**grown(lambda at: at.mib), "limit": 1.05}),
        Figure("files", "file handles", "", {**grown(lambda at: float(at.files)), "limit": 1.1}),
        Figure("window", "the window's TTFT", "ms", {**ttft, "ratio": ttft["busy"] / ttft["idle"], "limit": 1.5}),
    ]
    about: dict[str, str | int | float] = {
        "model": entry.label,
        "machine": machine_name(),
        "clients": clients,
        "replies a minute": round(60 * said["seen"].get("200", 0) / said["seconds"], 1),
    }
    return Report("server crowd", about, figures)


def run_clients(url: str, model: str, count: int, seconds: int) -> None:
    """The crowd: prints what became of its requests."""
    seen: Counter[str] = Counter()
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=one_client, args=(url, model, n, end, seen)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"seen": seen, "seconds": seconds}))


def one_client(url: str, model: str, number: int, end: float, seen: Counter[str]) -> None:
    """Conversations of a few turns until the time is over; every third request is left in mid-stream."""
    chance = random.Random(number)
    messages: list[dict[str, str]] = []
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
        while time.monotonic() < end:
            messages = [] if len(messages) > 6 else messages
            words = " ".join(chance.choices(["river", "stone", "bread", "seven", "late", "why", "blue"], k=30))
            messages.append({"role": "user", "content": f"{number}: {words}?"})
            body = {"model": model, "messages": messages, "max_tokens": chance.randrange(8, 48), "stream": True}
            outcome, text = one_request(client, body, leave=chance.random() < 1 / 3)
            seen[outcome] += 1
            messages.append({"role": "assistant", "content": text or "nothing"})
            if outcome == "429":
                time.sleep(1)


def one_request(client: httpx.Client, body: dict[str, Any], leave: bool) -> tuple[str, str]:
    """How a request ended, and its text; one that is to be left is left after a few events."""
    text = ""
    try:
        with client.stream("POST", "chat/completions", json=body) as response:
            if response.status_code != 200:
                return str(response.status_code), ""
            for n, line in enumerate(response.iter_lines()):
                if leave and n > 6:
                    return "hung up", text
                if "error" in line[:20]:
                    return "error in the stream", text
                if line.startswith("data: {"):
                    text += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
    except httpx.HTTPError as error:
        return type(error).__name__, text
    return "200", text


def main() -> int:
    """Run a benchmark; the exit code is 1 where a limit is not held, 2 after an error."""
    if sys.argv[1:2] == ["clients"]:
        url, model, count, seconds = sys.argv[2:]
        run_clients(url, model, int(count), int(seconds))
        return 0
    parser = Parser(prog="python -m tests.bench.server", description="Measure the HTTP server.")
    parser.add_argument("what", choices=("turns", "crowd"))
    parser.add_argument("--model", help="name of the model, as `loquat models list` shows it")
    parser.add_argument("--runs", type=whole(1, 1000), default=5, help="conversations of each side of `turns`")
    parser.add_argument("--clients", type=whole(1, 1000), default=8, help="of `crowd`")
    parser.add_argument("--seconds", type=whole(10, 86_400), default=120, help="of `crowd`")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    try:
        options = parser.parse_args()
        paths = default_paths()
        entry = ready_model(paths, options.model)
        if options.what == "turns":
            report = bench_turns(entry, paths, options.runs)
        else:
            report = bench_crowd(entry, paths, options.clients, options.seconds)
    except EngineError as error:
        print(error.sentence, file=sys.stderr)
        return 2
    print(report.json() if options.json else report.table())
    return 0 if all(figure.held is not False for figure in report.figures) else 1


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main())
