"""Markdown to document blocks: pure, no Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from app.blocks import (
    BULLETS,
    TASK_DONE,
    TASK_OPEN,
    Align,
    Block,
    Code,
    Formula,
    Frame,
    Frames,
    Heading,
    Paragraph,
    Rule,
    Span,
    Table,
)
from app.markdown_math import STREAMING, Source, use_math

_TASKS: Final = {"[ ] ": TASK_OPEN, "[x] ": TASK_DONE, "[X] ": TASK_DONE}
_DEEPEST: Final = 6  # lists and quotes in one another that are shown as such
_DATA_SHOWN: Final = 24
_LEAVES: Final = ("inline", "fence", "code_block", "math_block", "hr", "list_item_open", "blockquote_open")


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks of a text, and where its last top-level unit (block or list item) begins.

    Attributes:
        unit_line: Line on which that unit begins.
        unit_block: Index of its first block.
        unit_ordinal: Its number, if it is an item of a numbered list.
        complete: Whether the last block stays as it is whatever follows (a closed fence, a rule).
    """

    blocks: tuple[Block, ...]
    complete: bool
    unit_line: int
    unit_block: int
    unit_ordinal: int | None


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # html off: it is shown as it was written. The link check of markdown-it refuses javascript:, data: and file:.
    parser = use_math(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]))
    parser.use(gfm_autolink_plugin)
    parser.block.ruler.before("table", "too_deep", _too_deep)
    return parser


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take what lies too deep in lists and quotes as running text: markdown-it itself would leave it out."""
    if state.level < state.md.options.maxNesting - 3:
        return False
    if not silent:
        state.push("paragraph_open", "p", 1).map = [start, end]
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = state.getLines(start, end, 0, False).strip(), [start, end], []
        state.push("paragraph_close", "p", -1)
        state.line = end
    return True


def parse(text: str) -> tuple[Block, ...]:
    """The blocks of a whole text."""
    return outline(text).blocks


def outline(text: str, first_ordinal: int | None = None, mend: Callable[[str], str] | None = None) -> Outline:
    """The blocks of a text or of its open end.

    Args:
        text: Markdown (CommonMark, tables, task lists, strikethrough, formulas).
        first_ordinal: The number of the first item, where `text` begins in the middle of a numbered list.
        mend: Changes the source of the last paragraph or heading, if the text ends with one.
    """
    builder = _Builder(text.split("\n"), first_ordinal)
    tokens = _parser().parse(text, {STREAMING: mend is not None})
    if mend is not None:
        _mend_last(tokens, mend)
    builder.run(tokens)
    return builder.result()


def _mend_last(tokens: list[Token], mend: Callable[[str], str]) -> None:
    last = next((token for token in reversed(tokens) if token.type in _LEAVES), None)
    if last is not None and last.type == "inline":
        last.children = _parser().parseInline(mend(last.content))[0].children


@dataclass(slots=True)
class _List:
    ordered: bool
    ordinal: int


@dataclass(slots=True)
class _Builder:
    """Walks markdown-it's flat token list, with the open lists and frames on stacks."""

    lines: list[str]
    first_ordinal: int | None
    blocks: list[Block] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    unit: tuple[int, int, int | None] = (0, 0, None)
    complete: bool = False

    def run(self, tokens: Sequence[Token]) -> None:
        index = 0
        while index < len(tokens):
            index += self._take(tokens, index)

    def result(self) -> Outline:
        return Outline(tuple(self.blocks), self.complete, *self.unit)

    def _take(self, tokens: Sequence[Token], index: int) -> int:
        """Take the token at `index` and those that belong to it; how many they are."""
        token = tokens[index]
        if token.level == 0 and token.nesting >= 0 and token.map:
            self.unit = (token.map[0], len(self.blocks), None)
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._open_list(token)
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                self._open_item(token)
            case "blockquote_open":
                self.frames.append(Frame("quote"))
            case "list_item_close" | "blockquote_close":
                self._close_frame()
            case _:
                return self._take_leaf(tokens, index)
        return 1

    def _take_leaf(self, tokens: Sequence[Token], index: int) -> int:
        """Take a token that begins a block; how many belong to it."""
        token = tokens[index]
        match token.type:
            case "heading_open":
                self._emit(Heading(int(token.tag[1]), spans(tokens[index + 1].children or ()), self._frames()))
                return 3
            case "paragraph_open":
                self._paragraph(spans(tokens[index + 1].children or ()))
                return 3
            case "math_block":
                self._formula(token)
            case "code_block":
                self._emit(Code(token.content.removesuffix("\n"), frames=self._frames()))
            case "fence":
                code = self._fence(token)
                self._emit(code, complete=code.closed)
            case "hr":
                self._emit(Rule(self._frames()), complete=True)
            case "table_open":
                return self._table(tokens, index)
        return 1

    def _open_list(self, token: Token) -> None:
        ordered = token.type == "ordered_list_open"
        start = int(token.attrs.get("start", 1)) if ordered else 0
        if ordered and not self.blocks and not self.lists and self.first_ordinal is not None:
            start = self.first_ordinal
        self.lists.append(_List(ordered, start))

    def _open_item(self, token: Token) -> None:
        current = self.lists[-1]
        depth = sum(not each.ordered for each in self.lists) - 1
        marker = f"{current.ordinal}." if current.ordered else BULLETS[min(depth, len(BULLETS) - 1)]
        if token.level == 1 and token.map:
            self.unit = (token.map[0], len(self.blocks), current.ordinal if current.ordered else None)
        current.ordinal += 1
        self.frames.append(Frame("item", marker))

    def _close_frame(self) -> None:
        if self.frames[-1].marker:  # an item without content still shows its marker
            self._emit(Paragraph((), self._frames()))
        self.frames.pop()

    def _frames(self) -> Frames:
        """The lists and quotes around a block; of very many the outer ones, and the innermost."""
        return tuple(self.frames if len(self.frames) <= _DEEPEST else [*self.frames[: _DEEPEST - 1], self.frames[-1]])

    def _paragraph(self, content: tuple[Span, ...]) -> None:
        """A paragraph; one that begins with a box is a task, and the box takes the place of the bullet."""
        box = _TASKS.get(content[0].text[:4]) if content and not content[0].code else None
        if box and self.frames and self.frames[-1].marker in BULLETS:
            self.frames[-1] = replace(self.frames[-1], marker=box)
            rest = replace(content[0], text=content[0].text[4:])
            content = (rest, *content[1:]) if rest.text else content[1:]
        self._emit(Paragraph(content, self._frames()))

    def _formula(self, token: Token) -> None:
        source, closed = Source(token.markup, token.content), bool(token.meta["closed"])
        text = source.text + token.info.rstrip() if closed else token.markup + token.content
        tex = source.tex.strip() + token.info.rstrip() if closed else ""
        follows = token.map is not None and token.map[1] < len(self.lines)  # else more may come on the same line
        self._emit(Formula(text, tex, closed, self._frames()), complete=closed and follows)

    def _emit(self, block: Block, complete: bool = False) -> None:
        self.blocks.append(block)
        self.complete = complete
        self.frames = [replace(frame, marker="") for frame in self.frames]

    def _fence(self, token: Token) -> Code:
        language = token.info.split()[0] if token.info.strip() else ""
        return Code(token.content.removesuffix("\n"), language, self._is_closed(token), self._frames())

    def _is_closed(self, token: Token) -> bool:
        start, end = token.map or [0, 0]
        last = self.lines[end - 1].strip(" \t>") if end - 1 > start else ""
        return len(last) >= len(token.markup) and set(last) == {token.markup[0]}

    def _table(self, tokens: Sequence[Token], index: int) -> int:
        end = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
        rows: list[list[tuple[Span, ...]]] = []
        aligns: list[Align] = []
        for at in range(index, end):
            token = tokens[at]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(spans(tokens[at + 1].children or ()))
                if len(rows) == 1:
                    aligns.append(_align(str(token.attrs.get("style", ""))))
        body = tuple(tuple(row) for row in rows[1:])
        self._emit(Table(tuple(aligns), tuple(rows[0]), body, self._frames()))
        return end - index + 1


def _align(style: str) -> Align:
    value = style.removeprefix("text-align:")
    return "center" if value == "center" else "right" if value == "right" else "left"


def spans(children: Iterable[Token]) -> tuple[Span, ...]:
    """The inline tokens of a block as spans; neighbours of one format are joined."""
    result: list[Span] = []
    style = _Style()
    for token in children:
        if token.nesting:
            style.turn(token)
            continue
        if token.type == "math_inline":
            source = Source(token.markup, token.content)
            result.append(replace(style.span(source.text, False), tex=source.tex.strip(), display=source.display))
            continue
        if token.type == "image":
            result += _image(token, style)
            continue
        text, code = _literal(token)
        if text:
            span = style.span(text, code)
            if result and _same_format(result[-1], span):
                span = style.span(result.pop().text + text, code)
            result.append(span)
    return tuple(result)


@dataclass(slots=True)
class _Style:
    """What is open at a point of a paragraph."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    link: str = ""

    def turn(self, token: Token) -> None:
        """Open or close what a token opens or closes."""
        opens = token.nesting > 0
        match token.tag:
            case "strong":
                self.bold = opens
            case "em":
                self.italic = opens
            case "s":
                self.strike = opens
            case "a":
                self.link = str(token.attrs.get("href", "")) if opens else ""

    def span(self, text: str, code: bool) -> Span:
        """Text in this style."""
        return Span(text, self.bold, self.italic, self.strike, code, self.link)


def _image(token: Token, style: _Style) -> list[Span]:
    """An image is never fetched: it is what it is said to show, and where it is, for the person to open."""
    address = str(token.attrs.get("src", ""))
    if address.startswith("data:"):
        return [style.span(token.content or address[:_DATA_SHOWN] + "…", False)]
    link = replace(style.span(address, False), link=style.link or address)
    return [style.span(f"{token.content} (", False), link, style.span(")", False)] if token.content else [link]


def _same_format(a: Span, b: Span) -> bool:
    return not a.tex and (a.bold, a.italic, a.strike, a.code, a.link) == (b.bold, b.italic, b.strike, b.code, b.link)


def _literal(token: Token) -> tuple[str, bool]:
    """The text that an inline token shows, and whether it is code."""
    match token.type:
        case "softbreak" | "hardbreak":
            return "\n", False
        case "code_inline":
            return token.content, True
    return token.content, False
