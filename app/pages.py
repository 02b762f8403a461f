"""Long messages a page at a time: what is shown at first, and what comes when more is asked for. Pure."""

from __future__ import annotations

from typing import Final

from app.blocks import Block, Paragraph, Span
from app.markdown import outline

PLAIN_FIRST: Final = 4_000  # characters of a question that are shown at first
_PLAIN_PAGE: Final = 40_000
_PLAIN_PIECE: Final = 8_000  # characters in one text document; a longer one would be felt
MARKDOWN_PAGE: Final = 60_000
UNROLLED: Final = 400_000  # characters that are shown at most on the way to a match, and in how many blocks:
UNROLLED_BLOCKS: Final = 4_000  # about a second's work
_MOST_LINES: Final = 1_500
_LITTLE: Final = 1.25  # what is longer than a page by no more than this is shown whole


class _Pages:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def shown(self) -> int:
        """Characters told so far."""
        return self._at

    @property
    def done(self) -> bool:
        """Whether all has been told."""
        return self._at >= len(self._text)


class PlainPages(_Pages):
    """A text as it was written."""

    def next(self) -> tuple[Block, ...]:
        """The next page, as paragraphs that follow each other without a gap."""
        size = _PLAIN_PAGE if self._at else PLAIN_FIRST
        left = len(self._text) - self._at
        end = len(self._text) if left <= size * _LITTLE else self._at + size
        blocks: list[Block] = []
        while self._at < end or not blocks:
            cut = self._cut(min(end, self._at + _PLAIN_PIECE), end)
            blocks.append(Paragraph((Span(self._text[self._at : cut].removesuffix("\n")),)))
            self._at = max(cut, self._at + 1)
        return tuple(blocks)

    def _cut(self, at: int, end: int) -> int:
        """A place for a cut near `at`, behind a line break where there is one."""
        if at >= len(self._text) or (at == end and self._text[at - 1] == "\n"):
            return at
        line = self._text.rfind("\n", self._at, at) + 1
        return line if line > self._at else at


class MarkdownPages(_Pages):
    """An answer; cut only between its blocks, unless one is longer than the largest page.

    Args:
        page: Characters of a page, where its blocks allow; smaller ones take less time each.
    """

    def __init__(self, text: str, page: int = MARKDOWN_PAGE) -> None:
        super().__init__(text)
        self._page = page

    def next(self) -> tuple[Block, ...]:
        """The blocks of the next page."""
        left = len(self._text) - self._at
        largest = left if left <= MARKDOWN_PAGE * _LITTLE else MARKDOWN_PAGE
        small = self._length_of(_MOST_LINES, min(self._page, largest))
        return self._take(small) or self._take(largest, whole=True)

    def _take(self, size: int, whole: bool = False) -> tuple[Block, ...]:
        """The blocks of the next so many characters but for the last unit, which may go on; it too if `whole`."""
        page = self._text[self._at : self._at + size]
        result = outline(page)
        if self._at + size >= len(self._text) or (whole and result.unit_line == 0):
            self._at += size
            return result.blocks
        self._at += sum(len(line) + 1 for line in page.split("\n", result.unit_line)[: result.unit_line])
        return result.blocks[: result.unit_block]

    def _length_of(self, lines: int, most: int) -> int:
        """The characters of the next so many lines, at most so many."""
        end = self._at
        for _ in range(lines):
            end = self._text.find("\n", end, self._at + most) + 1
            if end == 0:
                return most
        return end - self._at


Pages = PlainPages | MarkdownPages


def pages_of(text: str, is_question: bool) -> Pages:
    """The pages of a message."""
    return PlainPages(text) if is_question else MarkdownPages(text)
