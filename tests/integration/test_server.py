"""`loquat serve` as a person starts it: its own process, the default model, real clients, and its end by Ctrl+C."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import openai
import pytest

from engine.paths import Paths

ROOT = Path(__file__).parent.parent.parent
MODEL = "smollm2-135m-instruct"
KEY = "only for tests"
pytestmark = pytest.mark.model


@contextlib.contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its URL; Ctrl+C ends it, and it ends well."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0", *arguments]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if sys.platform == "win32":  # or the signal would reach the tests too
        pipes["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, **pipes) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        line = run.stdout.readline()
        found = re.search(r"is served at (\S+) as (\S+)\. Ctrl\+C ends it\.", line)
        try:
            assert found, line + run.stderr.read()
            yield run, found[1]
        finally:
            run.send_signal(signal.CTRL_BREAK_EVENT if sys.platform == "win32" else signal.SIGINT)
            _, said = run.communicate(timeout=60)
        assert run.returncode == 0, said
        assert "Traceback" not in said


def client_of(url: str, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=120)


def test_a_conversation_over_http_costs_only_what_is_new(home_with_model: Paths) -> None:
    with serving() as (_, url), client_of(url) as client:
        assert [model.id for model in client.models.list()] == [MODEL]
        messages: list[Any] = [{"role": "user", "content": "What is the capital of France?"}]
        first = client.chat.completions.create(model=MODEL, messages=messages, temperature=0, max_tokens=40)
        assert "Paris" in (first.choices[0].message.content or "")
        messages += [first.choices[0].message, {"role": "user", "content": "And of Italy?"}]
        stream = client.chat.completions.create(
            model=MODEL,
            messages=messages,
            temperature=0,
            max_tokens=24,
            stream=True,
            stream_options={"include_usage": True},
        )
        *chunks, last = stream
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert first.usage is not None
        assert last.usage is not None
        assert last.usage.prompt_tokens_details is not None
        held = first.usage.prompt_tokens + first.usage.completion_tokens - 1
        assert last.usage.prompt_tokens_details.cached_tokens == held
        text = client.completions.create(model=MODEL, prompt="The capital of France is", temperature=0, max_tokens=4)
        assert "Paris" in text.choices[0].text
    assert not list((home_with_model.cache / "kv").rglob("*.safetensors"))  # nothing that clients said stays behind


def test_a_key_from_the_environment_and_a_short_context(home_with_model: Paths) -> None:
    with serving("--max-model-len", "256", LOQUAT_API_KEY=KEY) as (run, url):
        assert KEY not in " ".join(str(word) for word in run.args)  # type: ignore[union-attr]
        with client_of(url) as client, pytest.raises(openai.AuthenticationError):
            client.models.list()
        with client_of(url, KEY) as client:
            assert client.models.retrieve(MODEL).max_model_len == 256  # type: ignore[attr-defined]
            with pytest.raises(openai.BadRequestError, match="can hold 256"):
                client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "word " * 400}])
            with pytest.raises(openai.BadRequestError, match="knows no tools"):
                client.chat.completions.create(
                    model=MODEL,
                    messages=[{"role": "user", "content": "What time is it?"}],
                    tools=[{"type": "function", "function": {"name": "clock"}}],
                )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--port", "70000"), "must be a whole number from 0 to 65,535"),
        (("--host", "0.0.0.0"), "an API key is needed"),
        (("--host", "no.such.host.invalid", "--api-key", "k"), "is no address of this machine"),
        (("--memory-utilization", "7"), "memory_utilization must be between"),
        (("--model", "no-such-model"), "no-such-model"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(arguments: tuple[str, ...], words: str, home_with_model: Paths) -> None:
    assert words in refused("--port", "0", *arguments)


def test_a_port_that_is_taken_is_said_before_a_model_is_loaded(home_with_model: Paths) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused("--port", str(port)) == f"Port {port} is taken by another program; choose another port."


def refused(*arguments: str) -> str:
    command = [sys.executable, "-m", "app", "serve", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.endswith(".")
    return sentence


def test_a_context_beyond_the_models_is_refused_with_its_limit(home_with_model: Paths) -> None:
    sentence = refused("--port", "0", "--max-model-len", "99999999")
    assert "can hold 8,192 tokens, fewer than the 99,999,999 of --max-model-len; give 8192 or less" in sentence


SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 30},
            "country": {"type": "string", "maxLength": 30},
            "population": {"type": "integer", "minimum": 0, "maximum": 40_000_000},
            "capital": {"type": "boolean"},
        },
        "required": ["city", "country", "population", "capital"],
        "additionalProperties": False,
    },
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 20},
                "colour": {"enum": ["red", "green", "blue"]},
                "price": {"type": "number", "minimum": 0, "maximum": 100},
            },
            "required": ["name", "colour"],
            "additionalProperties": False,
        },
        "minItems": 1,
        "maxItems": 3,
    },
    {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"}]},
    {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}, "required": ["when"]}
    | {"additionalProperties": False},
    {"const": {"a": [1, 2, {"b": "c"}]}},
]


@pytest.mark.slow
def test_fifty_of_fifty_replies_follow_their_schema(home_with_model: Paths) -> None:
    """Ten of each schema, at temperature 1 with seeds: parsed and validated by a library that wrote none of them."""
    with serving() as (_, url), client_of(url) as client:
        for n in range(50):
            schema = SCHEMAS[n % len(SCHEMAS)]
            done = client.chat.completions.create(
                model=MODEL,
                messages=[{"role": "user", "content": "Tell me something about a place, as JSON."}],
                seed=n,
                max_tokens=400,
                response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
            )
            said = done.choices[0].message.content or ""
            assert done.choices[0].finish_reason == "stop", said
            jsonschema_rs.validate(schema, json.loads(said))
        free = client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "An empty JSON object, please."}],
            temperature=0,
            max_tokens=300,
            response_format={"type": "json_object"},
        )
        if free.choices[0].finish_reason == "stop":
            assert isinstance(json.loads(free.choices[0].message.content or ""), dict)


def test_a_client_that_leaves_frees_the_engine_for_the_next(home_with_model: Paths) -> None:
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "Count to a thousand."}], "max_tokens": 4000}
    with serving() as (_, url), httpx.Client(timeout=120) as client:
        with client.stream("POST", f"{url}/chat/completions", json={**asked, "stream": True}) as response:
            next(response.iter_lines())
        short = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
        begun = client.post(f"{url}/chat/completions", json=short)
        assert begun.elapsed.total_seconds() < 10  # four thousand tokens would take more than a minute
        metrics = client.get(url.replace("/v1", "/metrics")).text
        assert 'loquat_requests_total{outcome="cancelled"} 1.0' in metrics
