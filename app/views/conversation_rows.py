"""What the list of conversations shows, row by row: the pinned ones, the folders, then spans of time. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from app.i18n import translate
from app.records import Conversation, Folder
from app.views import words

Kind = Literal["heading", "pinned", "folder", "conversation", "archive"]
ARCHIVE: Final = "archive"


class Row(NamedTuple):
    """One row. A tuple, because ten thousand are made whenever the list changes.

    Attributes:
        key: The id of what it shows, or a name that no other row has.
        text: What it says.
        folder: The folder that it is, or in which its conversation stands.
        busy: An answer is being written in it, or in a conversation of a folded folder.
        holds: How many conversations a folder or the archive holds.
        folded: Whether a folder's conversations are hidden.
        dated: Whether it stands under the heading of its span of time.
    """

    kind: Kind
    key: str
    text: str
    conversation: Conversation | None = None
    folder: Folder | None = None
    busy: bool = False
    holds: int = 0
    folded: bool = False
    dated: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is to list.

    Attributes:
        conversations: The latest first.
        busy: Ids of those in which an answer is being written.
        folded: Ids of the folders whose conversations are hidden.
        archived: How many conversations the archive holds.
    """

    conversations: Sequence[Conversation] = ()
    folders: Sequence[Folder] = ()
    busy: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    archived: int = 0


def untitled() -> str:
    """What a conversation without a title is called."""
    return translate("conversation_rows", "New chat")


def rows_of(listing: Listing, now: float) -> tuple[Row, ...]:
    """Pinned conversations, folders by name, then spans of time, then the archive; each only if it holds something."""
    pinned: list[Conversation] = []
    inside: defaultdict[str, list[Conversation]] = defaultdict(list)
    rest: list[Conversation] = []
    known = {folder.id for folder in listing.folders}
    for each in listing.conversations:
        if each.pinned:
            pinned.append(each)
        elif each.folder_id in known:
            inside[each.folder_id].append(each)
        else:
            rest.append(each)
    rows: list[Row] = []
    if pinned:
        rows.append(Row("pinned", "pinned", translate("conversation_rows", "Pinned")))
        rows += _members(pinned, listing.busy)
    if listing.folders:
        rows.append(Row("heading", "folders", translate("conversation_rows", "Folders")))
        for folder in sorted(listing.folders, key=lambda each: (each.name.casefold(), each.created_at)):
            rows += _folder_rows(folder, inside[folder.id], listing)
    rows += dated_rows(rest, listing.busy, now)
    if listing.archived:
        rows.append(Row("archive", ARCHIVE, translate("conversation_rows", "Archived"), holds=listing.archived))
    return tuple(rows)


def dated_rows(conversations: Iterable[Conversation], busy: frozenset[str], now: float) -> list[Row]:
    """A heading for each span of time, then its conversations; they come the latest first."""
    rows: list[Row] = []
    since = float("inf")
    title = untitled()
    for each in conversations:
        if each.updated_at < since:
            heading, since = words.span(each.updated_at, now)
            rows.append(Row("heading", f"since {since}", heading))
        rows.append(Row("conversation", each.id, each.title or title, each, None, each.id in busy, dated=True))
    return rows


def _members(members: Iterable[Conversation], busy: frozenset[str], folder: Folder | None = None) -> list[Row]:
    title = untitled()
    return [Row("conversation", each.id, each.title or title, each, folder, each.id in busy) for each in members]


def _folder_rows(folder: Folder, members: Sequence[Conversation], listing: Listing) -> list[Row]:
    folded = folder.id in listing.folded
    busy = folded and any(each.id in listing.busy for each in members)
    head = Row("folder", folder.id, folder.name, None, folder, busy, len(members), folded)
    return [head] if folded else [head, *_members(members, listing.busy, folder)]
