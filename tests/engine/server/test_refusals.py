"""What cannot be answered: a status of 4xx and one sentence in OpenAI's error object, and the server goes on."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import time

import pytest

from engine.server import guard
from engine.server.connections import Connection
from engine.server.options import ServerOptions
from tests.engine.server.conftest import NAME, PATIENCE_S, until

USER = {"role": "user", "content": "q"}
DEEP = "[" * 200_000
BODIES = {
    "malformed": "{",
    "empty": "",
    "no object": "[]",
    "deep": DEEP,
    "too many digits": '{"model": "fake", "max_tokens": 1' + "0" * 6000 + "}",
    "half a character": '{"model": "fake", "messages": [{"role": "user", "content": "\\ud800"}]}',
    "half a key": '{"model": "fake", "messages": [{"role": "user", "content": "q"}], "\\ud800": 1}',
    "not a number": '{"model": "fake", "messages": [{"role": "user", "content": "q"}], "temperature": NaN}',
    "infinite": '{"model": "fake", "messages": [{"role": "user", "content": "q"}], "temperature": 1e999}',
}
FIELDS = {
    "no messages": {"messages": []},
    "a role that is none": {"messages": [{"role": "wizard", "content": "q"}]},
    "no role": {"messages": [{"content": "q"}]},
    "an empty question": {"messages": [{"role": "user", "content": " "}]},
    "no question": {"messages": [USER, {"role": "assistant", "content": "a"}]},
    "an empty reply": {"messages": [{"role": "assistant"}, USER]},
    "a null question": {"messages": [{"role": "user", "content": None}]},
    "negative": {"max_tokens": -1},
    "huge": {"max_tokens": 10**30},
    "hot": {"temperature": 2.5},
    "a number as text": {"temperature": "0.5"},
    "a huge seed": {"seed": 2**64},
    "unknown": {"frobnicate": True},
    "not supported": {"tool_choice": "required"},
    "another model": {"model": "gpt-4"},
    "a schema that is none": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "nonsense"}}}
    },
    "a schema elsewhere": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "s", "schema": {"$ref": "file:///etc/passwd"}},
        }
    },
    "a huge schema": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "s", "schema": {"enum": ["x" * 1000 + str(n) for n in range(300)]}},
        }
    },
    "an image": {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/secret"}}]}
        ]
    },
    "tools of a model that knows none": {"tools": [{"type": "function", "function": {"name": "clock"}}]},
    "a history beyond the context": {"messages": [{"role": "user", "content": "word " * 2000}]},
    "a history far beyond the context": {"messages": [{"role": "user", "content": "word " * 200_000}]},
    "a bias for no token": {"logit_bias": {"99999": 1}},
    "a bias for no number": {"logit_bias": {"x": 1}},
    "top_logprobs alone": {"top_logprobs": 2},
    "an empty stop": {"stop": [""]},
    "stream_options without a stream": {"stream_options": {"include_usage": True}},
    "two lengths": {"max_tokens": 3, "max_completion_tokens": 4},
    "too many choices": {"n": 1000},
}


def refused(response, status: int | None = None) -> dict:
    assert 400 <= response.status_code < 500 if status is None else response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"].endswith(".")
    assert "\n" not in error["message"]
    return error


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_none_is_refused_and_the_server_goes_on(body, shared):
    headers = {"Content-Type": "application/json"}
    refused(shared.http.post("/v1/chat/completions", content=body, headers=headers))
    assert shared.chat("and now?").status_code == 200
    assert shared.window == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_a_field_that_cannot_be_honoured_is_refused(fields, stream, shared):
    body = {"model": NAME, "messages": [USER], "stream": stream, **fields}
    if stream and "stream_options" in fields:
        return
    refused(shared.http.post("/v1/chat/completions", json=body))
    assert shared.service._open == {}
    assert shared.service._admitted == 0


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (FIELDS["a role that is none"], "messages.0 cannot be used: 'role' is wizard"),
        (FIELDS["an image"], "messages.0.content.0 cannot be used: only text parts are supported, not image_url"),
        (FIELDS["unknown"], "frobnicate cannot be used: it is not supported here"),
        (FIELDS["no messages"], "messages cannot be used: it should have at least 1 entries"),
        (FIELDS["negative"], "max_tokens cannot be used: it should be greater than or equal to 1"),
        ({"stop": ""}, "stop cannot be used: it may be a text or a list of up to 16 texts, none of them empty."),
        ({"stop": [""]}, "stop cannot be used: it may be a text or a list"),
        ({"stop": 5}, "stop cannot be used: it may be a text or a list"),
        ({"store": True}, "store cannot be used: only false is supported here."),
        ({"metadata": {"a": "b"}}, "metadata cannot be used: only null is supported here."),
        ({"service_tier": "flex"}, "service_tier cannot be used: only 'auto' or 'default' is supported here."),
        ({"max_tokens": 1.5}, "max_tokens cannot be used: it should be a whole number."),
        ({"stream": "yes"}, "stream cannot be used: it should be true or false."),
        ({"logit_bias": {"x": 1}}, "logit_bias.x cannot be used: it may be an object of token ids"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content cannot be used: it may be a text or a"),
        (FIELDS["a history beyond the context"], "tokens, but the model can hold 4,096"),
        (FIELDS["a schema that is none"], "The JSON schema cannot be used: Invalid type: nonsense"),
    ],
)
def test_the_sentence_says_what_and_where(fields, words, shared):
    assert (
        words in refused(shared.chat("q", **fields) if "messages" not in fields else shared.chat(**fields))["message"]
    )


def test_the_codes_are_those_that_clients_know(shared):
    assert refused(shared.chat("q", model="gpt-4"), 404)["code"] == "model_not_found"
    assert refused(shared.chat("word " * 2000), 400)["code"] == "context_length_exceeded"
    long = {"model": NAME, "prompt": "word " * 200_000}
    assert refused(shared.http.post("/v1/completions", json=long), 400)["param"] == "prompt"
    assert refused(shared.http.get("/v1/nothing"), 404)
    assert refused(shared.http.delete("/v1/models"), 405)
    assert refused(shared.http.get("/v1/models/gpt-4"), 404)["code"] == "model_not_found"


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_of_100_megabytes_is_refused_and_not_kept(declared, shared):
    def pieces():
        for _ in range(100):
            yield b"x" * 1_000_000

    body = b"x" * 100_000_000 if declared else pieces()
    error = refused(shared.http.post("/v1/chat/completions", content=body), 413)
    assert "10 MB" in error["message"]
    assert shared.chat("and now?").status_code == 200


def raw(served, head: str) -> str:
    """The status line that comes of a request whose body never does."""
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n\r\n".encode())
        return connection.recv(1000).decode().partition("\r\n")[0]


def test_a_client_that_asks_first_is_told_before_it_sends(shared):
    assert " 413 " in raw(shared, "Content-Length: 100000000\r\nExpect: 100-continue")
    assert " 413 " in raw(shared, "Content-Length: 100000000")


def test_a_packed_body_is_refused_in_a_sentence(shared):
    body = gzip.compress(json.dumps({"model": NAME, "prompt": "q"}).encode())
    error = refused(shared.http.post("/v1/completions", content=body, headers={"Content-Encoding": "gzip"}), 415)
    assert "gzip" in error["message"]
    plain = {"model": NAME, "prompt": "q", "max_tokens": 2}
    assert shared.http.post("/v1/completions", json=plain, headers={"Content-Encoding": "identity"}).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST / HTTP/1.1\r\nX: ",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n",
    ],
    ids=["nothing", "half a head", "a body that was refused"],
)
def test_a_connection_that_drips_is_cut_off(sent, serve, monkeypatch):
    monkeypatch.setattr(Connection, "headers_s", 0.5)
    served = serve()
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        with pytest.raises(ConnectionError):  # writing to a closed connection fails
            while time.monotonic() - began < PATIENCE_S:
                connection.sendall(b"x")
                time.sleep(0.05)
    assert served.chat("and now?").status_code == 200


def test_a_connection_too_many_is_closed_at_once_and_another_may_come_later(serve, monkeypatch):
    monkeypatch.setattr(Connection, "most", 3)
    served = serve()
    address = "127.0.0.1", served.server.port
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
        more = stack.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
        with contextlib.suppress(ConnectionResetError):
            assert more.recv(1) == b""
    until(lambda: not served.server._server.server_state.connections, "all to be gone")
    assert served.chat("and now?").status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for_for_ever(shared, monkeypatch):
    monkeypatch.setattr(guard, "_BODY_S", 0.1)
    assert " 408 " in raw(shared, "Content-Length: 10")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": "0.0.0.0:{port}"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:{port}"},  # the Host is 127.0.0.1: another origin
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_web_page_or_a_foreign_name_gets_nothing(headers, shared):
    headers = {name: value.format(port=shared.server.port) for name, value in headers.items()}
    for path in ("/health", "/v1/models", "/metrics", "/openapi.json"):
        response = shared.http.get(path, headers=headers)
        refused(response, 403)
        assert not [name for name in response.headers if name.startswith("access-control")]
    preflight = shared.http.options("/v1/chat/completions", headers={"Origin": "http://evil.example"})
    refused(preflight, 403)


def test_a_program_on_this_machine_may_call_it_by_any_of_its_names(shared):
    port = shared.server.port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST", "127.0.0.1"):
        assert shared.http.get("/v1/models", headers={"Host": host}).status_code == 200
    own = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
    assert shared.http.get("/v1/models", headers=own).status_code == 200


def test_with_a_key_everything_but_the_health_needs_it(serve):
    served = serve(options=ServerOptions(port=0, api_key="s3cret ü"))
    for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}, {"Authorization": "Bearer"}):
        for path in ("/v1/models", "/metrics", "/openapi.json"):
            error = refused(served.http.get(path, headers=wrong), 401)
            assert error["code"] == "invalid_api_key"
    assert served.http.get("/health").status_code == 200
    right = {"Authorization": "Bearer s3cret ü".encode()}
    assert served.http.get("/v1/models", headers=right).status_code == 200


def test_what_a_refusal_quotes_is_cut(shared):
    assert len(refused(shared.chat("q", model="x" * 100_000))["message"]) < 200
    response = shared.http.get("/health", headers={"Host": "x" * 5000})
    assert len(refused(response, 403)["message"]) < 200


@pytest.mark.expects_log("secret detail")
def test_an_error_of_the_engine_itself_is_500_in_a_sentence_and_tells_nothing_else(serve):
    from tests.engine.fakes import FakeRunner

    def explode(ids):
        raise KeyError("secret detail")

    served = serve(FakeRunner(before=explode))
    for stream in (False, True):
        response = served.chat("q", stream=stream)
        assert response.status_code == 500
        assert json.loads(response.text)["error"]["type"] == "server_error"
        assert "secret" not in response.text
