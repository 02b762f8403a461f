"""Calling earlier questions back."""

from __future__ import annotations

from app.history import QuestionHistory


def history(*questions: str) -> QuestionHistory:
    made = QuestionHistory()
    made.set_questions(questions)
    return made


def test_the_latest_comes_first_and_the_draft_comes_back() -> None:
    made = history("one", "two")
    assert [made.older("a draft"), made.older("two"), made.older("one")] == ["two", "one", None]
    assert [made.newer(), made.newer(), made.newer()] == ["two", "a draft", None]
    assert not made.stepping


def test_a_question_asked_twice_stands_where_it_was_asked_last() -> None:
    made = history("one", "two", "one")
    assert [made.older(""), made.older("one"), made.older("two")] == ["one", "two", None]


def test_a_draft_that_is_the_latest_question_is_passed_over() -> None:
    assert history("one", "two").older("two") == "one"


def test_without_questions_nothing_happens() -> None:
    made = history()
    assert made.older("draft") is None
    assert made.newer() is None


def test_reset_starts_from_the_field_again() -> None:
    made = history("one", "two")
    made.older("")
    made.reset()
    assert made.older("new draft") == "two"
    assert made.newer() == "new draft"
