"""Blocks as plain text: to copy, and to look through. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.blocks import Block, Code, Formula, Frames, Heading, Paragraph, Rule, Span, Table

PICTURE: Final = "\ufffc"  # stands for a formula where text is looked through: it is drawn, not written
_RULE: Final = "―" * 10


def message_text(blocks: Sequence[Block]) -> str:
    """A message without its Markdown: lists keep their marks, quotes a bar, tables their columns by tabs."""
    parts: list[str] = []
    for above, block in zip((None, *blocks), blocks, strict=False):
        if above is not None:
            parts.append("\n" if _close(above, block) else "\n\n")
        first, rest = _prefixes(block.frames)
        lines = _text(block).split("\n")
        parts.append("\n".join((rest if number else first) + line for number, line in enumerate(lines)).rstrip())
    return "".join(parts)


def _close(above: Block, block: Block) -> bool:
    """Whether two blocks are neighbours in a list."""
    marked = bool(block.frames) and bool(block.frames[-1].marker)
    return marked and bool(above.frames) and isinstance(above, Paragraph) and isinstance(block, Paragraph)


def _prefixes(frames: Frames) -> tuple[str, str]:
    """What stands before the first line of a block, and before the others."""
    first = rest = ""
    for frame in frames:
        if frame.kind == "quote":
            first, rest = first + "> ", rest + "> "
            continue
        mark = f"{frame.marker} " if frame.marker else "  "
        first, rest = first + mark, rest + " " * len(mark)
    return first, rest


def _text(block: Block) -> str:
    match block:
        case Paragraph() | Heading():
            return _joined(block.spans)
        case Code() | Formula():
            return block.text
        case Table():
            return "\n".join("\t".join(_joined(cell) for cell in row) for row in (block.header, *block.rows))
        case Rule():
            return _RULE
    return ""


def _joined(spans: Sequence[Span]) -> str:
    """The text of spans; a link that says something else than its address names the address too."""
    return "".join(
        f"{span.text} ({span.link})" if span.link and span.link.removeprefix("mailto:") != span.text else span.text
        for span in spans
    )


def links_of(blocks: Sequence[Block]) -> list[str]:
    """The addresses that a message links to, each once, in their order."""
    spans = (span for block in blocks for span in _spans(block))
    return list(dict.fromkeys(span.link for span in spans if span.link))


def _spans(block: Block) -> Iterable[Span]:
    match block:
        case Paragraph() | Heading():
            return block.spans
        case Table():
            return (span for row in (block.header, *block.rows) for cell in row for span in cell)
    return ()


def searchable(block: Block) -> str:
    """The text of a block that can be found in it, a formula being one character; cells on lines of their own."""
    match block:
        case Paragraph() | Heading():
            return _seen(block.spans)
        case Code():
            return block.text
        case Table():
            return "\n".join(_seen(cell) for row in (block.header, *block.rows) for cell in row)
    return ""


def _seen(spans: Sequence[Span]) -> str:
    return "".join(PICTURE if span.tex else span.text for span in spans)


@dataclass(frozen=True, slots=True)
class Query:
    """Words to look for: upper and lower case are the same, and so are all spaces and line breaks.

    Attributes:
        any_word: Whether each of the words is looked for by itself.
    """

    text: str
    any_word: bool = False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a text, from left to right, as (start, end)."""
        pattern = _pattern(self)
        if pattern is not None:
            yield from (match.span() for match in pattern.finditer(text))

    def count(self, text: str) -> int:
        """How often it stands in a text."""
        return sum(1 for _ in self.spans(text))


@lru_cache(maxsize=16)
def _pattern(query: Query) -> re.Pattern[str] | None:
    words = [re.escape(word) for word in query.text.split()]
    if not words:
        return None
    expression = "|".join(words) if query.any_word else r"\s+".join(words)
    return re.compile(expression, re.IGNORECASE)


def utf16_length(text: str) -> int:
    """Characters as Qt counts them: those beyond the basic plane are two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_spans(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Parts (start, end) of a text, counted as Qt counts; those that reach beyond its end are left out."""
    return [(utf16_length(text[:start]), utf16_length(text[:end])) for start, end in spans if end <= len(text)]
