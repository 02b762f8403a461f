"""What the Ctrl+K palette and the slash menu offer, and which of it answers to what is typed. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.fuzzy import Index

MOST_ROWS: Final = 100


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One thing that can be chosen by name.

    Attributes:
        id: Handed back when it is chosen. In the slash menu it is also the word after the "/": no spaces.
        label: What it does or is, in the language in force.
        hint: At the right end: its shortcut, or how old a chat is.
        group: The heading under which it stands; entries of a group follow one another.
        keywords: More words that find it, separated by spaces; they are not shown.
        argument: In the slash menu, what may follow the word ("title"); empty for a command that takes nothing.
    """

    id: str
    label: str
    hint: str = ""
    group: str = ""
    keywords: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that answers to what was typed.

    Attributes:
        spans: The parts (start, end) of its label that were typed.
    """

    entry: PaletteEntry
    spans: tuple[tuple[int, int], ...] = ()


class PaletteSearch:
    """Finds entries by what is typed; made once for a sequence of entries."""

    def __init__(self, entries: Sequence[PaletteEntry]) -> None:
        self._entries = tuple(entries)
        self._index = Index([(entry.label, entry.keywords) for entry in self._entries])

    def find(self, query: str) -> tuple[Found, ...]:
        """At most `MOST_ROWS` entries, group by group: the group of the best match first, the best of each first.

        Without a query, the first entries as they are.
        """
        if not query.strip():
            return tuple(Found(entry) for entry in self._entries[:MOST_ROWS])
        hits = [Found(self._entries[match.number], match.spans) for match in self._index.search(query, MOST_ROWS)]
        groups = {found.entry.group: rank for rank, found in reversed(tuple(enumerate(hits)))}
        return tuple(sorted(hits, key=lambda found: groups[found.entry.group]))


def slash_word(text: str) -> str | None:
    """The word after a "/" that begins a text; None where the text cannot be a command ("//", "/usr/bin")."""
    first, *_ = text.split(maxsplit=1) if text[:1] == "/" else [""]
    return first[1:] if first and "/" not in first[1:] else None


def commands_for(entries: Sequence[PaletteEntry], word: str) -> tuple[PaletteEntry, ...]:
    """Commands whose id, or a word of whose label or keywords, begins with a word; those by id first.

    Looser matches would turn a path or a remark that begins with "/" into a command.
    """
    wanted = word.casefold()
    by_id = [entry for entry in entries if entry.id.casefold().startswith(wanted)]
    words = {entry.id: f"{entry.label} {entry.keywords}".casefold().split() for entry in entries}
    others = [entry for entry in entries if entry not in by_id and any(w.startswith(wanted) for w in words[entry.id])]
    return (*by_id, *others)
