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


@dataclass(frozen=True, slots=True)
class Match:
    """One text that matches.

    Attributes:
        number: Its place in the sequence that the index was made of.
        spans: The parts (start, end) of the text that were typed; none if only its keywords match.
    """

    number: int
    spans: tuple[tuple[int, int], ...]


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

    All texts lie in one string, a line each, and regular expressions that cannot backtrack far run over it: from the
    strictest to the loosest, until enough is found. So a search takes a few milliseconds for 10,000 texts.
    """

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._texts = [fold(text).replace("\n", " ").replace(_MORE, " ") for text, _ in texts]
        lines = [f"{text}{_MORE}{_line(more)}" for text, (_, more) in zip(self._texts, texts, strict=True)]
        initials = ["".join(word[0] for word in text.split()) for text in self._texts]
        self._lines, self._line_starts = _join(lines)
        self._initials, self._initial_starts = _join(initials)

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

    def _tiers(self, terms: list[str]) -> Iterator[Iterator[tuple[int, tuple[tuple[int, int], ...]]]]:
        whole = " ".join(terms)
        letters = "".join(terms)
        starts = "".join(rf"(?=.*?(?<!\w){re.escape(term)})" for term in terms)
        inside = "".join(rf"(?=.*?{re.escape(term)})" for term in terms)
        yield ((number, ((0, len(whole)),)) for number in self._scan(f"^{re.escape(whole)}"))
        yield ((number, self._term_spans(number, terms)) for number in self._scan(f"^{starts}"))
        yield ((number, self._initial_spans(number, letters)) for number in self._scan_initials(letters))
        yield ((number, self._term_spans(number, terms)) for number in self._scan(f"^{inside}"))
        yield self._scattered(letters)

    def _scan(self, pattern: str) -> Iterator[int]:
        for match in re.compile(pattern, re.MULTILINE).finditer(self._lines):
            yield bisect_right(self._line_starts, match.start()) - 1

    def _scan_initials(self, letters: str) -> Iterator[int]:
        if len(letters) > 1:
            for match in re.compile(f"^{re.escape(letters)}", re.MULTILINE).finditer(self._initials):
                yield bisect_right(self._initial_starts, match.start()) - 1

    def _scattered(self, letters: str) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
        gaps = "".join(rf"[^\n{_MORE}{re.escape(char)}]*{re.escape(char)}" for char in letters)
        numbers = itertools.islice(self._scan(f"^{gaps}"), _CANDIDATES)
        placed = [(number, _scattered_spans(self._texts[number], letters)) for number in numbers]
        yield from sorted(placed, key=lambda item: len(item[1]))  # the fewer pieces, the better

    def _term_spans(self, number: int, terms: list[str]) -> tuple[tuple[int, int], ...]:
        text = self._texts[number]
        places = {place for term in terms for place in _place(text, term)}
        return _spans(sorted(places))

    def _initial_spans(self, number: int, letters: str) -> tuple[tuple[int, int], ...]:
        starts = [match.start() for match in re.finditer(r"\S+", self._texts[number])]
        return _spans(starts[: len(letters)])


def _line(text: str) -> str:
    return fold(text).replace("\n", " ")


def _join(lines: list[str]) -> tuple[str, list[int]]:
    """Lines in one string, and where each begins."""
    return "\n".join(lines), [0, *itertools.accumulate(len(line) + 1 for line in lines[:-1])] if lines else []


def _place(text: str, term: str) -> range:
    """Where a term stands in a text, at the beginning of a word if it can."""
    at = re.search(rf"(?<!\w){re.escape(term)}", text)
    start = at.start() if at else text.find(term)
    return range(start, start + len(term)) if start >= 0 else range(0)


def _scattered_spans(text: str, letters: str) -> tuple[tuple[int, int], ...]:
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


def _spans(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Single places as spans, those side by side as one."""
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)
