"""About how many tokens a text has that is far too long for the context: told by its length, without tokenising it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.chat import ChatRequest, Message

_MOST: Final = 32  # characters a token: no tokenizer needs so few tokens for real text
_USUAL: Final = 4  # characters a token, about


def about_tokens(messages: Sequence[Message], limit: int) -> int | None:
    """About how many tokens messages have that cannot fit; None where only counting can tell.

    Args:
        messages: Replies whose ids are known are as long as those.
        limit: The context in tokens. What is returned is larger.
    """
    known = sum(len(message.token_ids) for message in messages if message.token_ids is not None)
    written = sum(len(message.content) for message in messages if message.token_ids is None)
    return _about(written + sum(len(message.extra) for message in messages), known, limit)


def about_text(text: str, limit: int) -> int | None:
    """The same of a text alone."""
    return _about(len(text), 0, limit)


def about_prompt(request: ChatRequest, limit: int) -> int | None:
    """The same of all that a request sends."""
    if request.prompt is None:
        return about_tokens(request.messages, limit)
    return about_text(request.prompt, limit) if isinstance(request.prompt, str) else None


def _about(characters: int, known: int, limit: int) -> int | None:
    return known + characters // _USUAL if characters > _MOST * limit else None
