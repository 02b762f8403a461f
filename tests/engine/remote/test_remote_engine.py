"""A request to a server becomes the same events as one to a model on this machine, with figures that are true."""

from __future__ import annotations

import threading
import time

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY, SamplingParams
from engine.errors import BadRequest, ServerFailed
from engine.events import Finished, FinishReason, PrefillProgress, TextDelta
from engine.remote.body import GO_ON
from tests.engine.remote.scripted import MODEL, Exchange, refuses, says

USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 4,
    "total_tokens": 34,
    "prompt_tokens_details": {"cached_tokens": 20},
}


def request(*texts: str, params: SamplingParams = GREEDY, **more) -> ChatRequest:
    roles = ("user", "assistant")
    messages = tuple(Message(roles[n % 2], text) for n, text in enumerate(texts or ("Why?",)))
    return ChatRequest("r", messages, params, **more)


def answer(engine, asked: ChatRequest) -> Finished:
    finished = list(engine.stream(asked))[-1]
    assert isinstance(finished, Finished)
    return finished


def test_an_answer_comes_piece_by_piece_with_the_servers_counts(ask) -> None:
    engine, _ = ask(says("Because ", "it ", "is.", usage=USAGE))
    events = list(engine.stream(request()))
    assert isinstance(events[0], PrefillProgress) and isinstance(events[-1], Finished)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Because ", "it ", "is."]
    finished, stats = events[-1], events[-1].stats
    assert (finished.text, finished.reason) == ("Because it is.", FinishReason.END)
    assert (finished.trace.model.path, finished.trace.prompt_tokens) == ("server", stats.prompt_tokens)
    assert (stats.prompt_tokens, stats.cached_tokens, stats.prefill_tokens, stats.completion_tokens) == (30, 20, 10, 4)
    assert stats.not_reported == () and stats.server == "GPU box"
    assert stats.ttft_s is not None and stats.decode_tokens_per_s is not None


def test_what_a_server_does_not_report_is_not_invented(ask) -> None:
    engine, _ = ask(says("One", " two"), says("One", usage={"prompt_tokens": 5, "completion_tokens": 1}))
    stats = answer(engine, request()).stats
    assert set(stats.not_reported) == {"prompt_tokens", "cached_tokens", "prefill_tokens", "completion_tokens"}
    assert stats.decode_tokens_per_s is None and stats.itl_ms is None and stats.ttft_s is not None
    stats = answer(engine, request()).stats
    assert set(stats.not_reported) == {"cached_tokens", "prefill_tokens"}
    assert not stats.reported("prompt_tokens", "cached_tokens") and stats.reported("prompt_tokens")


@pytest.mark.parametrize("cached", [-1, 31, 2.5, "many"])
def test_counts_that_make_no_sense_are_not_taken_for_true(ask, cached) -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": cached}}
    engine, _ = ask(says("So", " it", " is", usage=usage))
    assert "cached_tokens" in answer(engine, request()).stats.not_reported


def test_the_request_says_what_was_asked_and_no_more(ask, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-another-program")
    monkeypatch.setenv("OPENAI_ORG_ID", "their-organisation")
    engine, scripted = ask(says("Yes."))
    params = SamplingParams(temperature=0.5, top_k=7, min_p=0.1, seed=3, max_tokens=9, stop=("END",))
    answer(engine, request("Hi", "Hello.", "And?", params=params))
    seen = scripted.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert "authorization" not in seen.headers and "openai-organization" not in seen.headers
    assert "secret-of-another-program" not in str(seen.headers)
    assert [m["role"] for m in seen.body["messages"]] == ["user", "assistant", "user"]
    told = {name: seen.body[name] for name in ("model", "temperature", "top_k", "min_p", "seed", "max_tokens", "stop")}
    assert told == {
        "model": MODEL, "temperature": 0.5, "top_k": 7, "min_p": 0.1, "seed": 3, "max_tokens": 9, "stop": ["END"]
    }  # fmt: skip
    assert seen.body["stream_options"] == {"include_usage": True}


def test_the_key_is_sent_as_a_bearer_token(ask) -> None:
    engine, scripted = ask(says("Yes."), key="sk-1")
    answer(engine, request())
    assert scripted.seen[0].headers["authorization"] == "Bearer sk-1"


def test_a_server_that_knows_openais_parameters_alone_is_asked_with_those(ask) -> None:
    engine, scripted = ask(refuses(400, "Unrecognized request argument supplied: top_k"), says("Yes."))
    params = SamplingParams(top_k=7)
    assert answer(engine, request(params=params)).text == "Yes."
    assert answer(engine, request(params=params)).text == "Yes."
    assert ["top_k" in seen.body for seen in scripted.seen] == [True, False, False]


def test_an_answer_that_was_cut_off_goes_on(ask) -> None:
    engine, scripted = ask(says(" and so on."))
    messages = (Message("user", "Why?"), Message("assistant", "Because"))
    assert answer(engine, ChatRequest("r", messages, GREEDY, continue_reply=True)).text == " and so on."
    assert [m["content"] for m in scripted.seen[0].body["messages"]] == ["Why?", "Because", GO_ON]


def test_thinking_stands_before_the_answer_between_its_tags(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece(reasoning_content="Hm, ")
        exchange.piece(reasoning_content="well.")
        exchange.piece("It is so.")
        exchange.piece(reason="stop")
        exchange.end_stream()

    engine, _ = ask(act)
    assert answer(engine, request()).text == "<think>\nHm, well.\n</think>\n\nIt is so."


def test_the_length_limit_is_told(ask) -> None:
    engine, _ = ask(says("One", reason="length"))
    assert answer(engine, request()).reason is FinishReason.LENGTH


@pytest.mark.parametrize(
    "asked",
    [request("Why?", "So."), request(" "), ChatRequest("r", ()), request(params=SamplingParams(logprobs=1)),
     ChatRequest("r", (), prompt="Once")],
)  # fmt: skip
def test_what_a_server_cannot_answer_is_not_sent(ask, asked) -> None:
    engine, scripted = ask(says("Yes."))
    with pytest.raises(BadRequest):
        list(engine.stream(asked))
    assert scripted.seen == []


def test_stop_hangs_up_at_once_and_keeps_what_came(ask) -> None:
    hung_up = threading.Event()

    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("One")
        if exchange.hung_up():
            hung_up.set()

    engine, _ = ask(act)
    handle = RequestHandle("r")
    events = engine.stream(request(), handle)
    assert [type(next(events)), next(events).text] == [PrefillProgress, "One"]
    threading.Timer(0.2, handle.cancel).start()
    began = time.perf_counter()
    finished = next(events)
    assert (finished.reason, finished.text) == (FinishReason.CANCELLED, "One")
    assert time.perf_counter() - began < 2.0
    assert hung_up.wait(20)


def test_stop_works_while_a_server_keeps_silent(ask) -> None:
    engine, scripted = ask(lambda exchange: exchange.ended.wait(20))
    handle = RequestHandle("r")
    events = engine.stream(request(), handle)
    next(events)
    threading.Timer(0.2, handle.cancel).start()
    began = time.perf_counter()
    assert next(events).reason is FinishReason.CANCELLED
    assert time.perf_counter() - began < 2.0
    assert len(scripted.seen) == 1


def test_a_model_is_ready_when_the_server_says_that_it_has_it(ask) -> None:
    engine, scripted = ask(says("Yes."))
    scripted.models[0]["max_model_len"] = 32_768
    info = engine.connect(RequestHandle("load"))
    assert (info.name, info.label, info.server, info.remote) == (f"box/{MODEL}", "big-model", "GPU box", True)
    assert info.context_limit == 32_768 and info.host == f"127.0.0.1:{scripted.port}"
    scripted.models[0]["id"] = "another"
    with pytest.raises(ServerFailed, match="has no model org/big-model any more; it has: another"):
        engine.connect(RequestHandle("load"))
