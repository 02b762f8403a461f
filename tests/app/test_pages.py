"""Long messages come a page at a time, and all of them comes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.blocks import Block, plain_text
from app.markdown import parse
from app.pages import MARKDOWN_PAGE, PLAIN_FIRST, MarkdownPages, PlainPages


def test_a_short_message_is_one_page() -> None:
    for pages in (PlainPages("short"), MarkdownPages("short")):
        assert [plain_text(block) for block in pages.next()] == ["short"]
        assert pages.done
    assert PlainPages("").next()


@pytest.mark.parametrize("text", ["line\n" * 40_000, "x" * 200_000, "word " * 40_000 + "\n" + "y" * 100_000])
def test_a_long_question_is_cut_and_nothing_is_lost(text: str) -> None:
    pages = PlainPages(text)
    first = pages.next()
    assert sum(len(plain_text(block)) for block in first) <= PLAIN_FIRST
    blocks = list(first)
    while not pages.done:
        blocks += pages.next()
    assert pages.shown == len(text)
    assert "".join(map(plain_text, blocks)).replace("\n", "") == text.replace("\n", "")
    assert all(len(plain_text(block)) <= 8_000 for block in blocks)


def all_blocks(text: str) -> tuple[Block, ...]:
    pages, blocks = MarkdownPages(text), list[Block]()
    while not pages.done:
        blocks += pages.next()
    return tuple(blocks)


def test_a_long_answer_is_cut_between_its_blocks() -> None:
    text = f"A **paragraph** {'of words ' * 60}.\n\n```py\nx = 1\n\ny = 2\n```\n\n> quote\n\n" * 300
    pages = MarkdownPages(text)
    pages.next()
    assert MARKDOWN_PAGE * 0.9 < pages.shown <= MARKDOWN_PAGE
    assert all_blocks(text) == parse(text)


@pytest.mark.parametrize("page", [2_000, 8_000])
def test_smaller_pages_have_the_same_blocks(page: int) -> None:
    text = "# Title\n\nA **paragraph**.\n\n```py\n" + "x = 1\n" * 2_000 + "```\n\n1. one\n2. two\n\n"
    pages, blocks = MarkdownPages(text * 8, page), list[Block]()
    while not pages.done:
        blocks += pages.next()
    assert tuple(blocks) == all_blocks(text * 8)


def test_a_page_has_few_enough_lines_to_be_laid_out_at_once() -> None:
    pages = MarkdownPages("line\n\n" * 10_000)
    assert len(pages.next()) < 800
    assert len(all_blocks("line\n\n" * 3_000)) == 3_000


@pytest.mark.parametrize("text", ["```\n" + "code\n" * 20_000 + "```\n\nend", "x\n" * 50_000, "- item\n" * 20_000])
def test_one_block_longer_than_a_page_is_cut_too(text: str) -> None:
    shown = "".join(map(plain_text, all_blocks(text)))
    assert len(shown) >= len(text) * 0.5
    assert shown.endswith(text.rstrip()[-3:].removeprefix("```"))


@given(st.integers(0, 80), st.integers(1_000, 3_000), st.integers(20, 90))
@settings(max_examples=15, deadline=None)
def test_a_cut_changes_no_block(words: int, page: int, lines: int) -> None:
    text = "\n\n".join(["word " * words + "end", "```\n" + "code\n" * (words // 8) + "```", "1. item\n2. item"] * 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.pages.MARKDOWN_PAGE", page)
        patch.setattr("app.pages._MOST_LINES", lines)
        assert [plain_text(block) for block in all_blocks(text)] == [plain_text(block) for block in parse(text)]


def test_the_first_page_of_five_megabytes_is_there_at_once() -> None:
    for text in ("word " * 1_000_000, "x" * 5_000_000, "# Title\n\nSome *words*.\n\n" * 220_000):
        for pages in (PlainPages(text), MarkdownPages(text)):
            begun = time.thread_time()
            pages.next()
            assert time.thread_time() - begun < 0.4
