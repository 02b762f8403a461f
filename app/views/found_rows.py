"""What a search found, row by row: a conversation's title, then the places in its messages. Pure."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from app.i18n import translate
from app.search_query import Span
from app.search_result import Hit, SearchResult
from app.views.conversation_rows import untitled

_LEAD: Final = 22  # characters that stand before the first match
_SHOWN: Final = 160  # no more have room


class FoundRow(NamedTuple):
    """One row.

    Attributes:
        text: The title, the words around the match, or a sentence.
        spans: The matches in `text`.
        hit: None in the last row, which says that there are more.
    """

    kind: Literal["title", "hit", "more"]
    text: str
    spans: tuple[Span, ...] = ()
    hit: Hit | None = None


def found_rows(result: SearchResult) -> tuple[FoundRow, ...]:
    """The hits, those of one conversation under its title, in the order in which the first of each came."""
    by_conversation: dict[str, list[Hit]] = {}
    for hit in result.hits:
        by_conversation.setdefault(hit.conversation_id, []).append(hit)
    rows: list[FoundRow] = []
    for hits in by_conversation.values():
        named = next((hit for hit in hits if not hit.message_id), None)
        head = named or hits[0]
        text, spans = (named.snippet, named.spans) if named is not None else (head.title or untitled(), ())
        rows.append(FoundRow("title", text, spans, head))
        rows += [FoundRow("hit", *clipped(hit.snippet, hit.spans), hit) for hit in hits if hit.message_id]
    if result.more:
        rows.append(FoundRow("more", translate("found_rows", "There are more. Another word narrows them down.")))
    return tuple(rows)


def clipped(text: str, spans: tuple[Span, ...]) -> tuple[str, tuple[Span, ...]]:
    """A stretch of a text in which the first match stands near the beginning, and the matches in it."""
    first = spans[0][0] if spans else 0
    begin = 0
    if first > _LEAD:
        space = text.find(" ", first - _LEAD, first)
        begin = space + 1 if space >= 0 else first - _LEAD
    mark = "…" if begin else ""
    shown = mark + text[begin : begin + _SHOWN].replace("\n", " ")
    moved = ((start - begin + len(mark), end - begin + len(mark)) for start, end in spans)
    return shown, tuple((max(start, 0), min(end, len(shown))) for start, end in moved if 0 <= start < len(shown))
