"""A chat request as the body of `POST /chat/completions`."""

from __future__ import annotations

import json
from typing import Any, Final

from engine.chat import ChatRequest, Message
from engine.config import SamplingParams
from engine.errors import BadRequest

# There is no such thing in OpenAI's API as a reply that goes on, so the model is asked to, in words.
GO_ON: Final = "Go on with your last answer exactly where it ends. Repeat nothing, and say nothing about this."


def request_body(request: ChatRequest, model: str, *, beyond: bool) -> dict[str, Any]:
    """Keyword arguments of the `openai` client.

    Args:
        request: What is asked.
        model: The model's name on the server.
        beyond: Whether to send what OpenAI's API lacks, but vLLM, llama.cpp and others know: top_k, min_p,
            repetition_penalty.

    Raises:
        BadRequest: There is nothing to answer, or it asks for what only a model on this machine does.
    """
    _check(request)
    params = request.params
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "temperature": params.temperature,
        "top_p": params.top_p,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_where_set(params),
    }
    if request.continue_reply:
        body["messages"].append({"role": "user", "content": GO_ON})
    if beyond:
        body["extra_body"] = extras(params)
    return body


def extras(params: SamplingParams) -> dict[str, Any]:
    """Those of a request's sampling parameters that OpenAI's API lacks, where they change anything."""
    known = {"top_k": (params.top_k, 0), "min_p": (params.min_p, 0.0)}
    known["repetition_penalty"] = (params.repetition_penalty, 1.0)
    return {name: value for name, (value, neutral) in known.items() if value != neutral}


def _where_set(params: SamplingParams) -> dict[str, Any]:
    found: dict[str, Any] = {
        "max_tokens": params.max_tokens,
        "seed": params.seed,
        "stop": list(params.stop) or None,
        "presence_penalty": params.presence_penalty or None,
        "frequency_penalty": params.frequency_penalty or None,
    }
    if params.json_schema:
        schema = {"name": "answer", "schema": json.loads(params.json_schema)}
        found["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {name: value for name, value in found.items() if value is not None}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.content, **(json.loads(message.extra) if message.extra else {})}


def _check(request: ChatRequest) -> None:
    if request.prompt is not None or request.tools or request.params.logprobs is not None or request.params.logit_bias:
        raise BadRequest("A model on a server answers chats only; choose a model on this machine for this.")
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != ("assistant" if request.continue_reply else "user"):
        raise BadRequest("There is no question to answer; write one first.")
    if last.role == "user" and not last.content.strip():
        raise BadRequest("The question is empty; write something first.")
