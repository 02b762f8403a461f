"""A thought is told apart from its answer wherever the stream is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.thinking import Parts, ThinkingSplitter, split


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "\nHm.\n", "Yes."),
        ("  \n<think>a</think>b", "a", "b"),
        ("<think>still open", "still open", ""),
        ("No tag. <think>a</think>", "", "No tag. <think>a</think>"),
        ("<thinking>a</thinking>", "", "<thinking>a</thinking>"),
        ("<thi", "", "<thi"),
        ("<think>a</thi", "a</thi", ""),
        ("<think></think>", "", ""),
        ("<think>a</think> <think>b</think>", "a", "<think>b</think>"),
        ("", "", ""),
    ],
)
def test_only_a_tag_at_the_beginning_opens_a_thought(text: str, thought: str, answer: str) -> None:
    assert split(text) == Parts(thought, answer)


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "th", "\n", " ", "a", "/", ">"]), max_size=12).map("".join),
    st.lists(st.integers(1, 7), min_size=1, max_size=6),
)
def test_a_stream_tells_the_same_wherever_it_is_cut(text: str, sizes: list[int]) -> None:
    splitter, thought, answer, at, turn = ThinkingSplitter(), "", "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        parts = splitter.feed(text[at : at + size])
        thought, answer = thought + parts.thought, answer + parts.answer
        at, turn = at + size, turn + 1
    rest = splitter.finish()
    assert Parts(thought + rest.thought, answer + rest.answer) == split(text)


def test_nothing_of_a_tag_is_shown_before_it_is_known_what_it_is() -> None:
    splitter = ThinkingSplitter()
    assert [splitter.feed(piece) for piece in ("<th", "ink>a", "b</th", "ink>", "\n\n", "c")] == [
        Parts(),
        Parts("a"),
        Parts("b"),
        Parts(),
        Parts(),
        Parts(answer="c"),
    ]
