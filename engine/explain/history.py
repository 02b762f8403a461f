"""What each conversation was after its last turn, kept so that the next turn can say what changed."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.chat import Message

_MOST: Final = 64  # conversations; one of 8,000 tokens takes 32 KB


@dataclass(frozen=True, slots=True)
class Past:
    """A conversation after a turn.

    Attributes:
        messages: All of the request, and the reply.
        left_out: Indices of those that did not fit.
        model: Names the model and the format of its caches.
        ids: Tokens that the cache held at the end.
        interim: Whether it was answered by what answers until the kernels are compiled.
    """

    messages: tuple[Message, ...]
    left_out: tuple[int, ...]
    model: str
    ids: Sequence[int]
    interim: bool = False


@dataclass(slots=True)
class _Known:
    past: Past
    seen: set[int] = field(default_factory=set)


class Histories:
    """The last turn of each of the conversations that were used last, and which messages were ever read in them."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def past(self, conversation: str) -> Past | None:
        """The conversation after its last turn; None if it had none since the program started."""
        known = self._known.get(conversation)
        return known.past if known else None

    def seen(self, conversation: str, index: int, message: Message) -> bool:
        """Whether this very message stood at this place in an earlier turn."""
        known = self._known.get(conversation)
        return known is not None and _mark(index, message) in known.seen

    def remember(self, conversation: str, past: Past) -> None:
        """Note how a turn ended."""
        compact = Past(past.messages, past.left_out, past.model, array("i", past.ids), past.interim)
        known = self._known.setdefault(conversation, _Known(compact))
        known.past = compact
        known.seen.update(_mark(index, message) for index, message in enumerate(past.messages))
        self._known.move_to_end(conversation)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """The conversation was deleted."""
        self._known.pop(conversation, None)


def _mark(index: int, message: Message) -> int:
    return hash((index, message.role, message.content))
