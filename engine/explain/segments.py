"""Which tokens of a prompt belong to which message.

Every message is put through the template once more with one impossible token id in place of its text, so what the
template writes around the texts is counted exactly, whatever the template is. What stands before a text counts to its
message; what stands behind the last one (the beginning of the reply) is a segment of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import accumulate

from engine.chat import Message
from engine.errors import BadRequest
from engine.estimate import about_text
from engine.explain.trace import Segment
from engine.prompt import PromptBuilder

TEMPLATE = "template"


def message_tokens(builder: PromptBuilder, messages: Sequence[Message], started_on: str) -> list[int]:
    """Tokens of each message with what the template writes before it, and of what it writes behind the last one.

    Returns:
        One number a message and one more; empty where the template changes, reorders or leaves out messages.
    """
    try:
        framed = builder.ids([dataclasses.replace(m, token_ids=(-1 - i,)) for i, m in enumerate(messages)], started_on)
    except BadRequest:  # a template that looks at the texts
        return []
    places = [n for n, token_id in enumerate(framed) if token_id < 0]
    if [framed[n] for n in places] != [-1 - i for i in range(len(messages))]:
        return []
    frames = [b - a - 1 for a, b in zip([-1, *places], [*places, len(framed)], strict=True)]
    for index, (message, place) in enumerate(zip(messages, places, strict=True)):
        frames[index] += _text_tokens(builder, message)
        # The template writes the end token that the reply already ended with; the prompt has it once.
        if message.token_ids and framed[place + 1 : place + 2] == [message.token_ids[-1]]:
            frames[index + 1] -= message.token_ids[-1] in builder.tokenizer.end_ids
    return frames


def prompt_segments(
    builder: PromptBuilder,
    messages: Sequence[Message],
    left_out: Sequence[int],
    *,
    started_on: str,
    prompt: int,
    cached: int,
    computed: int,
    limit: int,
    continued: bool = False,
) -> tuple[Segment, ...]:
    """The prompt, message by message.

    Args:
        builder: Of the model.
        messages: All of the request.
        left_out: Indices of those that were not read.
        started_on: As in the request.
        prompt: Tokens of the whole prompt.
        cached: Of them reused.
        computed: Of them computed, after the reused ones.
        limit: The context in tokens; a message far longer than it is not tokenised to be counted.
        continued: Whether the last message is a reply that went on, and stands behind the template's last words.
    """
    sent = [(i, message) for i, message in enumerate(messages) if i not in set(left_out)]
    begun = [sent.pop()] if continued else []
    sizes = message_tokens(builder, [message for _, message in sent], started_on)
    if not sizes:
        return (_segment(TEMPLATE, None, 0, prompt, cached=cached, computed=computed),)
    owners: list[tuple[int | None, str]] = [(i, message.role) for i, message in sent]
    if begun:
        owners.append((begun[0][0], "assistant"))
        sizes[-1] += len(builder.reply_ids(begun[0][1]))
    else:
        owners.append((None, TEMPLATE))
    ends = list(accumulate(_fitted(sizes, prompt)))
    read = [
        _segment(role, index, start, end, cached=cached, computed=computed)
        for (index, role), start, end in zip(owners, [0, *ends], ends, strict=False)
    ]
    missing = [
        Segment(messages[i].role, i, _unread_tokens(builder, messages[i], limit), left_out=True)
        for i in left_out
        if i < len(messages)
    ]
    return tuple(sorted((s for s in (*missing, *read) if s.tokens), key=_place))


def _place(segment: Segment) -> float:
    return float("inf") if segment.index is None else segment.index


def _segment(role: str, index: int | None, start: int, end: int, *, cached: int, computed: int) -> Segment:
    reused = max(0, min(end, cached) - start)
    return Segment(role, index, end - start, reused, max(0, min(end, cached + computed) - max(start, cached)))


def _text_tokens(builder: PromptBuilder, message: Message) -> int:
    return len(builder.text_ids(message.content)) if message.token_ids is None else len(message.token_ids)


def _unread_tokens(builder: PromptBuilder, message: Message, limit: int) -> int:
    about = about_text(message.content, limit) if message.token_ids is None else None
    return about or _text_tokens(builder, message)


def _fitted(sizes: list[int], total: int) -> list[int]:
    """The sizes with their sum made right: letters at a border may have merged, or the template trimmed a text."""
    largest = max(range(len(sizes)), key=lambda n: sizes[n])
    return [max(0, size + (total - sum(sizes)) * (n == largest)) for n, size in enumerate(sizes)]
