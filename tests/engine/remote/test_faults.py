"""Each fault of network and server becomes one sentence; what may pass is tried once more; what came is kept."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY
from engine.errors import BadRequest, EngineError, ServerFailed
from engine.events import Finished, FinishReason, PrefillProgress, TextDelta
from engine.remote.engine import RemoteEngine
from engine.remote.probe import probe
from engine.remote.servers import RemoteServer
from tests.engine.remote.scripted import Exchange, refuses, says

REQUEST = ChatRequest("r", (Message("user", "Why?"),), GREEDY)


def outcome(engine: RemoteEngine) -> tuple[str, EngineError]:
    """The text that came, and the error after it."""
    texts: list[str] = []
    with pytest.raises((ServerFailed, BadRequest)) as caught:
        texts.extend(event.text for event in engine.stream(REQUEST) if isinstance(event, TextDelta))
    return "".join(texts), caught.value


def sentence(engine: RemoteEngine) -> str:
    text, error = outcome(engine)
    assert text == ""
    assert error.sentence.endswith(".") and error.detail
    return error.sentence


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, "asks for a key, and there is none"), (403, "(error 403): no reason."), (404, "has no model org/big-model"),
     (400, "refuses the request (error 400): no reason."), (413, "error 413"), (307, "sends requests on")],
)  # fmt: skip
def test_a_refusal_is_said_and_not_tried_again(ask, status: int, expected: str) -> None:
    engine, scripted = ask(refuses(status, Location="http://elsewhere.example/"))
    assert expected in sentence(engine)
    assert len(scripted.seen) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_to_be_typed_in_once_more(ask, status: int) -> None:
    engine, _ = ask(refuses(status), key="sk-7")
    assert "does not accept the key; type it in once more" in sentence(engine)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
def test_a_failure_inside_the_server_is_tried_once_more(ask, status: int) -> None:
    engine, scripted = ask(refuses(status, Retry_After="0"), says("Yes."))
    assert list(engine.stream(REQUEST))[-1].text == "Yes."
    assert len(scripted.seen) == 2


def test_a_failure_that_lasts_is_said(ask) -> None:
    engine, scripted = ask(refuses(500, Retry_After="0"))
    assert "has failed inside (error 500)" in sentence(engine)
    assert len(scripted.seen) == 2


def test_a_busy_server_is_waited_for_as_long_as_it_asks_and_that_is_said(ask) -> None:
    engine, scripted = ask(refuses(429, Retry_After="1"), says("Yes."))
    began = time.perf_counter()
    events = list(engine.stream(REQUEST))
    assert time.perf_counter() - began >= 1.0
    notes = [event.note for event in events if isinstance(event, PrefillProgress)]
    assert notes == ["", "GPU box is busy; asks again in 1 s", ""]
    assert isinstance(events[-1], Finished) and len(scripted.seen) == 2


def test_a_server_that_asks_for_a_long_wait_is_not_waited_for(ask) -> None:
    engine, scripted = ask(refuses(429, Retry_After="600"))
    assert "too many requests; try again in 600 s." in sentence(engine)
    assert len(scripted.seen) == 1


def test_stop_ends_the_wait_for_a_busy_server(ask) -> None:
    engine, _ = ask(refuses(429, Retry_After="15"))
    handle = RequestHandle("r")
    threading.Timer(0.2, handle.cancel).start()
    began = time.perf_counter()
    assert list(engine.stream(REQUEST, handle))[-1].reason is FinishReason.CANCELLED
    assert time.perf_counter() - began < 5.0


def test_a_stream_that_is_cut_keeps_what_came(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Half an")
        exchange.cut()

    engine, scripted = ask(act)
    text, error = outcome(engine)
    assert text == "Half an" and "broke off in the middle" in error.sentence
    assert len(scripted.seen) == 1
    assert error.stats is not None and error.stats.server == "GPU box" and error.stats.ttft_s is not None
    assert not error.stats.reported("completion_tokens")


def test_an_answer_that_was_complete_is_not_lost_with_its_connection(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("All of it.")
        exchange.piece(reason="stop")
        exchange.cut()

    engine, _ = ask(act)
    finished = list(engine.stream(REQUEST))[-1]
    assert (finished.text, finished.reason) == ("All of it.", FinishReason.END)
    assert not finished.stats.reported("completion_tokens")


def test_a_stream_that_ends_without_saying_why_is_taken_for_cut(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Half an")
        exchange.end_stream()

    engine, _ = ask(act)
    assert "broke off in the middle" in outcome(engine)[1].sentence


def test_a_stream_that_stalls_is_given_up(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Half an")
        exchange.ended.wait(20)

    engine, _ = ask(act, stall_s=0.5)
    text, error = outcome(engine)
    assert text == "Half an" and "has stopped sending" in error.sentence


def test_a_server_that_never_begins_is_given_up(ask) -> None:
    engine, _ = ask(lambda exchange: exchange.ended.wait(20), stall_s=0.5)
    assert "has not answered for too long" in sentence(engine)


def html(exchange: Exchange) -> None:
    exchange.send(200, b"<html><body>Log in, please</body></html>", "text/html")


def garbage(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.write("data: {this is no JSON\n\n")
    exchange.end_stream()


def binary(exchange: Exchange) -> None:
    exchange.send(200, b"data: \xff\xfe\x00\n\n", "text/event-stream")


def no_choices(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.event({"id": "1", "choices": []})
    exchange.end_stream()


def other_json(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.event({"choices": "none", "usage": 7})
    exchange.write("data: [1, 2]\n\ndata: null\n\ndata: 7\n\n")
    exchange.end_stream()


@pytest.mark.parametrize("act", [html, garbage, binary, no_choices, other_json])
def test_what_is_no_answer_is_called_so(ask, act) -> None:
    engine, _ = ask(act)
    assert "is no answer of an OpenAI-compatible server" in sentence(engine)


def test_an_error_in_the_stream_is_told_in_the_servers_words(ask) -> None:
    def act(exchange: Exchange) -> None:
        exchange.begin_stream()
        exchange.piece("Half")
        exchange.event({"error": {"message": "out of memory", "code": 500}})
        exchange.end_stream()

    engine, _ = ask(act)
    assert outcome(engine)[1].sentence == "The server GPU box gave up: out of memory."


def at(url: str) -> RemoteEngine:
    return RemoteEngine(RemoteServer("box", "GPU box", url), "m", "", stall_s=5)


def check_unreachable(url: str, expected: str) -> None:
    engine = at(url)
    try:
        assert expected in sentence(engine)
    finally:
        engine.close()


def test_a_refused_connection_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    check_unreachable(f"http://127.0.0.1:{port}/v1", f"Nothing answers at 127.0.0.1:{port}")


def test_a_host_that_does_not_exist_is_said() -> None:
    check_unreachable("http://no-such-host.invalid/v1", "There is no host no-such-host.invalid")


def test_a_certificate_that_cannot_be_trusted_is_said(tmp_path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def shake() -> None:
            connection, _ = listener.accept()
            with connection, pytest.raises(ssl.SSLError):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=shake, daemon=True)
        thread.start()
        check_unreachable(f"https://127.0.0.1:{listener.getsockname()[1]}/v1", "cannot be trusted")
        thread.join(20)


def test_the_systems_proxy_is_used_but_not_for_this_machine(ask, monkeypatch) -> None:
    engine, scripted = ask(says("Yes."))
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{scripted.port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{scripted.port}")
    away = RemoteEngine(RemoteServer("far", "Far", "http://gpu.invalid/v1"), "m", "")
    try:
        assert list(away.stream(REQUEST))[-1].text == "Yes."
    finally:
        away.close()
    assert scripted.seen[0].path == "http://gpu.invalid/v1/chat/completions"
    assert list(engine.stream(REQUEST))[-1].text == "Yes."
    assert scripted.seen[1].path == "/v1/chat/completions"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_said(monkeypatch, proxy: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    with pytest.raises(ServerFailed, match="cannot use this kind of proxy"):
        RemoteEngine(RemoteServer("far", "Far", "https://gpu.invalid/v1"), "m", "")
    near = RemoteEngine(RemoteServer("near", "Near", "http://localhost:1/v1"), "m", "")
    near.close()


@pytest.mark.parametrize("key", ["sk-é", "sk-1\nX-Other: 1", "密钥"])
def test_a_key_that_cannot_be_sent_is_said(key: str) -> None:
    with pytest.raises(ServerFailed, match="characters that no key has"):
        RemoteEngine(RemoteServer("box", "GPU box", "http://localhost:1/v1"), "m", key)


def test_an_engine_that_is_closed_leaves_no_connection(script) -> None:
    scripted, hung_up = script(says("Yes.")), threading.Event()

    def answer(exchange: Exchange) -> None:
        says("Yes.")(exchange)
        exchange.handler.wfile.flush()
        if exchange.hung_up():  # until then it is kept open for another question
            hung_up.set()

    scripted.actions = [answer]
    engine = at(scripted.server.base_url)
    assert list(engine.stream(REQUEST))[-1].text == "Yes."
    engine.close()
    engine.close()
    assert hung_up.wait(20)


def test_a_probe_lists_models_and_says_what_is_wrong(script) -> None:
    scripted = script(says("Yes."))
    scripted.models.append({"id": "a-model", "max_model_len": 4096})
    found = probe(scripted.server, "sk-2")
    assert [(model.name, model.context_limit) for model in found.models] == [("a-model", 4096), ("org/big-model", 0)]
    assert 0 < found.latency_s < 20 and found.warning == ""
    assert scripted.listed[0].headers["authorization"] == "Bearer sk-2"
    for act, expected in (
        (refuses(401), "asks for a key"), (refuses(404), "lists no models"), (html, "is no answer"),
        (lambda exchange: exchange.send(200, {"data": 7}), "is no answer"),
    ):  # fmt: skip
        scripted.listing = act
        with pytest.raises(ServerFailed, match=expected):
            probe(scripted.server, "")
