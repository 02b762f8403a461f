"""Blocks as plain text, and words found in it."""

from __future__ import annotations

import pytest

from app.markdown import parse
from app.plain_text import Query, links_of, message_text, searchable, utf16_length, utf16_spans


def test_a_message_reads_well_without_its_markdown() -> None:
    text = (
        "# Title\n\nSome **bold** `code` and [a link](https://example.org), https://x.org.\n\n"
        "1. one\n2. two\n   - [x] nested\n\n   more\n\n> quoted\n> text\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n"
        "```py\nx = 1\n```\n\n$$\na^2\n$$"
    )
    assert message_text(parse(text)) == (
        "Title\n\nSome bold code and a link (https://example.org), https://x.org.\n\n"
        "1. one\n2. two\n  ☑ nested\n\n  more\n\n> quoted\n> text\n\na\tb\n1\t2\n\nx = 1\n\n$$\na^2\n$$"
    )


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("a", "A banana", ["A", "a", "a", "a"]),
        ("two  words", "two\nwords, Two words", ["two\nwords", "Two words"]),
        ("a.b", "axb a.b", ["a.b"]),
        ("推理", "为什么推理慢", ["推理"]),
        ("  ", "anything", []),
    ],
)
def test_words_are_found_whatever_their_case_and_spaces(query: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Query(query).spans(text)] == found
    assert Query(query).count(text) == len(found)


def test_any_of_several_words_is_found_for_a_hit_of_the_search() -> None:
    assert Query("slow word", any_word=True).count("The first word is slow") == 2


def test_a_formula_is_one_character_that_no_words_match() -> None:
    (block,) = parse("a $x$ b")
    assert Query("x").count(searchable(block)) == 0
    assert Query("b").count(searchable(block)) == 1


def test_characters_are_counted_as_qt_counts_them() -> None:
    assert utf16_length("a🙂é") == 4


def test_parts_are_counted_as_qt_counts() -> None:
    assert utf16_length("a\ud83d🙂") == 4
    assert utf16_spans("🙂 a é 🙂b", [(2, 3), (6, 8), (7, 9)]) == [(3, 4), (7, 10)]


def test_links_are_told_once_in_their_order() -> None:
    text = "# [b](https://b.example)\n\nhttps://a.example, [b](https://b.example)\n\n| <https://c.example> |\n|--|"
    assert links_of(parse(text)) == ["https://b.example", "https://a.example", "https://c.example"]
