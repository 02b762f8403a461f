"""The objects that OpenAI's API answers with, as plain dictionaries."""

from __future__ import annotations

import hashlib
import secrets
import string
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.events import ModelInfo, TokenLogprob
from engine.stats import TurnStats
from engine.tools import ToolCall

_CALL_ID_LENGTH = 9  # letters and digits: Mistral's chat templates take no other


def fingerprint(info: ModelInfo) -> str:
    """Names what a seed depends on: the model, its weights' format, what computes, and where."""
    about = "|".join((info.name, info.dtype, info.runner, info.device, str(info.threads)))
    return f"fp_{hashlib.sha256(about.encode()).hexdigest()[:10]}"


def call_id() -> str:
    """A new id for a call of a tool."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(_CALL_ID_LENGTH))


def calls_object(calls: Iterable[tuple[str, ToolCall]]) -> list[dict[str, Any]]:
    """Calls with their ids."""
    return [
        {"id": name, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for name, call in calls
    ]


@dataclass(slots=True)
class Usage:
    """Tokens of one HTTP request, over all its prompts and choices."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def add(self, stats: TurnStats, first: bool) -> None:
        """A choice ended; its prompt counts with the first choice alone."""
        self.completion += stats.completion_tokens
        if first:
            self.prompt += stats.prompt_tokens
            self.cached += stats.cached_tokens

    def object(self) -> dict[str, Any]:
        """OpenAI's usage object."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


@dataclass(frozen=True, slots=True)
class Frame:
    """What all chunks of an answer share."""

    info: ModelInfo
    kind: str
    id: str
    fingerprint: str
    created: int = field(default_factory=lambda: int(time.time()))

    def object(self, choices: Sequence[dict[str, Any]], *, chunk: bool = False, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """The whole answer, or one chunk of it."""
        kind = "chat.completion.chunk" if chunk and self.kind == "chat.completion" else self.kind
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.info.name,
            "system_fingerprint": self.fingerprint,
            "choices": list(choices),
            **more,
        }


def chat_frame(info: ModelInfo) -> Frame:
    """For a chat completion."""
    return Frame(info, "chat.completion", f"chatcmpl-{uuid.uuid4().hex}", fingerprint(info))


def text_frame(info: ModelInfo) -> Frame:
    """For a text completion."""
    return Frame(info, "text_completion", f"cmpl-{uuid.uuid4().hex}", fingerprint(info))


def chat_logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    """Log probabilities in a chat completion."""
    content = [{**_token(token), "top_logprobs": [_token(other) for other in token.top]} for token in tokens]
    return {"content": content, "refusal": None}


def _token(token: TokenLogprob) -> dict[str, Any]:
    return {"token": _text(token), "logprob": token.logprob, "bytes": list(token.token)}


def text_logprobs(tokens: Sequence[TokenLogprob], offset: int) -> dict[str, Any]:
    """Log probabilities in a text completion; `offset` is the length of the text before them."""
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(_text(token))
    return {
        "tokens": [_text(token) for token in tokens],
        "token_logprobs": [token.logprob for token in tokens],
        "top_logprobs": [{_text(other): other.logprob for other in token.top} for token in tokens],
        "text_offset": offsets,
    }


def _text(token: TokenLogprob) -> str:
    return token.token.decode(errors="replace")


def model_object(info: ModelInfo, created: int) -> dict[str, Any]:
    """One entry of /v1/models, with the context's length where vLLM has it."""
    return {
        "id": info.name,
        "object": "model",
        "created": created,
        "owned_by": "loquat",
        "max_model_len": info.context_limit,
    }
