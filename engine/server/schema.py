"""What clients may ask, as OpenAI's API defines it: strict models, in which whatever is not supported is refused.

A field is either honoured, or it is here with the one value that changes nothing (what clients send by default), or it
is not here and the request is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from engine.config import MAX_LOGPROBS

MAX_CHOICES = 16
MAX_MESSAGES = 4096
MAX_STOPS = 16
_MOST = 10_000_000


class Strict(BaseModel):
    """Nothing is converted, and nothing is taken that is not named."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _only_text(part: Any) -> Any:  # noqa: ANN401 - whatever JSON came
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(kind, str) and kind != "text":
        raise ValueError(f"only text parts are supported, not {kind[:40]}")
    return part


class TextPart(Strict):
    """A part of a message."""

    type: Literal["text"]
    text: str


Content: TypeAlias = str | list[Annotated[TextPart, BeforeValidator(_only_text)]]


class SystemMessage(Strict):
    """What the model is told to be."""

    role: Literal["system", "developer"]
    content: Content


class UserMessage(Strict):
    """A question."""

    role: Literal["user"]
    content: Content


class FunctionCall(Strict):
    """Which function was called, and its arguments as JSON text."""

    name: str = Field(min_length=1)
    arguments: str


class CallOfTool(Strict):
    """A call that the model made."""

    id: str
    type: Literal["function"] = "function"
    function: FunctionCall


class AssistantMessage(Strict):
    """An earlier reply, as a client has it from a response."""

    role: Literal["assistant"]
    content: Content | None = None
    tool_calls: list[CallOfTool] | None = None
    refusal: None = None
    audio: None = None
    function_call: None = None
    annotations: Annotated[list[Any], Field(max_length=0)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> AssistantMessage:
        if self.content is None and not self.tool_calls:
            raise ValueError("an assistant message has content or tool_calls")
        return self


class ToolMessage(Strict):
    """What a tool returned."""

    role: Literal["tool"]
    content: Content
    tool_call_id: str
    name: str | None = None


ChatMessage: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class StreamOptions(Strict):
    """What a stream also tells."""

    include_usage: bool | None = None
    include_obfuscation: Literal[False] | None = None


class TextFormat(Strict):
    """Any text."""

    type: Literal["text"]


class ObjectFormat(Strict):
    """Any JSON object."""

    type: Literal["json_object"]


class NamedSchema(Strict):
    """A JSON schema; it is always followed strictly."""

    name: str
    schema_: dict[str, Any] = Field(alias="schema")
    description: str | None = None
    strict: bool | None = None


class SchemaFormat(Strict):
    """JSON of a schema."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


ResponseFormat: TypeAlias = Annotated[TextFormat | ObjectFormat | SchemaFormat, Field(discriminator="type")]


class Function(Strict):
    """A function that the model may call."""

    name: str = Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: Literal[False] | None = None


class Tool(Strict):
    """A tool that the model may call."""

    type: Literal["function"]
    function: Function


class Sampling(Strict):
    """What chat and text completions share.

    `user` and `safety_identifier` name who asks, `prompt_cache_key` hints at what is found anyway: they change nothing.
    `store`, `metadata` and `service_tier` are taken only with the values that ask for nothing.
    """

    model: str
    max_tokens: int | None = Field(None, ge=1, le=_MOST)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=-1, le=1_000_000)
    min_p: float | None = Field(None, ge=0, le=1)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    repetition_penalty: float | None = Field(None, ge=0.1, le=5)
    logit_bias: (
        dict[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")], Annotated[float, Field(ge=-100, le=100)]] | None
    ) = None
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    stop: (
        Annotated[str, Field(min_length=1)]
        | Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=MAX_STOPS)]
        | None
    ) = None
    n: int | None = Field(None, ge=1, le=MAX_CHOICES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    store: Literal[False] | None = None
    metadata: None = None
    service_tier: Literal["auto", "default"] | None = None

    @model_validator(mode="after")
    def _streams(self) -> Sampling:
        if self.stream_options is not None and not self.stream:
            raise ValueError("stream_options is only for requests with stream: true")
        return self


class ChatBody(Sampling):
    """The body of POST /v1/chat/completions."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    max_completion_tokens: int | None = Field(None, ge=1, le=_MOST)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=MAX_LOGPROBS)
    response_format: ResponseFormat | None = None
    tools: list[Tool] | None = Field(None, max_length=128)
    tool_choice: Literal["auto", "none"] | None = None
    parallel_tool_calls: bool | None = None
    modalities: list[Literal["text"]] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> ChatBody:
        if self.top_logprobs is not None and not self.logprobs:
            raise ValueError("top_logprobs is only for requests with logprobs: true")
        both = self.max_tokens, self.max_completion_tokens
        if None not in both and both[0] != both[1]:
            raise ValueError("max_tokens and max_completion_tokens contradict each other; send one of them")
        if self.tools and self.response_format is not None and self.response_format.type != "text":
            raise ValueError("tools and a JSON response_format cannot be asked for together")
        return self


TokenIds: TypeAlias = Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1)]


class TextBody(Sampling):
    """The body of POST /v1/completions."""

    prompt: (
        str
        | TokenIds
        | Annotated[list[str], Field(min_length=1, max_length=MAX_CHOICES)]
        | Annotated[list[TokenIds], Field(min_length=1, max_length=MAX_CHOICES)]
    )
    logprobs: int | None = Field(None, ge=0, le=MAX_LOGPROBS)
    echo: Literal[False] | None = None
    suffix: None = None
    best_of: Literal[1] | None = None
