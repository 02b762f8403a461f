"""A worker around a fake model, for the tests of what is asked of it."""

from __future__ import annotations

import queue
from dataclasses import asdict

from engine.chat import ChatRequest, Message
from engine.config import EngineConfig, SamplingParams
from engine.models.model_folder import FORMAT, MANIFEST, Manifest, write_json
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from engine.worker import Worker
from tests.engine.fakes import FakeRunner, engine_with

PATIENCE_S = 20.0


class Running:
    """A worker around a fake model, and its events."""

    def __init__(self, paths, runner: FakeRunner | None = None) -> None:
        self.events: queue.SimpleQueue = queue.SimpleQueue()
        self.worker = Worker(self.events.put, EngineConfig(), paths)
        if runner:
            self.worker._engine = engine_with(runner, folder=paths.cache)
        self.worker.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.worker.close(PATIENCE_S)

    def until(self, *kinds):
        """Events up to and with the first of these kinds."""
        seen = []
        while not seen or not isinstance(seen[-1], kinds):
            seen.append(self.events.get(timeout=PATIENCE_S))
        return seen


def ask(name: str, text: str = "q", tokens: int = 5, conversation: str = "c") -> ChatRequest:
    params = SamplingParams(temperature=0.0, max_tokens=tokens)
    return ChatRequest(name, (Message("user", text),), params, conversation)


def a_model(home: Paths, name: str) -> ModelEntry:
    """A model of that name in the registry; its weights are not there."""
    folder = home.models / name
    folder.mkdir(parents=True)
    about = Manifest(FORMAT, name, name.title(), "llama", 7, 9, "f.gguf", "", "2026-01-01")
    write_json(folder / MANIFEST, asdict(about))
    return Registry(home.models).find(name)
