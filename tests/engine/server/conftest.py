"""A real server on a real socket, over a worker whose model is fake: exact, fast, and it says what a test scripts."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
import pytest
import torch
from torch import Tensor

from engine.config import EngineConfig
from engine.loader import LoadedModel
from engine.paths import Paths
from engine.prompt import PromptBuilder
from engine.server.options import ServerOptions
from engine.server.thread import ServerThread
from engine.worker import Worker
from tests.engine.fakes import CHATML, FakeCache, FakeRunner, engine_with, loquat_tokenizer

PATIENCE_S = 20.0
NAME = "fake"
TOKENIZER = loquat_tokenizer()
END = next(iter(TOKENIZER.end_ids))
ANY_PORT = ServerOptions(port=0)


def until(condition, what: str) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)


class Says(FakeRunner):
    """A fake model that answers the first question with the first text, and so on; its tokens do not depend on drafts.

    Args:
        replies: In order.
    """

    def __init__(self, *replies: str) -> None:
        super().__init__()
        self._replies = [[*TOKENIZER.encode(text), END] for text in replies]
        self._opening = TOKENIZER.encode("<|im_start|>assistant\n")

    def prefill(self, ids: Sequence[int], cache: FakeCache, keep: int = 1) -> Tensor:
        cache.held.extend(ids)
        return torch.stack([self._after(cache.held[: len(cache.held) - left]) for left in reversed(range(keep))])

    def _after(self, held: Sequence[int]) -> Tensor:
        size = len(self._opening)
        starts = [n for n in range(size, len(held) + 1) if held[n - size : n] == self._opening]
        reply = self._replies[len(starts) - 1] if starts else [END]
        said = len(held) - starts[-1] if starts else 0
        logits = torch.zeros(self.vocab_size)
        logits[reply[min(said, len(reply) - 1)]] = 20.0
        return logits


class Slow(FakeRunner):
    """Computes nothing more while the gate is shut, but for the passes it has leave for."""

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        super().__init__(before=lambda ids: self.gate.acquire())

    def let(self, passes: int) -> None:
        self.gate.release(passes)


class Served:
    """A server, its worker, and a client.

    Attributes:
        window: Events that are not of served requests.
    """

    def __init__(self, paths, runner: FakeRunner, options: ServerOptions, template: str) -> None:
        self.window: list[Any] = []
        self.runner = runner
        self.worker = Worker(self.window.append, EngineConfig(), paths)
        engine = engine_with(runner, chunk=256, budget=1 << 24)
        self.worker._engine = engine
        model: LoadedModel = engine._model
        prompt = PromptBuilder(loquat_tokenizer(), template)
        info = dataclasses.replace(model.info, tool_style=prompt.tool_style)
        engine._model = dataclasses.replace(model, prompt=prompt, info=info)
        self.worker.info = info
        self.worker.start()
        self.server = ServerThread(self.worker, options)
        self.server.start()
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.server.port}", timeout=PATIENCE_S)

    def chat(self, *messages: str | dict[str, Any], **more: Any) -> httpx.Response:
        """Ask; texts are the user's."""
        body = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
        return self.http.post("/v1/chat/completions", json={"model": NAME, "messages": body, "max_tokens": 8, **more})

    @property
    def metrics(self) -> dict[str, float]:
        """All figures but the buckets."""
        lines = (line for line in self.http.get("/metrics").text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    @property
    def service(self):
        return self.server._service

    def close(self) -> None:
        self.http.close()
        if isinstance(self.runner, Slow):
            self.runner.let(100_000)
        assert self.server.stop(PATIENCE_S)
        assert self.worker.close(PATIENCE_S)


@pytest.fixture
def serve(loquat_home) -> Iterator[Callable[..., Served]]:
    """`serve(runner, options, template)`: a server that ends with the test."""
    made: list[Served] = []

    def start(runner: FakeRunner | None = None, options: ServerOptions = ANY_PORT, template: str = CHATML) -> Served:
        made.append(Served(loquat_home, runner or FakeRunner(), options, template))
        return made[-1]

    yield start
    for served in made:
        served.close()


@pytest.fixture
def served(serve) -> Served:
    """A server of the test's own."""
    return serve()


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Served]:
    """One server for all tests of a module that ask for it, each leaving it as it was."""
    root = tmp_path_factory.mktemp("home")
    made = Served(Paths(root / "data", root / "config", root / "cache", root / "logs"), FakeRunner(), ANY_PORT, CHATML)
    yield made
    made.close()
