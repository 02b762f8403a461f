"""A server that is not ours, `transformers serve`, with the default model, as the engine behind Loquat's worker."""

from __future__ import annotations

import queue
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig, SamplingParams
from engine.events import Failed, Finished, FinishReason, Loaded, TextDelta
from engine.keys import Keys
from engine.models.catalogue import DEFAULT_MODEL
from engine.remote.probe import probe
from engine.remote.servers import FILE, RemoteServer, servers_json
from engine.worker import Worker
from tests.memory_keyring import MemoryKeyring

PATIENCE_S = 120.0

pytestmark = [pytest.mark.slow, pytest.mark.model]


def free_port() -> int:
    with socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        return int(probe_socket.getsockname()[1])


@pytest.fixture(scope="module")
def server(model_home, tmp_path_factory) -> Iterator[RemoteServer]:
    """`transformers serve` with the folder that Loquat imported."""
    folder, port = model_home.models / DEFAULT_MODEL.name, free_port()
    command = Path(sys.executable).with_name("transformers")
    program = [str(command)] if command.is_file() else [shutil.which("transformers") or "transformers"]
    log = tmp_path_factory.mktemp("serve") / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program, "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, process, log)
        yield RemoteServer("serve", "transformers serve", f"{url}/v1", (str(folder),))
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            if httpx.get(f"{url}/health", timeout=1).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace"))


@pytest.fixture
def talk(server, loquat_home):
    """`talk(*texts)`: the answer of a worker that has the server's model loaded."""
    loquat_home.config.mkdir(parents=True)
    (loquat_home.config / FILE).write_text(servers_json([server]), encoding="utf-8")
    events: queue.SimpleQueue = queue.SimpleQueue()
    worker = Worker(events.put, EngineConfig(), loquat_home, keys=Keys(MemoryKeyring()))
    worker.start()

    def until(*kinds):
        seen = []
        while not seen or not isinstance(seen[-1], kinds):
            seen.append(events.get(timeout=PATIENCE_S))
        return seen

    worker.load(server.name_of(server.models[0]))
    assert isinstance(until(Loaded, Failed)[-1], Loaded)

    def ask(*texts: str, params: SamplingParams = GREEDY, stop_after: int = 0) -> tuple[Finished, list[TextDelta]]:
        roles = ("user", "assistant")
        messages = tuple(Message(roles[n % 2], text) for n, text in enumerate(texts))
        handle = worker.submit(ChatRequest("r", messages, params))
        deltas: list[TextDelta] = []
        while True:
            event = until(TextDelta, Finished, Failed)[-1]
            assert not isinstance(event, Failed), event.error.sentence
            if isinstance(event, Finished):
                return event, deltas
            deltas.append(event)
            if len(deltas) == stop_after:
                handle.cancel()

    yield ask
    assert worker.close(PATIENCE_S)


def test_it_is_found_with_its_model(server) -> None:
    assert [model.name for model in probe(server, "").models] == list(server.models)


def test_it_answers_two_turns(talk) -> None:
    params = SamplingParams(temperature=0.0, max_tokens=24)
    first, deltas = talk("What is the capital of France?", params=params)
    assert "Paris" in first.text and first.text == "".join(delta.text for delta in deltas)
    assert len(deltas) > 3
    stats = first.stats
    assert stats.server == "transformers serve" and stats.prompt_tokens > 10 and stats.completion_tokens > 3
    assert "cached_tokens" in stats.not_reported  # it does not tell
    assert stats.ttft_s is not None and stats.decode_tokens_per_s is not None
    question = "Say that once more, please."
    second, _ = talk("What is the capital of France?", first.text, question, params=params)
    assert second.stats.prompt_tokens > stats.prompt_tokens + stats.completion_tokens - 2
    assert re.search(r"\w", second.text)


def test_stop_ends_it_at_once_and_it_answers_again(talk) -> None:
    stopped, deltas = talk("Count from one to one thousand.", stop_after=3)
    assert stopped.reason is FinishReason.CANCELLED and len(deltas) < 20
    assert (
        "Paris" in talk("What is the capital of France?", params=SamplingParams(temperature=0.0, max_tokens=24))[0].text
    )


def test_the_length_limit_is_its_own(talk) -> None:
    finished, _ = talk("Count from one to one thousand.", params=SamplingParams(temperature=0.0, max_tokens=5))
    assert finished.reason is FinishReason.LENGTH and finished.stats.completion_tokens == 5
