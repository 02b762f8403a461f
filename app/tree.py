"""The messages of a conversation as a tree, and which branch of it is shown. No Qt, no disk."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from app.records import StoredMessage, Version


class MessageTree:
    """Messages with the same parent are versions of one another, in the order in which they were added.

    Args:
        messages: Parents before their children.
        leaf_id: The last message of the branch that is shown; None shows the newest one.
    """

    def __init__(self, messages: Iterable[StoredMessage] = (), leaf_id: str | None = None) -> None:
        self._messages: dict[str, StoredMessage] = {}
        self._added: dict[str, int] = {}  # which message came when
        self._children: dict[str | None, list[str]] = {}
        self._leaf: str | None = None
        for message in messages:
            self.add(message)
        if leaf_id in self._messages:
            self._leaf = leaf_id

    @property
    def leaf_id(self) -> str | None:
        """The last message of the branch that is shown; None while nothing is."""
        return self._leaf

    def get(self, message_id: str) -> StoredMessage | None:
        """A message by its id, also one that was removed."""
        return self._messages.get(message_id)

    def thread(self) -> list[StoredMessage]:
        """The branch that is shown, from its first message to its leaf."""
        found: list[StoredMessage] = []
        at = self._leaf
        while at is not None:
            found.append(self._messages[at])
            at = found[-1].parent_id
        return found[::-1]

    def add(self, message: StoredMessage) -> None:
        """Add a message and make it the leaf."""
        self._messages[message.id] = message
        self._added[message.id] = len(self._added)
        self._children.setdefault(message.parent_id, []).append(message.id)
        self._leaf = message.id

    def update(self, message: StoredMessage) -> None:
        """Replace a message that is in the tree already."""
        self._messages[message.id] = message

    def end_at(self, message_id: str | None) -> None:
        """Show the branch up to a message and nothing behind it; None shows nothing."""
        self._leaf = message_id

    def show(self, message_id: str) -> None:
        """Show the branch through a message, to the newest of what follows it."""
        self._leaf = message_id
        while children := self._children.get(self._leaf):
            self._leaf = children[-1]

    def holds(self, message_id: str) -> bool:
        """Whether a message is in the tree: neither it nor anything above it was removed."""
        at: str | None = message_id
        while at is not None:
            if at not in self._versions(at):
                return False
            at = self._messages[at].parent_id
        return True

    def followed(self, message_id: str | None) -> bool:
        """Whether anything follows a message, on any branch; None stands before the first one."""
        return bool(self._children.get(message_id))

    def remove(self, message_id: str) -> list[str]:
        """Take a message out, and with it what follows; the ids of all, the topmost first.

        If the leaf is among them, the nearest version of the message is shown in its place, else nothing behind its
        parent.
        """
        message = self._messages[message_id]
        versions = self._versions(message_id)
        at = versions.index(message_id)
        versions.remove(message_id)
        taken = self._below(message_id)
        if self._leaf in taken:
            self.end_at(message.parent_id)
            if versions:
                self.show(versions[max(0, at - 1)])
        return taken

    def put_back(self, message_id: str) -> None:
        """Undo `remove`: the message is among its versions where it was; the leaf stays."""
        siblings = self._children.setdefault(self._messages[message_id].parent_id, [])
        insort(siblings, message_id, key=self._added.__getitem__)

    def version(self, message_id: str) -> Version:
        """Which of its versions a message is."""
        versions = self._versions(message_id)
        return Version(versions.index(message_id) + 1, len(versions))

    def neighbour(self, message_id: str, step: int) -> str | None:
        """The version so many steps on (negative: back), or None if there is none."""
        versions = self._versions(message_id)
        at = versions.index(message_id) + step
        return versions[at] if 0 <= at < len(versions) else None

    def _versions(self, message_id: str) -> list[str]:
        return self._children[self._messages[message_id].parent_id]

    def _below(self, message_id: str) -> list[str]:
        """A message and all that follows it, parents before their children."""
        found = [message_id]
        for above in found:
            found += self._children.get(above, ())
        return found
