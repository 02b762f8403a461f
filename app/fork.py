"""A branch of a conversation as a conversation of its own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.i18n import translate
from app.records import Conversation, StoredMessage, new_id


def forked(
    conversation: Conversation, branch: Sequence[StoredMessage]
) -> tuple[Conversation, list[StoredMessage], dict[str, str]]:
    """A copy of a conversation with one branch of it.

    Everything that goes into the prompt stays as it was, token ids and the day of its beginning too, so the caches of
    the one serve the other.

    Returns:
        The copy, its messages, and the id that each message has in the original by its new one.
    """
    title = translate("fork", "{title} (fork)").format(title=conversation.title)
    ids = {message.id: new_id() for message in branch}
    fork = replace(
        Conversation(title=title, titled=True),
        started_on=conversation.started_on,
        system_prompt=conversation.system_prompt,
        options=conversation.options,
        folder_id=conversation.folder_id,
    )
    messages = [
        replace(message, id=ids[message.id], conversation_id=fork.id, parent_id=ids.get(message.parent_id or ""))
        for message in branch
    ]
    leaf = messages[-1].id if messages else None
    return replace(fork, leaf_id=leaf), messages, {new: old for old, new in ids.items()}
