"""Which conversation a request goes on with, and the token ids of the replies in it.

Clients send the whole history as text each time. A reply in it that was generated here is found again by what stands
before it and by its own text, and enters the prompt as the ids it was generated with. So the prompt begins exactly with
what a KV cache holds, and nothing that is known is tokenised again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import uuid
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.chat import TRANSIENT, Message

_REPLIES: Final = 512
_CONVERSATIONS: Final = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands.

    Attributes:
        messages: The request's, with the ids of replies that are known.
        conversation_id: Whose KV cache it goes on with.
        digest: Of everything up to the reply that is wanted.
    """

    messages: tuple[Message, ...]
    conversation_id: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class _Reply:
    token_ids: tuple[int, ...]
    conversation_id: str


class History:
    """What was answered lately, by the digest of the history with the reply. Used by one thread.

    A conversation's cache serves the request that goes on from its newest reply. Any other (a reply asked for again, a
    second client that began alike, one of several choices) gets a conversation of its own, whose cache begins with a
    copy of what both share.
    """

    def __init__(self) -> None:
        self._replies: OrderedDict[bytes, _Reply] = OrderedDict()
        self._heads: OrderedDict[str, bytes] = OrderedDict()  # conversation -> digest with its newest reply
        self._used: Counter[str] = Counter()  # a client may go on before its last answer is wholly let go

    def place(self, messages: Sequence[Message], tools: str = "") -> Place:
        """Where a request with these messages goes on."""
        digest, newest = _digest(b"", tools), None
        known = []
        for message in messages:
            digest = _after(digest, message)
            found = self._replies.get(digest) if message.role == "assistant" else None
            if found:
                self._replies.move_to_end(digest)
                newest = (digest, found)
            known.append(dataclasses.replace(message, token_ids=found.token_ids) if found else message)
        return Place(tuple(known), self._conversation(newest), digest)

    def begin(self) -> str:
        """A new conversation, for what has no messages."""
        name = f"{TRANSIENT}{uuid.uuid4().hex}"
        self._heads[name] = b""
        return name

    def answered(self, place: Place, reply: Message) -> None:
        """Remember a reply, its text as the client has it, with its ids."""
        if reply.token_ids is None:
            return
        digest = _after(place.digest, reply)
        self._replies[digest] = _Reply(reply.token_ids, place.conversation_id)
        self._replies.move_to_end(digest)
        if place.conversation_id in self._heads:
            self._heads[place.conversation_id] = digest
        while len(self._replies) > _REPLIES:
            self._replies.popitem(last=False)

    @contextlib.contextmanager
    def in_use(self, conversation_id: str) -> Iterator[None]:
        """While a conversation is answered, or waits for that, it is not outdated."""
        self._used[conversation_id] += 1
        try:
            yield
        finally:
            self._used -= Counter((conversation_id,))  # which drops what is at nought

    def outdated(self) -> list[str]:
        """Conversations that were not gone on with for longest, to be forgotten: there are too many."""
        idle = [name for name in self._heads if name not in self._used]
        names = idle[: max(0, len(self._heads) - _CONVERSATIONS)]
        for name in names:
            del self._heads[name]
        return names

    def clear(self) -> list[str]:
        """Forget all; the conversations there were."""
        names = list(self._heads)
        self._heads.clear()
        self._replies.clear()
        return names

    def _conversation(self, newest: tuple[bytes, _Reply] | None) -> str:
        name = newest[1].conversation_id if newest else ""
        if newest is None or self._heads.get(name) != newest[0]:
            return self.begin()
        self._heads[name] = b""  # taken, until it is answered
        self._heads.move_to_end(name)
        return name


def _after(digest: bytes, message: Message) -> bytes:
    """The digest of a history that goes on with this message; white space around a reply is nobody's."""
    content = message.content.strip() if message.role == "assistant" else message.content
    return _digest(digest, json.dumps([message.role, content, message.extra]))


def _digest(before: bytes, text: str) -> bytes:
    return hashlib.sha256(before + text.encode()).digest()
