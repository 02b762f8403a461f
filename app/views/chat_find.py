"""Finds words in a conversation, in messages that have a view and in those that have none yet.

Texts are looked through in short slices of idle time, from what is seen on and around, and kept while the bar is open.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.pages import UNROLLED, UNROLLED_BLOCKS, MarkdownPages, PlainPages
from app.plain_text import Query, searchable
from app.records import StoredMessage
from app.thinking import split
from app.views.chat_column import ChatColumn
from app.views.slots import Slot

_SLICE_S: Final = 0.006
_PAGE: Final = 2_000  # characters of an answer that are looked through in one go
_TEXTS: Final = 200  # texts that are known already, in one go
_BRIEFLY_MS: Final = 2_500


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A match: in which message, in which of its blocks, and which of that block's it is."""

    slot: int
    block: int
    number: int


class ChatFind(QObject):
    """The search through one conversation; its owner scrolls to what is found.

    Args:
        column: The messages.
    """

    found = Signal(object)  # a Match to go to
    counted = Signal(int, int, bool)  # number of the current match from 1 (0 for none), how many, whether more may come

    def __init__(self, column: ChatColumn, parent: QObject) -> None:
        super().__init__(parent)
        self._column = column
        self._query: Query | None = None
        self._texts: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._counts: list[tuple[int, ...] | None] = []
        self._work: Iterator[None] = iter(())
        self._current: Match | None = None
        self._start = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._slice)
        self._brief = QTimer(self)
        self._brief.setSingleShot(True)
        self._brief.setInterval(_BRIEFLY_MS)
        self._brief.timeout.connect(self.clear)

    @property
    def counting(self) -> bool:
        """Whether some messages have not been looked through yet."""
        return self._timer.isActive()

    def look_for(self, text: str, seen: int) -> None:
        """Look for words, first in the message at index `seen`; an empty text looks for nothing."""
        self._brief.stop()
        self._query = Query(text) if text.strip() else None
        self._current = None
        self._start = seen
        self._begin()

    def refresh(self) -> None:
        """Look again: the conversation has changed."""
        if self._query is not None and not self._brief.isActive():
            self._begin()

    def clear(self) -> None:
        """Look for nothing and forget the texts."""
        self._query, self._current = None, None
        self._texts.clear()
        self._timer.stop()
        self._brief.stop()
        self._mark()

    def step(self, step: int) -> None:
        """Go so many matches on or back, around the ends."""
        number, of = self._place()
        if of:
            self._go_to(self._match_at((number - 1 + step) % of if number else 0))

    def look_at(self, index: int, text: str) -> None:
        """Show for a moment where any of some words stand in one message; goes to the first."""
        self._timer.stop()
        self._query, self._current = Query(text, any_word=True), None
        self._counts = [None] * len(self._column.slots)
        self._go_to(self._first_match(index) or Match(index, -1, 0))
        self._brief.start()

    def made(self, index: int) -> None:
        """A view was made: it shows the matches too."""
        self._mark_slot(index, self._column.slots[index])

    # -- counting ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._mark()
        size = len(self._column.slots)
        self._counts = [None] * size
        self._work = self._look_through([*range(self._start, size), *range(min(self._start, size))])
        if self._query is None:
            self._timer.stop()
            self.counted.emit(0, 0, False)
        else:
            self._timer.start()
            self._slice()

    def _slice(self) -> None:
        begun = time.perf_counter()
        for _ in self._work:
            if time.perf_counter() - begun > _SLICE_S:
                break
        else:
            self._timer.stop()
        self._tell()

    def _look_through(self, order: Sequence[int]) -> Iterator[None]:
        """Look through messages in an order, a little at each step."""
        for index in order:
            counts: list[int] = []
            for page in self._pages_of(self._column.slots[index]):
                if self._query is None:
                    return
                counts += map(self._query.count, page)
                yield
            self._counts[index] = tuple(counts)
            if self._current is None and any(counts):
                self._go_to(Match(index, next(block for block, count in enumerate(counts) if count), 0))

    def _first_match(self, index: int) -> Match | None:
        """The first match in one message, without looking further than it, or than is shown of a message at once."""
        block = looked = 0
        for page in self._pages_of(self._column.slots[index]):
            for text in page:
                if self._query is not None and self._query.count(text):
                    return Match(index, block, 0)
                block += 1
                looked += len(text)
            if looked > UNROLLED or block > UNROLLED_BLOCKS:
                break
        return None

    def _pages_of(self, slot: Slot) -> Iterator[Sequence[str]]:
        """The texts of the blocks of a message, a page at a time; kept until nothing is looked for."""
        if slot.view is not None and slot.view.streaming:
            yield [searchable(block) for block in slot.view.body.blocks]
            return
        known = self._texts.get(slot.message.id)
        if known is not None and known[0] == slot.message.content:
            for at in range(0, len(known[1]), _TEXTS):
                yield known[1][at : at + _TEXTS]
            return
        texts: list[str] = []
        for page in _pages(slot.message):
            texts += page
            yield page
        self._texts[slot.message.id] = (slot.message.content, tuple(texts))

    def _match_at(self, number: int) -> Match:
        """The match of this number, from 0, among all that were counted."""
        for slot, counts in enumerate(self._counts):
            for block, count in enumerate(counts or ()):
                if number < count:
                    return Match(slot, block, number)
                number -= count
        raise IndexError(number)

    def _place(self) -> tuple[int, int]:
        """Which match the current one is, from 1 (0 for none), and of how many: told without a list of them."""
        of = sum(map(sum, (counts or () for counts in self._counts)))
        current = self._current
        if current is None:
            return 0, of
        before = sum(map(sum, (counts or () for counts in self._counts[: current.slot])))
        blocks = self._counts[current.slot] or () if current.slot < len(self._counts) else ()
        return min(before + sum(blocks[: max(0, current.block)]) + current.number + 1, of), of

    def _go_to(self, match: Match) -> None:
        before, self._current = self._current, match
        for index in {match.slot, before.slot if before is not None else match.slot}:
            if index < len(self._column.slots):
                self._mark_slot(index, self._column.slots[index])
        self.found.emit(match)
        self._tell()

    def _tell(self) -> None:
        """Say which match of how many it is."""
        self.counted.emit(*self._place(), self.counting)

    # -- marking -----------------------------------------------------------------------------------------------

    def _mark(self) -> None:
        for index, slot in enumerate(self._column.slots):
            self._mark_slot(index, slot)

    def _mark_slot(self, index: int, slot: Slot) -> None:
        if slot.view is None:
            return
        here = self._current if self._current is not None and self._current.slot == index else None
        query = self._query if not self._brief.isActive() or here is not None else None
        slot.view.body.mark_matches(query, here.block if here else -1, here.number if here else -1)


def _pages(message: StoredMessage) -> Iterator[list[str]]:
    """The text of each block of a message, as it can be found, in pages that take no time."""
    is_question = message.role == "user"
    pages = PlainPages(message.content) if is_question else MarkdownPages(split(message.content).answer, _PAGE)
    while not pages.done:
        yield [searchable(block) for block in pages.next()]
