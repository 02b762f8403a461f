"""A prompt to be completed offline, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.chat import ChatRequest
from engine.events import FinishReason


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to complete.

    Attributes:
        index: Which, for whoever asked.
    """

    index: int
    request: ChatRequest


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a prompt.

    Attributes:
        text, reason: Of the answer; None for no answer.
        prompt_tokens, completion_tokens: None where a server did not tell.
        error: Why there is no answer; empty if there is one.
    """

    index: int
    text: str = ""
    reason: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""
