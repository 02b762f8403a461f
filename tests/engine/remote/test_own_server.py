"""Loquat as the client of Loquat: what its server says is what its remote engine hears."""

from __future__ import annotations

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY, SamplingParams
from engine.errors import ServerFailed
from engine.events import Finished, TextDelta
from engine.remote.engine import RemoteEngine
from engine.remote.probe import probe
from engine.remote.servers import RemoteServer
from engine.server.thread import ServerOptions
from tests.engine.server.conftest import NAME, Says, serve  # noqa: F401 - a fixture

KEY = "a-key-for-this-test"


@pytest.fixture
def remote(serve):  # noqa: F811 - the fixture
    """`remote(*replies)`: an engine before Loquat's own server, whose model says this."""
    made: list[RemoteEngine] = []

    def make(*replies: str, key: str = KEY) -> RemoteEngine:
        served = serve(Says(*replies), ServerOptions(port=0, api_key=KEY))
        server = RemoteServer("own", "Own", f"http://127.0.0.1:{served.server.port}/v1")
        made.append(RemoteEngine(server, NAME, key))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def answer(engine: RemoteEngine, *texts: str, params: SamplingParams = GREEDY) -> tuple[Finished, str]:
    roles = ("user", "assistant")
    messages = tuple(Message(roles[n % 2], text) for n, text in enumerate(texts))
    events = list(engine.stream(ChatRequest("r", messages, params)))
    assert isinstance(events[-1], Finished)
    return events[-1], "".join(event.text for event in events if isinstance(event, TextDelta))


def test_two_turns_and_what_the_second_reused(remote) -> None:
    engine = remote("It is so.", "And so on.")
    info = engine.connect(RequestHandle("load"))
    assert info.context_limit > 0 and info.server == "Own"
    first, text = answer(engine, "Why?")
    assert (first.text, text) == ("It is so.", "It is so.")
    second, _ = answer(engine, "Why?", "It is so.", "And then?")
    assert second.text == "And so on."
    assert second.stats.not_reported == ()
    assert second.stats.cached_tokens >= first.stats.prompt_tokens
    assert second.stats.cached_tokens + second.stats.prefill_tokens == second.stats.prompt_tokens


def test_all_sampling_parameters_are_understood(remote) -> None:
    engine = remote("It is so.")
    params = SamplingParams(temperature=0.1, top_k=3, min_p=0.2, seed=1, max_tokens=2, presence_penalty=0.1)
    finished, _ = answer(engine, "Why?", params=params)
    assert finished.stats.completion_tokens == 2 and finished.reason.value == "length"


def test_a_wrong_key_is_said(remote) -> None:
    engine = remote("It is so.", key="another")
    with pytest.raises(ServerFailed, match="does not accept the key"):
        engine.connect(RequestHandle("load"))


def test_a_probe_finds_its_model(remote) -> None:
    assert [model.name for model in probe(remote("It is so.").server, KEY).models] == [NAME]
