"""The tree of messages: what is removed with a message, what is shown then, and how it comes back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.records import StoredMessage
from app.tree import MessageTree


def message(message_id: str, parent: str | None = None) -> StoredMessage:
    return StoredMessage("c", "user" if len(message_id) % 2 else "assistant", message_id, message_id, parent)


def tree(*ids: str) -> MessageTree:
    """Messages named by their path: "a", "ab" below it, "aba" below that, "abb" beside it."""
    return MessageTree([message(message_id, message_id[:-1] or None) for message_id in ids])


def shown(made: MessageTree) -> str:
    return made.thread()[-1].id if made.thread() else ""


TALK = ("a", "aa", "aaa", "aaaa", "ab", "aba", "abaa", "abb", "abba", "b", "ba")


@pytest.mark.parametrize(
    ("look", "removed", "taken", "then"),
    [
        ("abba", "abba", ["abba"], "abb"),  # an answer without versions: its question stays
        ("abba", "abb", ["abb", "abba"], "abaa"),  # a question: the version before it
        ("abaa", "aba", ["aba", "abaa"], "abba"),  # the first version: the one after it
        ("aaaa", "aa", ["aa", "aaa", "aaaa"], "abba"),
        ("abba", "a", ["a", "aa", "ab", "aaa", "aba", "abb", "aaaa", "abaa", "abba"], "ba"),
    ],
)
def test_the_nearest_version_is_shown_in_the_place_of_what_is_removed(look, removed, taken, then):
    made = tree(*TALK)
    made.end_at(look)
    assert made.remove(removed) == taken
    assert shown(made) == then
    assert all(not made.holds(message_id) for message_id in taken)


def test_what_is_removed_on_another_branch_leaves_the_one_that_is_shown():
    made = tree(*TALK)
    made.end_at("aaaa")
    made.remove("abb")
    assert shown(made) == "aaaa"


def test_the_last_message_leaves_nothing():
    made = tree("a")
    made.remove("a")
    assert made.thread() == []
    assert made.leaf_id is None
    made.put_back("a")
    made.end_at("a")
    assert shown(made) == "a"


def test_a_reply_put_back_under_a_question_that_is_gone_comes_with_it():
    made = tree("a", "aa", "ab", "b")
    made.remove("aa")
    made.remove("a")
    made.put_back("aa")
    assert not made.holds("aa")
    made.put_back("a")
    assert made.holds("aa")
    assert [made.version(message_id).number for message_id in ("aa", "ab")] == [1, 2]


@given(st.permutations(["a", "aa", "ab", "abb", "b"]), st.permutations(range(5)))
def test_whatever_is_removed_and_put_back_in_any_order_the_tree_is_as_it_was(removed, order):
    made, before = tree(*TALK), tree(*TALK)
    gone = [message_id for message_id in removed if made.holds(message_id) and made.remove(message_id)]
    for at in order:
        if at < len(gone):
            made.put_back(gone[at])
    assert [made.version(message_id) for message_id in TALK] == [before.version(message_id) for message_id in TALK]
    assert [made.neighbour(message_id, step) for message_id, step in itertools.product(TALK, (-1, 1))] == [
        before.neighbour(message_id, step) for message_id, step in itertools.product(TALK, (-1, 1))
    ]
