from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from engine.remote.engine import RemoteEngine
from tests.engine.remote.scripted import MODEL, Action, Scripted, running


@pytest.fixture
def script() -> Iterator[Callable[..., Scripted]]:
    """`script(action, ...)`: a server that ends with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *actions: stack.enter_context(running(Scripted(list(actions))))


@pytest.fixture
def engine_for() -> Iterator[Callable[..., RemoteEngine]]:
    """`engine_for(scripted, key, stall_s)`: closed with the test."""
    made: list[RemoteEngine] = []

    def make(scripted: Scripted, key: str = "", stall_s: float = 20.0) -> RemoteEngine:
        made.append(RemoteEngine(scripted.server, MODEL, key, stall_s=stall_s))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def ask(script, engine_for):
    """`ask(action, ...)`: an engine before a server that does so."""

    def make(*actions: Action, **more) -> tuple[RemoteEngine, Scripted]:
        scripted = script(*actions)
        return engine_for(scripted, **more), scripted

    return make
