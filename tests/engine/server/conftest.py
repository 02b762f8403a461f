"""A real server on a real socket, over a worker whose model is fake: exact, fast, and it says what a test scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from engine.config import EngineConfig
from engine.loader import LoadedModel
from engine.paths import Paths
from engine.prompt import PromptBuilder
from engine.server.thread import ServerOptions, ServerThread
from engine.worker import Worker
from tests.engine.fakes import CHATML, FakeRunner, engine_with, loquat_tokenizer

PATIENCE_S = 20.0
NAME = "fake"
ANY_PORT = ServerOptions(port=0)


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
