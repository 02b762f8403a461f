"""The window's switch: it says what is served, starts again elsewhere, says why it cannot, and ends."""

from __future__ import annotations

import queue
import socket

import httpx
import pytest

from engine.server.control import ServerControl, ServerState
from engine.server.options import ServerOptions, new_key
from tests.engine.server.conftest import PATIENCE_S


@pytest.fixture
def switch(served):
    states: queue.SimpleQueue[ServerState] = queue.SimpleQueue()
    control = ServerControl(served.worker, states.put)
    yield control, lambda: states.get(timeout=PATIENCE_S)
    assert control.close(PATIENCE_S)


def test_it_is_turned_on_changed_and_turned_off(switch):
    control, state = switch
    control.start(ServerOptions(port=0))
    first = state()
    assert httpx.get(f"{first.url}/models", timeout=PATIENCE_S).json()["data"][0]["id"] == "fake"
    key = new_key()
    control.start(ServerOptions(port=0, api_key=key))
    second = state()
    assert httpx.get(f"{second.url}/models", timeout=PATIENCE_S).status_code == 401
    allowed = {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{second.url}/models", headers=allowed, timeout=PATIENCE_S).status_code == 200
    control.stop()
    assert state() == ServerState()
    for url in {first.url, second.url}:
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/models", timeout=PATIENCE_S)


def test_it_says_why_nothing_is_served_and_can_be_tried_again(switch):
    control, state = switch
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        control.start(ServerOptions(port=port))
        assert state() == ServerState(error=f"Port {port} is taken by another program; choose another port.")
    control.start(ServerOptions(host="0.0.0.0", port=port))
    assert "an API key is needed" in state().error
    control.start(ServerOptions(port=port))
    assert state().url == f"http://127.0.0.1:{port}/v1"


def test_one_that_was_never_used_closes(served):
    assert ServerControl(served.worker, lambda state: None).close()


def test_keys_are_long_and_never_the_same():
    assert len({new_key() for _ in range(100)}) == 100
    assert min(len(new_key()) for _ in range(100)) >= 32
