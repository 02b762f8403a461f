"""The branch of a conversation that is shown: its tree and its messages, in step with the store. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from app.records import StoredMessage, Version
from app.store import Store
from app.tree import MessageTree


@dataclass(frozen=True, slots=True)
class Deleted:
    """Messages that were taken out of a conversation, and can be put back.

    Attributes:
        conversation_id: Whose they are.
        ids: Of all of them, the topmost first.
        leaf_id: The last message that was shown before.
    """

    conversation_id: str
    ids: tuple[str, ...]
    leaf_id: str | None


class Branch:
    """What is shown of a tree, from the first message to the leaf.

    Args:
        conversation_id: Whose messages these are.
        tree: All of them.
        store: Is told which branch is shown, and what was deleted; whoever adds messages stores them.
    """

    def __init__(self, conversation_id: str, tree: MessageTree, store: Store) -> None:
        self._conversation_id = conversation_id
        self._tree = tree
        self._store = store
        self._messages = tree.thread()
        self._behind: str | None = None  # the leaf that an answer in progress takes the place of

    @property
    def messages(self) -> tuple[StoredMessage, ...]:
        """From the first to the last."""
        return tuple(self._messages)

    @property
    def leaf_id(self) -> str | None:
        """The last message; None while there is none."""
        return self._messages[-1].id if self._messages else None

    @property
    def versions(self) -> dict[str, Version]:
        """Of the messages shown, those that have more than one version, by id."""
        found = {message.id: self._tree.version(message.id) for message in self._messages}
        return {message_id: version for message_id, version in found.items() if version.of > 1}

    def index(self, message_id: str) -> int | None:
        """Where a message stands; None if it is not shown."""
        return next((i for i, message in enumerate(self._messages) if message.id == message_id), None)

    def get(self, message_id: str) -> StoredMessage | None:
        """A message of any branch, also one that was deleted."""
        return self._tree.get(message_id)

    def last(self, role: str, but: str = "") -> StoredMessage | None:
        """The last message that somebody wrote, apart from the one with this id."""
        return next((m for m in reversed(self._messages) if m.role == role and m.id != but), None)

    def up_to(self, message_id: str) -> tuple[StoredMessage, ...]:
        """The messages to this one, with it; none if it is not shown."""
        at = self.index(message_id)
        return () if at is None else tuple(self._messages[: at + 1])

    def followed(self, message_id: str | None) -> bool:
        """Whether anything follows a message, on any branch; None stands before the first one."""
        return self._tree.followed(message_id)

    def add(self, message: StoredMessage) -> None:
        """Show a new message at the end; it stays, whatever was there before the last `cut`."""
        self._messages.append(message)
        self._tree.add(message)
        self._behind = None

    def draw(self, message: StoredMessage) -> None:
        """Show a message that grows as far as it has come; the tree gets it when it is kept."""
        at = self.index(message.id)
        if at is not None:
            self._messages[at] = message

    def keep(self, message: StoredMessage) -> bool:
        """Take a message as it ended; whether it is new, and was added to the end."""
        if self._tree.get(message.id) is None:
            self.add(message)
            return True
        self.draw(message)
        self._tree.update(message)
        return False

    def cut(self, at: int) -> None:
        """Show nothing from this index on; something new takes its place, or `restore` brings it back."""
        self._behind = self._tree.leaf_id
        del self._messages[at:]
        self._tree.end_at(self.leaf_id)

    def settle(self) -> None:
        """What was cut is not to be brought back."""
        self._behind = None

    def restore(self) -> bool:
        """Show again what was cut if nothing took its place; whether that was so."""
        before, self._behind = self._behind, None
        if before is not None:
            self._tree.end_at(before)
            self._messages = self._tree.thread()
        return before is not None

    def step(self, message_id: str, step: int) -> str | None:
        """The version of a message shown that is so many steps on; None if there is none."""
        return self._tree.neighbour(message_id, step) if self.index(message_id) is not None else None

    def show(self, message_id: str) -> None:
        """Show the branch through a message, to the newest of what follows it, and remember that."""
        self._tree.show(message_id)
        self._show()

    def delete(self, message_id: str) -> Deleted:
        """Take out a message that is shown, and all that follows it on any branch."""
        before = self._tree.leaf_id
        ids = tuple(self._tree.remove(message_id))
        self._store.delete_message(ids)
        self._show()
        return Deleted(self._conversation_id, ids, before)

    def undelete(self, deleted: Deleted) -> None:
        """Undo `delete`, and show what was shown before it, unless more than that has been deleted since."""
        top = deleted.ids[0]
        self._tree.put_back(top)
        self._store.restore_message(deleted.ids)
        if deleted.leaf_id is not None and self._tree.holds(deleted.leaf_id):
            self._tree.end_at(deleted.leaf_id)
        elif self._tree.holds(top):
            self._tree.show(top)
        self._show()

    def _show(self) -> None:
        self._messages = self._tree.thread()
        self._store.show_branch(self._conversation_id, self.leaf_id)
