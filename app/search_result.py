"""What a search found, as frozen values between the search and the views. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.search_query import Span
from engine.chat import Role


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the query was found.

    Attributes:
        message_id: Empty where it was found in the title.
        role: Whose message it is; empty for a title.
        snippet: The text around the first match, in one line.
        spans: Where in `snippet` the matches are: from, to.
        created_at: Seconds since the epoch; of a title, when the conversation was last changed.
    """

    conversation_id: str
    message_id: str
    title: str
    role: Role | Literal[""]
    snippet: str
    spans: tuple[Span, ...]
    created_at: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found for a query: titles, then messages, the newest first.

    Attributes:
        query: As it was asked.
        more: Whether there is more than was looked for.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    more: bool = False
