"""What a window shows of its conversations, in words that can be compared before and after a restart."""

from __future__ import annotations

from app.chats import Chats
from app.session import Session


def listed(chats: Chats) -> list[str]:
    """The conversations and the folders, in order."""
    lines = [("list", one) for one in chats.conversations()] + [("archive", one) for one in chats.archived()]
    folders = [f"folder {one.id} {_stored(one.name)}" for one in chats.folders()]
    return [*(f"{at} {one.id} {one.pinned} {one.folder_id} {_stored(one.title)}" for at, one in lines), *folders]


def said(session: Session | None) -> list[tuple[str, str, str]]:
    """The messages of a conversation."""
    messages = session.messages() if session is not None else ()
    return [(message.id, message.role, _stored(message.content)) for message in messages]


def difference(before: list[str], after: list[str]) -> str:
    """Between two lists that are not equal."""
    gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
    if gone or new:
        return f"gone: {gone}; new: {new}"
    pairs = enumerate(zip(before, after, strict=True))
    return f"in another order: {[f'{at}: {old} -> {now}' for at, (old, now) in pairs if old != now][:4]}"


def _stored(text: str) -> str:
    """Half a surrogate pair is no character, and is not stored."""
    return text.encode("utf-8", "replace").decode()
