"""Markdown to blocks, at once and in pieces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.blocks import TASK_DONE, TASK_OPEN, Code, Formula, Frame, Heading, Paragraph, Rule, Span, Table, plain_text
from app.markdown import parse
from app.markdown_stream import BlockStream, close_open_inline
from tests.app.views.conftest import DOCUMENT


def test_every_kind_of_block_is_told_apart() -> None:
    blocks = parse(DOCUMENT)
    kinds = [type(block) for block in blocks]
    assert kinds[:5] == [Heading, Paragraph, Paragraph, Code, Paragraph]
    assert {Table, Rule} <= set(kinds)
    assert blocks[3] == Code('x = 1\n\ny = "🙂"  # two', "python", True, (Frame("item"),))


def test_inline_formats_become_spans() -> None:
    (block,) = parse("a **b** *c* `d` ~~e~~ [f](http://g)")
    assert isinstance(block, Paragraph)
    assert [span for span in block.spans if span.text.strip()] == [
        Span("a "),
        Span("b", bold=True),
        Span("c", italic=True),
        Span("d", code=True),
        Span("e", strike=True),
        Span("f", link="http://g"),
    ]


def test_lists_number_on_and_only_the_first_block_of_an_item_has_the_marker() -> None:
    blocks = parse("3. a\n\n   b\n1. c\n   - d\n     - e")
    assert [block.frames for block in blocks] == [
        (Frame("item", "3."),),
        (Frame("item"),),
        (Frame("item", "4."),),
        (Frame("item"), Frame("item", "•")),
        (Frame("item"), Frame("item"), Frame("item", "◦")),
    ]


def test_an_item_without_content_still_shows_its_marker() -> None:
    assert parse("- a\n-\n- c")[1] == Paragraph((), (Frame("item", "•"),))


@pytest.mark.parametrize("source", ["<script>alert(1)</script>", "a <b>c</b>", "<img src=x onerror=y>"])
def test_html_is_shown_as_it_was_written(source: str) -> None:
    (block,) = parse(source)
    assert plain_text(block) == source


def test_images_are_named_not_fetched() -> None:
    (block,) = parse("![a cat](https://example.org/cat.png) ![](http://x.org/y) ![dot](data:image/png;base64,AAAA)")
    assert plain_text(block) == "a cat (https://example.org/cat.png) http://x.org/y dot"
    assert [span.link for span in block.spans if span.link] == ["https://example.org/cat.png", "http://x.org/y"]
    assert all(not span.link for block in parse("![a](file:///etc/passwd)") for span in block.spans)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x"])
def test_dangerous_addresses_are_no_links(address: str) -> None:
    assert all(not span.link for block in parse(f"[click]({address})") for span in block.spans)


def test_line_breaks_are_kept() -> None:
    assert plain_text(parse("Roses are red\nViolets are blue")[0]) == "Roses are red\nViolets are blue"


def test_table_alignment_and_cells() -> None:
    (table,) = parse("| a | b | c |\n|---|:-:|--:|\n| 1 | **2** | 3 |")
    assert isinstance(table, Table)
    assert table.aligns == ("left", "center", "right")
    assert table.rows == (((Span("1"),), (Span("2", bold=True),), (Span("3"),)),)


def formulas(text: str) -> list[str]:
    """The LaTeX of all formulas in a text."""
    found: list[str] = []
    for block in parse(text):
        if isinstance(block, Formula):
            found.append(block.tex)
        elif isinstance(block, Paragraph):
            found += [span.tex for span in block.spans if span.tex]
    return found


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("let $x^2$ be", ["x^2"]),
        (r"let \(x_1\) be and \[y\] too", ["x_1", "y"]),
        ("$$\na_1\n+ b_1\n$$", ["a_1\n+ b_1"]),
        ("text\n$$x$$\nmore", ["x"]),
        ("\\[\nx\n\\]", ["x"]),
        ("a $$x$$ b", ["x"]),
        ("the $n$th and $a$, $b$.", ["n", "a", "b"]),
        ("> $$\n> a\n> $$", ["a"]),
        ("- item\n  $$\n  a\n  $$", ["a"]),
        (r"$$\frac{a}{b}$$.", [r"\frac{a}{b}."]),
        ("costs $5 and $10 today", []),
        ("US$5, C$6, $10/month, $20/year, $5-$10", []),
        ("$5 million to 10 million$", []),
        ("paid $5 for $x$ and $y$", ["x", "y"]),
        (r"\$x\$ is escaped", []),
        ("`$a$` and ``$b$``", []),
        ("$a `b$ c`", []),
        ("```\n$x$\n```", []),
        ("    $$x$$", []),
        ("$HOME/$USER", []),
        ("$ x $", []),
        ("$$ never closed\n\nnext $$", []),
        ("$", []),
        ("$$", []),
        ("\\[", []),
        ("$$$$", []),
    ],
)
def test_formulas_are_told_from_prices_and_code(text: str, tex: list[str]) -> None:
    assert formulas(text) == tex


def test_a_formula_keeps_its_source() -> None:
    (block,) = parse(r"a $x$ and \(y\)")
    assert plain_text(block) == r"a $x$ and \(y\)"
    assert plain_text(parse("$$\nx\n$$")[0]) == "$$\nx\n$$"


def test_a_display_formula_is_source_until_it_is_closed() -> None:
    stream = BlockStream()
    assert stream.feed("So\n\n$$\na_1 *").tail == Formula("$$\na_1 *", closed=False)
    assert stream.feed(" b\n$").tail == Formula("$$\na_1 * b", closed=False)
    assert stream.feed("$\nNow").finished == (Formula("$$\na_1 * b\n$$", "a_1 * b"),)


def test_an_inline_formula_is_one_as_soon_as_it_is_closed() -> None:
    stream = BlockStream()
    assert stream.feed("Let $a_1").tail == Paragraph((Span("Let $a_1"),))
    assert stream.feed("$ be").tail == Paragraph((Span("Let "), Span("$a_1$", tex="a_1"), Span(" be")))


def test_tasks_have_a_box_for_a_bullet() -> None:
    blocks = parse("- [ ] open\n- [x] **done**\n- [] none\n1. [x] numbered")
    assert [block.frames[0].marker for block in blocks] == [TASK_OPEN, TASK_DONE, "•", "1."]
    assert [plain_text(block) for block in blocks] == ["open", "done", "[] none", "[x] numbered"]


def test_nothing_is_lost_of_what_is_nested_too_deep() -> None:
    for text in ("> " * 60 + "end", "- " * 60 + "end", "".join("  " * n + f"- l{n}\n" for n in range(60))):
        shown = "\n".join(plain_text(block) for block in parse(text))
        assert "end" in shown or "l59" in shown
        assert all(len(block.frames) <= 6 for block in parse(text))


def test_bare_addresses_are_links() -> None:
    (block,) = parse("See https://example.org/a_b(c), www.x.org. Not file:///etc/passwd")
    assert [span.link for span in block.spans if span.link] == ["https://example.org/a_b(c)", "http://www.x.org"]


def pieces(text: str, sizes: list[int]) -> list[str]:
    result, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        result.append(text[at : at + size])
        at, turn = at + size, turn + 1
    return result


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_finished_blocks_are_a_prefix_of_the_whole_whatever_the_pieces(sizes: list[int]) -> None:
    stream = BlockStream()
    told = [block for piece in pieces(DOCUMENT, sizes) for block in stream.feed(piece).finished]
    whole = parse(DOCUMENT)
    assert tuple(told) == whole[: len(told)]
    assert len(told) >= len(whole) - 1
    assert stream.finish() == whole


MARKDOWN_ALPHABET = st.text(alphabet="ab \n*_`#->|1.[](): ~\\é🙂$x", max_size=120)


PARTS = "a,b ,\n,\n\n,- ,1. ,* ,> ,```\n,`,$$\n,$x$,   ,    ,# ,---\n,===\n,\\[,\\],[x],**,_,[x]: y\n"
MARKDOWN_PARTS = st.lists(st.sampled_from([*PARTS.split(","), "| a | b |\n|--|--|\n", "| 1 | 2 |\n"]), max_size=20).map(
    "".join
)


@given(st.one_of(MARKDOWN_ALPHABET, MARKDOWN_PARTS), st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_any_text_in_any_pieces_ends_as_the_whole(text: str, sizes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.markdown_stream._SHORT", 0)
        stream = BlockStream()
        for piece in pieces(text, sizes):
            stream.feed(piece)
        assert stream.text == text
        assert stream.finish() == parse(text)


def test_the_end_of_a_long_answer_is_not_the_time_to_parse_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = BlockStream()
    for piece in pieces(DOCUMENT * 30, [50]):
        stream.feed(piece)
    monkeypatch.setattr("app.markdown_stream.parse", lambda text: pytest.fail("parsed as a whole"))
    assert stream.finish() == parse(DOCUMENT * 30)


def test_an_open_fence_grows_as_plain_text_until_it_is_closed() -> None:
    stream = BlockStream()
    assert stream.feed("```py\nx = 1\ny").tail == Code("x = 1\ny", "py", closed=False)
    assert stream.feed(" = 2\n``").tail == Code("x = 1\ny = 2", "py", closed=False)
    assert stream.feed("`\nText").finished == (Code("x = 1\ny = 2", "py"),)


def test_a_marker_alone_is_not_shown_before_it_is_known_what_it_begins() -> None:
    stream = BlockStream()
    stream.feed("A paragraph")
    assert isinstance(stream.feed("\n-").tail, Paragraph)  # not a setext heading
    assert stream.feed(" item").tail == Paragraph((Span("item"),), (Frame("item", "•"),))


def test_emphasis_is_shown_before_it_is_closed() -> None:
    tail = BlockStream().feed("It is **very impor").tail
    assert tail == Paragraph((Span("It is "), Span("very impor", bold=True)))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("**bol", "**bol**"),
        ("a **b*", "a **b**"),
        ("`x", "`x`"),
        ("*it* and **b `c", "*it* and **b `c`**"),
        ("[label](htt", "label"),
        ("snake_case_x", "snake_case_x"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("~~s", "~~s~~"),
        ("a \\*b", "a \\*b"),
    ],
)
def test_what_is_open_is_closed_for_the_moment(written: str, shown: str) -> None:
    assert close_open_inline(written) == shown


def test_a_long_paragraph_is_not_parsed_again_with_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    import app.markdown_stream as module

    parsed = 0
    original = module.outline

    def counted(text: str, *rest: object) -> object:
        nonlocal parsed
        parsed += len(text)
        return original(text, *rest)

    monkeypatch.setattr(module, "outline", counted)
    stream = BlockStream()
    for _ in range(4000):
        stream.feed("eight ch")
    assert parsed < 20 * len(stream.text) + 2_000 * 250


def test_an_answer_in_one_long_line_ends_at_once() -> None:
    stream = BlockStream()
    for _ in range(80):
        stream.feed("words without any end " * 100)
    began = time.process_time()
    (block,) = stream.finish()
    assert time.process_time() - began < 2, "in linear time; it was over ten seconds"
    assert len(plain_text(block)) > 170_000
