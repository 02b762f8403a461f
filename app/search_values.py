"""What a search over all messages finds, as frozen values: `app.search` makes them, the sidebar shows them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.chat import Role

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that matches.

    Attributes:
        message_id: Empty where the title matches.
        title: Of the conversation; may be empty.
        role: Who said it; None where the title matches.
        snippet: The text around the match, in one line; the title itself where that matches.
        spans: Beginning and end of each match in `snippet`.
        created_at: Of the message, or of the conversation's last change (seconds since the epoch).
    """

    conversation_id: str
    message_id: str
    title: str
    role: Role | None
    snippet: str
    spans: tuple[Span, ...]
    created_at: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found for a query.

    Attributes:
        hits: Those of one conversation stand together.
        more: Whether there are others that were left out.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    more: bool = False
