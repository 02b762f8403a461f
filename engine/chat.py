"""What goes down to the engine: messages, one request, and the handle that cancels it."""

from __future__ import annotations

import dataclasses
import threading
import time
from dataclasses import dataclass, field
from typing import Final, Literal

from engine.config import SamplingParams

Role = Literal["system", "user", "assistant", "tool"]
Overflow = Literal["drop_oldest", "stop"]

TRANSIENT: Final = "http-"
"""Ids of other programs' conversations begin so: their caches are kept in memory alone, and are the first to go."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: Who wrote it.
        content: Its text.
        token_ids: For a generated reply, the ids as they were generated (with the end token if one was
            generated). They enter the next prompt as they are; the text is never tokenised again.
        extra: What else the chat template is told of the message, as a JSON object: calls of tools, or whose result
            it is.
    """

    role: Role
    content: str
    token_ids: tuple[int, ...] | None = None
    extra: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A frozen question to the engine: the whole conversation up to the reply that is wanted.

    Attributes:
        id: Unique; every event of the answer carries it.
        messages: System (optional), then user and assistant in turn, ending with a user message, or with the reply
            that is to go on.
        params: How to sample.
        conversation_id: Which conversation's KV cache to look at first.
        started_on: ISO date on which the conversation began; a template that asks for "today" gets this,
            so that the prompt stays the same from turn to turn.
        overflow: When the conversation outgrows the context: leave out its oldest turns, or refuse.
        reuse: False computes everything afresh and leaves all caches alone, for proofs and benchmarks.
        speculate: Whether prompt-lookup decoding may draft tokens; it changes the speed, never the tokens.
        continue_reply: The last message is a reply that was cut off, and goes on where its token ids end. Only what
            is new comes up in the events.
        prompt: A text, or its token ids, that is to go on as it stands: no messages, no chat template.
        tools: What the model may call, as a JSON list in OpenAI's form; for models whose chat template knows tools.
        submitted_at: `time.perf_counter()` in seconds when the person pressed Enter; TTFT counts from here.
    """

    id: str
    messages: tuple[Message, ...]
    params: SamplingParams = field(default_factory=SamplingParams)
    conversation_id: str = ""
    started_on: str = ""
    overflow: Overflow = "drop_oldest"
    reuse: bool = True
    speculate: bool = True
    continue_reply: bool = False
    prompt: str | tuple[int, ...] | None = None
    tools: str = ""
    submitted_at: float = field(default_factory=time.perf_counter)


def after_reply(request: ChatRequest, text: str, token_ids: tuple[int, ...]) -> ChatRequest:
    """The request to read ahead after a reply: the history with it, and an empty draft."""
    history, reply = request.messages, Message("assistant", text, token_ids)
    if request.continue_reply:
        history, reply = history[:-1], joined(history[-1], text, token_ids)
    messages = (*history, reply, Message("user", ""))
    return dataclasses.replace(request, id=f"{request.id}-ahead", messages=messages, continue_reply=False)


def joined(begun: Message, text: str, token_ids: tuple[int, ...]) -> Message:
    """A reply with what it was continued with; its ids are known only where those of its beginning are.

    `begun` comes without an end token, because what follows it took that token's place.
    """
    ids = None if begun.token_ids is None else (*begun.token_ids, *token_ids)
    return Message("assistant", begun.content + text, ids)


class RequestHandle:
    """Cancels one request, from any thread; the engine polls it per token and per prefill chunk."""

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ask the request to end; returns at once and may be called at any time, also before it starts."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()
