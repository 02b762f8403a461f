"""Where and why a prompt parted from what its conversation's cache held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.chat import Message
from engine.explain.history import Past
from engine.explain.trace import BreakReason, Piece, PrefixBreak, Segment
from engine.kv_cache import common_prefix

SHOWN: Final = 64  # tokens of each side
_BEFORE: Final = 8  # of them before the break
_SLACK: Final = 2  # the last token of a reply enters the cache with the next turn


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a turn's prompt and of the conversation before it.

    Attributes:
        messages: Of the request.
        left_out: Indices of those that did not fit.
        prompt: Its token ids.
        kept: Tokens that were reused.
        segments: The prompt, message by message.
        past: The conversation after its last turn; None if it had none since the program started.
        held: Tokens that memory or disk held for this conversation before; empty if nothing did.
        model: Names the model and the format of its caches.
        other_model: Whether the disk holds a cache of this conversation for another model.
        croppable: Whether a cache of this model can go back to any token.
        seen: Whether a message stood at a place in an earlier turn.
        took_over: Whether the kernels of the same model took over since the last turn.
    """

    messages: Sequence[Message]
    left_out: tuple[int, ...]
    prompt: Sequence[int]
    kept: int
    segments: Sequence[Segment]
    past: Past | None
    held: Sequence[int]
    model: str
    other_model: bool
    croppable: bool
    seen: Callable[[int, Message], bool]
    took_over: bool = False


def find_break(facts: Facts, piece: Callable[[int], str]) -> PrefixBreak:
    """Where the prompt parted from the cache, and why; `piece` gives a token's text."""
    past = facts.past
    before = past.ids if past else facts.held
    position = facts.kept or None
    if past and past.model != facts.model:
        reason = BreakReason.KERNELS if facts.took_over else BreakReason.MODEL_CHANGED
        return PrefixBreak(reason, position, lost=max(0, min(len(before), _wanted(facts))))
    if past is None and all(message.role != "assistant" for message in facts.messages):
        return PrefixBreak(BreakReason.FIRST_TURN, position)
    if not len(before):
        return PrefixBreak(_without_history(facts), position)
    common = common_prefix(before, facts.prompt)
    lost = max(0, min(len(before), _wanted(facts)) - facts.kept)
    if facts.kept + _SLACK < min(common, _wanted(facts)):
        reason = BreakReason.EVICTED if facts.croppable else BreakReason.MARKS
        return PrefixBreak(reason, position, message_at(facts.segments, facts.kept), lost)
    if common >= min(len(before), _wanted(facts)):
        return PrefixBreak(BreakReason.NONE, common)
    message = message_at(facts.segments, common)
    start = max(0, common - _BEFORE)
    return PrefixBreak(
        _why_other_tokens(facts, message), common, message, lost, start, *_sides(before, facts.prompt, start, piece)
    )


def message_at(segments: Sequence[Segment], position: int) -> int | None:
    """Which message holds the token at a position of the prompt; None behind the last one."""
    for segment in segments:
        if segment.left_out:
            continue
        if position < segment.tokens:
            return segment.index
        position -= segment.tokens
    return None


def _wanted(facts: Facts) -> int:
    """Tokens that a cache could spare: all but the last, whose logits are wanted."""
    return max(0, len(facts.prompt) - 1)


def _without_history(facts: Facts) -> BreakReason:
    if facts.kept + _SLACK >= _wanted(facts) - _newest(facts.segments):
        return BreakReason.NONE  # another conversation had it, from which this one was copied
    return BreakReason.MODEL_CHANGED if facts.other_model else BreakReason.EVICTED


def _newest(segments: Sequence[Segment]) -> int:
    """Tokens of the newest question and of what the template writes behind it: they are new in any case."""
    read = [segment for segment in segments if not segment.left_out]
    tail = [segment.tokens for segment in read[-2:]]
    return sum(tail)


def _why_other_tokens(facts: Facts, index: int | None) -> BreakReason:
    """Why the prompt has other tokens than the cache in one of its messages."""
    past = facts.past
    if past is None:
        return BreakReason.LEFT_OUT if facts.left_out else BreakReason.NOT_KNOWN
    if facts.left_out != past.left_out:
        return BreakReason.LEFT_OUT
    if index is None or index >= len(past.messages):
        return BreakReason.TEMPLATE
    now, then = facts.messages[index], past.messages[index]
    if (now.role, now.content, now.token_ids) == (then.role, then.content, then.token_ids):
        return BreakReason.TEMPLATE
    if "assistant" in (now.role, then.role) or facts.seen(index, now):
        return BreakReason.OTHER_BRANCH
    return BreakReason.EDITED


def _sides(
    before: Sequence[int], prompt: Sequence[int], start: int, piece: Callable[[int], str]
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The tokens around the break, as they were held and as the prompt has them."""
    expected, found = (
        tuple(Piece(int(token_id), piece(int(token_id))) for token_id in ids[start : start + SHOWN])
        for ids in (before, prompt)
    )
    return expected, found
