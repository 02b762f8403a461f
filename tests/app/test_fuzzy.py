"""Finding texts by a few of their letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.fuzzy import Index, fold
from tests.app.pace import least_s

LABELS = ("New chat", "Notes on a Chat", "Renew the chart", "Settings", "Delete this chat", "Nothing else: can it?")


def found(query: str, *labels: str) -> list[str]:
    texts = labels or LABELS
    return [texts[match.number] for match in Index([(text, "") for text in texts]).search(query, 100)]


def marked(query: str, text: str) -> str:
    (match,) = Index([(text, "")]).search(query, 1)
    for start, end in reversed(match.spans):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


def test_the_beginning_comes_first_then_words_then_initials_then_the_inside() -> None:
    labels = ("a renewed one", "far neat work", "brand new", "New chat", "n, e, w")
    assert found("new", *labels) == ["New chat", "brand new", "n, e, w", "a renewed one", "far neat work"]


def test_words_are_found_in_any_order() -> None:
    assert found("chat new") == ["New chat"]
    assert marked("chat new", "New chat") == "[New] [chat]"


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("new", "New chat", "[New] chat"),
        ("nc", "New chat", "[N]ew [c]hat"),
        ("cha", "Mocha, chat", "Mocha, [cha]t"),
        ("och", "Mocha, chat", "M[och]a, chat"),
        ("nwct", "New chat", "[N]e[w] [c]ha[t]"),
        ("resume", "Mon Résumé", "Mon [Résumé]"),
        ("推理", "为什么推理慢", "为什么[推理]慢"),
    ],
)
def test_what_was_typed_is_marked_at_word_starts_first(query: str, text: str, expected: str) -> None:
    assert marked(query, text) == expected


def test_keywords_find_a_text_and_mark_nothing() -> None:
    (match,) = Index([("Settings", "preferences options")]).search("pref", 10)
    assert (match.number, match.spans) == (0, ())


def test_letters_are_not_looked_for_across_a_text_and_its_keywords() -> None:
    assert Index([("ab", "cd")]).search("bc", 10) == ()


def test_nothing_matches_nothing() -> None:
    assert found("xyz") == []
    assert found("  ") == []
    assert Index([]).search("a", 10) == ()


def test_order_is_kept_within_a_kind_and_the_limit_holds() -> None:
    index = Index([(f"chat {n}", "") for n in range(50)])
    assert [match.number for match in index.search("chat", 7)] == list(range(7))


@given(st.text(), st.text(max_size=8))
def test_spans_are_inside_the_text_in_order_and_spell_the_query(text: str, query: str) -> None:
    text = text.replace("\n", " ").replace("\x1f", " ")
    for match in Index([(text, "")]).search(query, 1):
        ends = [0, *(place for span in match.spans for place in span)]
        assert ends == sorted(ends) and ends[-1] <= len(text)
        typed = sorted("".join(fold(query).split()))
        assert not match.spans or set("".join(fold(text)[a:b] for a, b in match.spans).replace(" ", "")) <= set(typed)


def test_ten_thousand_texts_are_searched_within_a_key_press() -> None:
    words = ("regex", "letter", "tomato", "notes", "packing", "window", "推理", "why", "first", "slow")
    texts = [(f"{words[n % 10]} {words[n // 10 % 10]} {n} about {words[n // 100 % 10]}", "") for n in range(10_000)]
    index = Index(texts)
    for query in ("n", "no", "notes win", "ntswn", "9999", "wwww", "zzz", "aaaaaaaaaa", "e e e e"):
        assert least_s(lambda sought=query: index.search(sought, 100)) < 0.03, query
