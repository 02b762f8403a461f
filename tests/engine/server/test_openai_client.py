"""The `openai` client, unmodified: streams and not, choices, log probabilities, tools, schemas, text completions."""

from __future__ import annotations

import datetime
import json
import math
from typing import Literal

import openai
import pydantic
import pytest

from engine.server.options import ServerOptions
from tests.engine.fakes import CHATML
from tests.engine.server.conftest import NAME, PATIENCE_S, TOKENIZER, Says
from tests.engine.test_prompt import HERMES

QUESTION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who are you?"}]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
]
CALL = 'Wait. <tool_call>\n{"name": "weather", "arguments": {"city": "Zürich"}}\n</tool_call>'


def client_of(served, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=served.server.url, api_key=key, max_retries=0, timeout=PATIENCE_S)


@pytest.fixture
def client(shared):
    with client_of(shared) as client:
        yield client


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == [NAME]
    assert client.models.retrieve(NAME).max_model_len == 4096


def test_a_stream_says_what_the_whole_answer_says(client):
    asked = {"model": NAME, "messages": QUESTION, "temperature": 0, "max_tokens": 12}
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == whole.choices[0].finish_reason == "length"
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert {chunk.system_fingerprint for chunk in chunks} == {whole.system_fingerprint}
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].choices == []
    assert chunks[-1].usage.prompt_tokens == whole.usage.prompt_tokens
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens == 12
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + 12


def test_a_reply_that_ends_by_itself_stops(serve):
    served = serve(Says("I am a pear."))
    with client_of(served) as client:
        done = client.chat.completions.create(model=NAME, messages=QUESTION)
    assert (done.choices[0].message.content, done.choices[0].finish_reason) == ("I am a pear.", "stop")


def test_stop_strings_seeds_and_choices(client):
    asked = {"model": NAME, "messages": QUESTION, "max_tokens": 20, "seed": 7, "n": 3}
    once, again = (client.chat.completions.create(**asked) for _ in range(2))
    texts = [choice.message.content for choice in once.choices]
    assert [choice.index for choice in once.choices] == [0, 1, 2]
    assert len(set(texts)) == 3
    assert texts == [choice.message.content for choice in again.choices]
    assert once.usage.completion_tokens == 60
    streamed = ["", "", ""]
    for chunk in client.chat.completions.create(**asked, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert streamed == texts
    stop = texts[0][3:5]
    cut = client.chat.completions.create(**{**asked, "n": 1}, stop=stop)
    assert cut.choices[0].message.content == texts[0][: texts[0].index(stop)]
    assert cut.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities(stream, client):
    asked = {"model": NAME, "messages": QUESTION, "temperature": 0, "max_tokens": 5, "logprobs": True}
    done = client.chat.completions.create(**asked, top_logprobs=3, stream=stream)
    choices = [chunk.choices[0] for chunk in done] if stream else done.choices
    tokens = [token for choice in choices if choice.logprobs for token in choice.logprobs.content]
    assert len(tokens) == 5
    for token in tokens:
        assert [token.token, token.logprob] == [token.top_logprobs[0].token, token.top_logprobs[0].logprob]
        assert len(token.top_logprobs) == 3
        assert sum(math.exp(other.logprob) for other in token.top_logprobs) < 1
        assert bytes(token.bytes).decode(errors="replace") == token.token


@pytest.mark.parametrize("stream", [False, True])
def test_tools_are_called_and_their_results_go_back(stream, serve):
    served = serve(Says(CALL, "It rains."), template=HERMES)
    with client_of(served) as client:
        asked = {"model": NAME, "messages": QUESTION, "tools": TOOLS}
        done = client.chat.completions.create(**asked, stream=stream)
        if stream:
            deltas = [chunk.choices[0] for chunk in done]
            assert "".join(choice.delta.content or "" for choice in deltas).strip() == "Wait."
            (call,) = [call for choice in deltas for call in choice.delta.tool_calls or ()]
            assert deltas[-1].finish_reason == "tool_calls"
            said = {"role": "assistant", "content": "Wait.", "tool_calls": [call.model_dump(exclude={"index"})]}
        else:
            assert done.choices[0].finish_reason == "tool_calls"
            assert done.choices[0].message.content == "Wait."
            (call,) = done.choices[0].message.tool_calls
            said = done.choices[0].message
        assert call.function.name == "weather"
        assert json.loads(call.function.arguments) == {"city": "Zürich"}
        result = {"role": "tool", "tool_call_id": call.id, "content": "Rain"}
        then = client.chat.completions.create(model=NAME, messages=[*QUESTION, said, result], tools=TOOLS)
    assert then.choices[0].message.content == "It rains."
    reply = len(TOKENIZER.encode(CALL))
    assert then.usage.prompt_tokens_details.cached_tokens >= reply  # the call went back as it was generated


def test_tools_that_must_not_be_called_are_not_told_of(serve):
    served = serve(Says(CALL, "It rains."), template=HERMES)
    with client_of(served) as client:
        done = client.chat.completions.create(model=NAME, messages=QUESTION, tools=TOOLS, tool_choice="none")
    assert done.choices[0].message.tool_calls is None
    assert done.choices[0].message.content == CALL


def test_json_of_a_schema(client):
    schema = {
        "type": "object",
        "properties": {"answer": {"enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    done = client.chat.completions.create(
        model=NAME,
        messages=QUESTION,
        response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": schema, "strict": True}},
    )
    assert json.loads(done.choices[0].message.content)["answer"] in ("yes", "no")
    assert done.choices[0].finish_reason == "stop"


class Verdict(pydantic.BaseModel):
    """What the client's own helper makes a schema of: with titles, definitions and descriptions."""

    answer: Literal["yes", "no"]
    others: list[Colour] = pydantic.Field(max_length=2)


class Colour(pydantic.BaseModel):
    name: Literal["red", "green"]


def test_the_clients_own_helper_gets_objects_of_its_class(client):
    done = client.chat.completions.parse(model=NAME, messages=QUESTION, response_format=Verdict, seed=2)
    assert isinstance(done.choices[0].message.parsed, Verdict)


def test_what_clients_send_by_default_is_taken(client):
    nothing = dict.fromkeys(
        ("frequency_penalty", "logit_bias", "logprobs", "max_tokens", "metadata", "n", "presence_penalty", "seed")
    )
    more = dict.fromkeys(("service_tier", "stop", "store", "stream_options", "temperature", "tools", "top_p", "user"))
    usual = {"store": False, "service_tier": "auto", "modalities": ["text"], "response_format": {"type": "text"}}
    usual |= {"tools": [], "parallel_tool_calls": True, "stop": [], "logit_bias": {}, "prompt_cache_key": "k"}
    for fields in ({**nothing, **more}, usual):
        body = {**fields, "max_completion_tokens": 3}
        done = client.chat.completions.create(model=NAME, messages=QUESTION, extra_body=body)
        assert done.usage.completion_tokens == 3


def test_a_template_that_asks_for_the_day_is_told_today(serve):
    served = serve(template="{{ strftime_now('%Y-%m-%d') }}" + CHATML)
    with client_of(served) as client:
        client.chat.completions.create(model=NAME, messages=QUESTION, max_tokens=2)
    (cache,) = served.worker._engine._model.store._caches.values()
    today = {datetime.date.today().isoformat(), (datetime.date.today() - datetime.timedelta(1)).isoformat()}
    assert TOKENIZER.decode(cache.ids)[:10] in today  # yesterday, if midnight came between


def test_text_completions_of_several_prompts(client):
    asked = {"model": NAME, "prompt": ["Once upon", "In the end"], "max_tokens": 6, "temperature": 0, "logprobs": 2}
    done = client.completions.create(**asked, n=2)
    assert [choice.index for choice in done.choices] == [0, 1, 2, 3]
    assert done.choices[0].text == done.choices[1].text != done.choices[2].text
    assert done.usage.prompt_tokens == len("Once upon") + len("In the end")  # a token a byte, no template
    told = done.choices[0].logprobs
    assert len(told.tokens) == len(told.token_logprobs) == len(told.top_logprobs) == len(told.text_offset) == 6
    assert told.text_offset[0] == 0
    streamed = ["", ""]
    for chunk in client.completions.create(**asked, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].text
    assert streamed == [done.choices[0].text, done.choices[2].text]
    ids = TOKENIZER.encode("Once upon")
    for prompt in (ids, [ids]):
        alone = client.completions.create(model=NAME, prompt=prompt, max_tokens=6, temperature=0)
        assert alone.choices[0].text == done.choices[0].text


def test_errors_are_the_clients_own_exceptions(serve):
    served = serve(options=ServerOptions(port=0, api_key="right"))
    with client_of(served, "wrong") as client, pytest.raises(openai.AuthenticationError):
        client.models.list()
    with client_of(served, "right") as client:
        with pytest.raises(openai.NotFoundError, match="not served here"):
            client.chat.completions.create(model="gpt-4", messages=QUESTION)
        with pytest.raises(openai.BadRequestError, match="not supported here"):
            client.chat.completions.create(model=NAME, messages=QUESTION, extra_body={"frobnicate": 1})
