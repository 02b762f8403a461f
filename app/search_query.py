"""What is searched for: typed text to an FTS5 query that is never a syntax error, and where a text matches it. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from app.segment import UNSPACED, fold

QUERY_LENGTH: Final = 200  # characters of a query that are read; who pastes a page means its beginning
READ_LENGTH: Final = 200_000  # characters of a message in which the place for its snippet is looked for
SNIPPET_LENGTH: Final = 160
LEAD: Final = 40  # characters of a snippet before its first match

Span = tuple[int, int]

_UNIT: Final = re.compile(r'"([^"]*)"|(\S+)')
_WORD_CHARACTER: Final = f"[^\\W_{UNSPACED}]"
_TOKEN: Final = re.compile(f"[{UNSPACED}]|{_WORD_CHARACTER}+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Query:
    """A search that has at least one word.

    Attributes:
        match: For FTS5's MATCH: every unit as a phrase, all of them wanted.
        pattern: Finds any of the units in a folded text.
    """

    match: str
    pattern: re.Pattern[str]


def parse(text: str) -> Query | None:
    """A query from what was typed; None where there is nothing to look for.

    What stands between spaces must occur, its last word as the beginning of a word; what stands in quotes must occur
    as it is. Case and accents do not count.
    """
    units = []
    for unit in _UNIT.finditer(text[:QUERY_LENGTH]):
        tokens = _TOKEN.findall(fold(unit[1] if unit[2] is None else unit[2]))
        if tokens:
            open_end = unit[2] is not None and not _UNSPACED.match(tokens[-1])
            units.append((tokens, open_end))
    if not units:
        return None
    match = " ".join(f'"{" ".join(tokens)}"{" *" if open_end else ""}' for tokens, open_end in units)
    return Query(match, re.compile("|".join(_pattern(tokens, open_end) for tokens, open_end in units)))


def _pattern(tokens: list[str], open_end: bool) -> str:
    parts = [re.escape(tokens[0])]
    for before, after in pairwise(tokens):
        joined = _UNSPACED.match(before) or _UNSPACED.match(after)
        parts += [r"[\W_]*" if joined else r"[\W_]+", re.escape(after)]
    start = "" if _UNSPACED.match(tokens[0]) else f"(?<!{_WORD_CHARACTER})"
    end = "" if open_end or _UNSPACED.match(tokens[-1]) else f"(?!{_WORD_CHARACTER})"
    return start + "".join(parts) + end


def snippet(content: str, query: Query) -> tuple[str, tuple[Span, ...]]:
    """The part of a text around its first match in one line, and where in it the matches are."""
    read = content[:READ_LENGTH]
    found = query.pattern.search(fold(read))
    at = _unfolded(read, found.start()) if found else 0
    start = _word_start(read, max(0, at - LEAD), at)
    # Twice the length is enough even where half of it are spaces, which count as one.
    line = _SPACE.sub(" ", read[start : start + 2 * SNIPPET_LENGTH]).strip()
    cut = len(line) > SNIPPET_LENGTH or start + 2 * SNIPPET_LENGTH < len(content)
    shown = ("…" if start else "") + line[:SNIPPET_LENGTH].rstrip() + ("…" if cut else "")
    return shown, spans(shown, query)


def spans(text: str, query: Query) -> tuple[Span, ...]:
    """Where a query matches in a short text: from, to, in its own characters."""
    folded = fold(text)
    same = len(folded) == len(text)
    found = (match.span() for match in query.pattern.finditer(folded))
    return tuple((s, e) if same else (_unfolded(text, s), _unfolded(text, e)) for s, e in found)


def _unfolded(text: str, position: int) -> int:
    """The place in a text that became `position` when it was folded."""
    if text.isascii():
        return position
    return bisect_left(range(len(text)), position, key=lambda end: len(fold(text[:end])))


def _word_start(text: str, earliest: int, latest: int) -> int:
    """The beginning of the first word from `earliest` on, or `earliest` where there is none before `latest`."""
    if earliest == 0:
        return 0
    space = _SPACE.search(text, earliest, latest)
    return space.end() if space else earliest
