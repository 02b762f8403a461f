"""A branch of a conversation becomes a conversation of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.i18n import translate
from app.records import Conversation, StoredMessage, new_id
from app.store import Store


def fork(
    store: Store, conversation: Conversation, branch: Sequence[StoredMessage]
) -> tuple[Conversation, list[StoredMessage]]:
    """Add a copy of a conversation with one branch of it, in one transaction.

    Everything that goes into the prompt stays as it was, token ids and the day of its beginning too, so the caches of
    the one serve the other. How each reply was made is copied as far as it is on the disk.

    Returns:
        The copy and its messages.

    Raises:
        StoreError: The database cannot be read.
    """
    ids = {message.id: new_id() for message in branch}
    made = Conversation(
        title=translate("fork", "Fork: {title}").format(title=conversation.title),
        started_on=conversation.started_on,
        system_prompt=conversation.system_prompt,
        leaf_id=ids[branch[-1].id],
        folder_id=conversation.folder_id,
        titled=True,
        options=conversation.options,
    )
    messages = [
        replace(message, id=ids[message.id], conversation_id=made.id, parent_id=ids.get(message.parent_id or ""))
        for message in branch
    ]
    traces = {new: trace for old, new in ids.items() if (trace := store.trace(old)) is not None}
    store.add_tree(made, messages, traces)
    return made, messages
