"""Finds texts by a few of their letters, and says which letters matched. Pure, no Qt."""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_MORE: Final = "\x1f"  # between a text and its keywords
_CANDIDATES: Final = 200  # of loose matches, these are looked at closely
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Match:
    """One text that matches.

    Attributes:
        number: Its place in the sequence that the index was made of.
        spans: The parts (start, end) of the text that were typed; none if only its keywords match.
    """

    number: int
    spans: Spans


def fold(text: str) -> str:
    """Text without case and accents, character by character, so that places in it stay what they were."""
    if text.isascii():
        return text.lower()
    return "".join(_fold_one(char) for char in text)


def _fold_one(char: str) -> str:
    lowered = unicodedata.normalize("NFD", char)[0].lower()
    return lowered if len(lowered) == 1 else char


class Index:
    """Many texts, each with its keywords, prepared for one search a key press.

    All texts lie in one string, a line each, which is searched for the strictest kind of match first and for looser
    ones until enough is found, by functions that are one loop in C over the whole string. So a search takes a few
    milliseconds for 10,000 texts.
    """

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._texts = [fold(text).replace("\n", " ").replace(_MORE, " ") for text, _ in texts]
        self._lines = _Lines(
            [f"{text}{_MORE}{_line(more)}" for text, (_, more) in zip(self._texts, texts, strict=True)]
        )
        self._initials = _Lines(["".join(word[0] for word in text.split()) for text in self._texts])

    def search(self, query: str, limit: int) -> tuple[Match, ...]:
        """At most so many matches, best first.

        The order: the text begins with the query; every word of the query begins a word; the letters begin the words
        one after the other ("nc" for "New chat"); every word of the query is somewhere inside; its letters follow one
        another with gaps. Within each the texts keep their order.
        """
        terms = fold(query).split()
        if not terms or not self._texts:
            return ()
        found: dict[int, Match] = {}
        for number, spans in itertools.chain.from_iterable(self._tiers(terms)):
            if number not in found:
                found[number] = Match(number, spans)
            if len(found) >= limit:
                break
        return tuple(found.values())

    def _tiers(self, terms: list[str]) -> Iterator[Iterator[tuple[int, Spans]]]:
        whole, letters = " ".join(terms), "".join(terms)
        yield ((number, ((0, len(whole)),)) for number in self._lines.beginning(whole))
        yield ((number, self._term_spans(number, terms)) for number in self._starting(terms))
        yield ((number, self._initial_spans(number, letters)) for number in self._with_initials(letters))
        yield ((number, self._term_spans(number, terms)) for number in self._holding(terms))
        yield self._scattered(letters)

    def _starting(self, terms: list[str]) -> Iterator[int]:
        """Lines in which every term begins a word."""
        first, *others = (re.compile(rf"(?<!\w){re.escape(term)}") for term in sorted(terms, key=len, reverse=True))
        for number in self._lines.matching(first):
            if all(other.search(self._lines[number]) for other in others):
                yield number

    def _holding(self, terms: list[str]) -> Iterator[int]:
        """Lines in which every term stands somewhere."""
        first, *others = sorted(terms, key=len, reverse=True)
        return (number for number in self._lines.holding(first) if all(term in self._lines[number] for term in others))

    def _with_initials(self, letters: str) -> Iterator[int]:
        return self._initials.beginning(letters) if len(letters) > 1 else iter(())

    def _scattered(self, letters: str) -> Iterator[tuple[int, Spans]]:
        gaps = "".join(rf"[^\n{_MORE}{re.escape(char)}]*{re.escape(char)}" for char in letters)
        matching = self._lines.matching(re.compile(f"^{gaps}", re.MULTILINE))
        numbers = itertools.islice(matching, _CANDIDATES)
        placed = [(number, _scattered_spans(self._texts[number], letters)) for number in numbers]
        yield from sorted(placed, key=lambda item: len(item[1]))  # the fewer pieces, the better

    def _term_spans(self, number: int, terms: list[str]) -> Spans:
        text = self._texts[number]
        places = {place for term in terms for place in _place(text, term)}
        return _spans(sorted(places))

    def _initial_spans(self, number: int, letters: str) -> Spans:
        starts = [match.start() for match in re.finditer(r"\S+", self._texts[number])]
        return _spans(starts[: len(letters)])


def _line(text: str) -> str:
    return fold(text).replace("\n", " ")


class _Lines:
    """Lines in one string, found by what is in them; the numbers of those found ascend."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._joined = "\n" + "\n".join(lines)
        self._starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=1))

    def __getitem__(self, number: int) -> str:
        return self._lines[number]

    def beginning(self, text: str) -> Iterator[int]:
        """Those that begin with a text."""
        return self.holding(f"\n{text}")

    def holding(self, text: str) -> Iterator[int]:
        """Those that hold a text."""
        at = self._joined.find(text)
        while at >= 0:
            number = self._number(at + text.startswith("\n"))
            yield number
            at = self._joined.find(text, self._starts[number + 1] - 1)

    def matching(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """Those in which a pattern matches, which cannot match across lines."""
        found = pattern.search(self._joined)
        while found is not None:
            number = self._number(found.start())
            yield number
            found = pattern.search(self._joined, self._starts[number + 1])

    def _number(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1


def _place(text: str, term: str) -> range:
    """Where a term stands in a text, at the beginning of a word if it can."""
    at = re.search(rf"(?<!\w){re.escape(term)}", text)
    start = at.start() if at else text.find(term)
    return range(start, start + len(term)) if start >= 0 else range(0)


def _scattered_spans(text: str, letters: str) -> Spans:
    """Letters one after the other: each where the one before ends, else where a word begins, else anywhere."""
    places: list[int] = []
    at = 0
    for rest, char in enumerate(letters):
        after = letters[rest + 1 :]
        word = re.search(rf"(?<!\w){re.escape(char)}", text[at:])
        start = at if text[at : at + 1] == char else at + word.start() if word else text.find(char, at)
        if not _follows(text, start + 1, after):
            start = text.find(char, at)
        places.append(start)
        at = start + 1
    return _spans(places)


def _follows(text: str, at: int, letters: str) -> bool:
    """Whether letters stand in this order in a text from a place on."""
    for char in letters:
        at = text.find(char, at) + 1
        if not at:
            return False
    return True


def _spans(places: Sequence[int]) -> Spans:
    """Single places as spans, those side by side as one."""
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)
