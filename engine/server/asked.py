"""From the body of a request to what the engine is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from engine.chat import Message, Role
from engine.config import MAX_SEED, SamplingParams
from engine.events import ModelInfo
from engine.server.failures import Failure, Refused
from engine.server.schema import (
    AssistantMessage,
    ChatBody,
    ChatMessage,
    Content,
    ObjectFormat,
    Sampling,
    SchemaFormat,
    TextBody,
    ToolMessage,
)

_ANY_OBJECT: Final = '{"type": "object"}'
_LONGEST_SCHEMA: Final = 200_000  # characters; the engine compiles it while others wait
_LONGEST_TOKEN: Final = 64  # characters; a text of more than this a token cannot fit the context


def chat_params(body: ChatBody) -> SamplingParams:
    """How to sample a chat completion."""
    logprobs = (body.top_logprobs or 0) if body.logprobs else None
    return _params(body, body.max_completion_tokens or body.max_tokens, logprobs, _schema(body))


def text_params(body: TextBody) -> SamplingParams:
    """How to sample a text completion; OpenAI's default is 16 tokens."""
    return _params(body, body.max_tokens or 16, body.logprobs, "")


def _params(body: Sampling, max_tokens: int | None, logprobs: int | None, schema: str) -> SamplingParams:
    """OpenAI's defaults, not the window's: temperature 1, and nothing cut off."""
    stop = (body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ())
    return SamplingParams(
        temperature=_or(body.temperature, 1.0),
        top_p=_or(body.top_p, 1.0),
        top_k=max(0, _or(body.top_k, 0)),
        min_p=_or(body.min_p, 0.0),
        repetition_penalty=_or(body.repetition_penalty, 1.0),
        presence_penalty=_or(body.presence_penalty, 0.0),
        frequency_penalty=_or(body.frequency_penalty, 0.0),
        logit_bias=tuple((int(token_id), value) for token_id, value in (body.logit_bias or {}).items()),
        seed=None if body.seed is None else body.seed & MAX_SEED,
        stop=stop,
        max_tokens=max_tokens,
        logprobs=logprobs,
        json_schema=schema,
    )


def _or(value: Any, default: Any) -> Any:  # noqa: ANN401 - a number, or None
    return default if value is None else value


def _schema(body: ChatBody) -> str:
    if isinstance(body.response_format, SchemaFormat):
        schema = as_json(body.response_format.json_schema.schema_)
        if len(schema) > _LONGEST_SCHEMA:
            sentence = f"The JSON schema has {len(schema):,} characters; use one of at most {_LONGEST_SCHEMA:,}."
            raise Refused(Failure(400, sentence, param="response_format"))
        return schema
    return _ANY_OBJECT if isinstance(body.response_format, ObjectFormat) else ""


def tools_of(body: ChatBody, info: ModelInfo) -> str:
    """The tools for the chat template, as JSON; "" where none is to be called.

    Raises:
        Refused: The model knows no tools.
    """
    if not body.tools or body.tool_choice == "none":
        return ""
    if info.tool_style is None:
        sentence = f"{info.label} knows no tools; ask without them, or serve another model."
        raise Refused(Failure(400, sentence, param="tools", code="unsupported_parameter"))
    return as_json([tool.model_dump(exclude_none=True) for tool in body.tools])


def messages_of(body: ChatBody, info: ModelInfo) -> tuple[Message, ...]:
    """The messages as the engine knows them.

    Raises:
        Refused: They cannot fit the context, or cannot be answered.
    """
    messages = tuple(_message(message) for message in body.messages)
    _check_size(sum(len(message.content) for message in messages), info, "messages")
    if messages[-1].role not in ("user", "tool"):
        raise Refused(Failure(400, "The last message must be of the user or of a tool.", param="messages"))
    return messages


def prompts_of(body: TextBody, info: ModelInfo) -> tuple[str | tuple[int, ...], ...]:
    """The prompts of a text completion.

    Raises:
        Refused: They cannot fit the context.
    """
    asked: Sequence[Any] = body.prompt if isinstance(body.prompt, list) else [body.prompt]
    if isinstance(asked[0], int):
        asked = [asked]
    prompts = tuple(prompt if isinstance(prompt, str) else tuple(prompt) for prompt in asked)
    for prompt in prompts:
        _check_size(len(prompt), info, "prompt")
    return prompts


def _check_size(length: int, info: ModelInfo, param: str) -> None:
    if length > info.context_limit * _LONGEST_TOKEN:
        sentence = f"The prompt cannot fit the model's context of {info.context_limit:,} tokens; send less."
        raise Refused(Failure(400, sentence, code="context_length_exceeded", param=param))


def _message(message: ChatMessage) -> Message:
    role: Role = "system" if message.role == "developer" else message.role
    extra: dict[str, Any] = {}
    if isinstance(message, AssistantMessage) and message.tool_calls:
        extra["tool_calls"] = [
            called(call.function.name, call.function.arguments, call.id) for call in message.tool_calls
        ]
    elif isinstance(message, ToolMessage):
        extra = message.model_dump(include={"tool_call_id", "name"}, exclude_none=True)
    return Message(role, _text(message.content), extra=as_extra(extra))


def _text(content: Content | None) -> str:
    if isinstance(content, list):
        return "".join(part.text for part in content)
    return content or ""


def called(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    """A call as chat templates expect it: the arguments as an object, not as text.

    Raises:
        Refused: They are none.
    """
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Refused(Failure(400, f"The arguments of the call of {name[:64]} are no JSON object.", param="messages"))
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": value}}


def as_extra(fields: dict[str, Any]) -> str:
    """What `Message.extra` holds."""
    return as_json(fields) if fields else ""


def as_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """JSON text as a chat template and a tokenizer can take it.

    Raises:
        Refused: It is too deep, or holds half characters.
    """
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except (RecursionError, UnicodeEncodeError):
        raise Refused(
            Failure(400, "The body holds half characters, or JSON that is nested too deeply; leave them out.")
        ) from None
    return text
