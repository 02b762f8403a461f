"""What to leave out when a conversation outgrows the context: whole turns, oldest first, in the open.

The decision depends on the messages alone, and it is made as if the conversation had been sent turn by turn. So
the same turns stay left out from one request to the next, and the prefix that the KV cache holds stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.chat import Message

_LARGEST_ROOM: Final = 1024
_LARGEST_QUESTION: Final = 512
_PROBE: Final = (Message("user", "1"), Message("assistant", "2"))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The part of a conversation that is sent.

    Attributes:
        messages: What is sent.
        left_out: Indices, in the whole conversation, of the messages that are not.
    """

    messages: tuple[Message, ...]
    left_out: tuple[int, ...]


def reply_room(limit: int) -> int:
    """Tokens kept free for a reply, of a context of `limit` tokens."""
    return min(limit // 4, _LARGEST_ROOM)


def history_room(limit: int) -> int:
    """Tokens that the turns before the newest may take, so that a question of usual length fits beside them."""
    return limit - reply_room(limit) - min(limit // 8, _LARGEST_QUESTION)


def fit(messages: Sequence[Message], cost: Callable[[Sequence[Message]], int], limit: int) -> Fitted:
    """Leave out the oldest whole turns after the system prompt if the conversation does not fit.

    Args:
        messages: The whole conversation, ending with the newest question.
        cost: Tokens of a prompt made of these messages.
        limit: The context in tokens.

    Returns:
        What to send. The newest turn always stays, so the result may still be too long.
    """
    if cost(messages) <= history_room(limit):
        return Fitted(tuple(messages), ())
    head, turns = _turns(messages)
    framing = 2 * cost(_PROBE) - cost(_PROBE * 2)  # what a template adds once, whatever the messages
    costs = [cost([messages[i] for i in turn]) - framing for turn in turns]
    fixed = cost([*messages[:head], *_PROBE]) - (cost(_PROBE) - framing)
    left_out = tuple(i for turn in turns[: _dropped_turns(costs, fixed, limit)] for i in turn)
    return Fitted(tuple(m for i, m in enumerate(messages) if i not in left_out), left_out)


def _turns(messages: Sequence[Message]) -> tuple[int, list[list[int]]]:
    """How many messages stand in front of the first question, and the indices of each turn."""
    starts = [i for i, message in enumerate(messages) if message.role == "user"]
    ends = [*starts[1:], len(messages)]
    head = starts[0] if starts else len(messages)
    return head, [list(range(a, b)) for a, b in zip(starts, ends, strict=True)]


def _dropped_turns(costs: Sequence[int], fixed: int, limit: int) -> int:
    """How many of the oldest turns are left out by the time the last one is sent.

    When a turn does not fit, the window is cut to half the context at once, not by a turn each time: cutting breaks
    the cached prefix, so it should be rare. The newest turn counts only where it must, so that what is left out is
    known, and can be read ahead, before its question is written.
    """
    room = limit - reply_room(limit)
    start = 0

    def exceeds(now: int, history: int) -> bool:
        before = fixed + sum(costs[start:now])
        return before > history or before + costs[now] > room

    for now in range(len(costs)):
        if exceeds(now, history_room(limit)):
            while start < now and exceeds(now, history_room(limit) // 2):
                start += 1
    return start
