r"""Formulas in Markdown: `$a$`, `$$a$$`, `\(a\)` and `\[a\]`, as rules for markdown-it. Pure.

What a dollar sign means is decided as pandoc does it: an opening one has no space behind it, a closing one none before
it and no digit after it; so prices stay prices. A code span is never reached into.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

STREAMING: Final = "streaming"  # set in the parser's environment while the end of the text is still to come
_LONGEST: Final = 4_000
_CLOSES: Final = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_DISPLAY: Final = ("$$", r"\[")
_PRICE: Final = re.compile(r"\d[\d.,]*\s+[^\W\d_]{2,}|.*[/:;,(-]\Z", re.DOTALL)
_AFTER_BLOCK: Final = re.compile(r"[.,;:!?]?\s*\Z")


@dataclass(frozen=True, slots=True)
class Source:
    r"""A formula as it was written: between which marks, and what.

    Attributes:
        markup: The opening mark: `$`, `$$`, `\(` or `\[`.
        tex: The LaTeX between the marks.
    """

    markup: str
    tex: str

    @property
    def display(self) -> bool:
        """Whether it asks for the large form."""
        return self.markup in _DISPLAY

    @property
    def text(self) -> str:
        """What was written, marks and all."""
        return self.markup + self.tex + _CLOSES[self.markup]


def use_math(parser: MarkdownIt) -> MarkdownIt:
    """Teach a parser the four kinds: tokens `math_inline` and `math_block`, their `markup` the opening mark."""
    parser.inline.ruler.before("escape", "math_inline", _inline)
    parser.block.ruler.before("fence", "math_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def _opening(text: str, at: int) -> str:
    two = text[at : at + 2]
    return two if two in _CLOSES else text[at : at + 1] if text[at : at + 1] == "$" else ""


def _inline(state: StateInline, silent: bool) -> bool:
    found = formula_at(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.markup, token.content = found.markup, found.tex
    state.pos += len(found.text)
    return True


def formula_at(text: str, at: int) -> Source | None:
    """The formula that begins at a place of running text, or None if none does or none is closed."""
    markup = _opening(text, at)
    if not markup or (markup[0] == "$" and at and (text[at - 1].isalnum() or text[at - 1] == "$")):
        return None
    begin, close = at + len(markup), _CLOSES[markup]
    end = _find(text, close, begin)
    if end < 0:
        return None
    tex = text[begin:end]
    if not tex.strip() or "`" in tex or "\n\n" in tex:
        return None
    after = text[end + len(close) : end + len(close) + 1]
    if markup == "$" and (tex[0].isspace() or tex[-1].isspace() or after.isdigit() or _PRICE.match(tex)):
        return None
    return Source(markup, tex)


def _find(text: str, close: str, begin: int) -> int:
    """Where the closing mark is, not counting an escaped dollar sign; -1 if it is not near."""
    limit = begin + _LONGEST
    end = text.find(close, begin, limit)
    while end > 0 and close[0] == "$" and text[end - 1] == "\\":
        end = text.find(close, end + 1, limit)
    return end


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    markup = first[:2]
    if markup not in _DISPLAY:
        return False
    line, closed = _last_line(state, start, end, first, _CLOSES[markup])
    if line < 0:
        return False
    if silent:
        return closed  # one whose end may never come does not end the paragraph before it
    text = state.getLines(start, line + 1, state.blkIndent, False).strip()
    tex, mark, tail = text[2:].rpartition(_CLOSES[markup]) if closed else (text[2:], "", "")
    token = state.push("math_block", "math", 0)
    token.block, token.markup, token.content, token.info = True, markup, tex + ("" if mark else tail), tail
    token.map, token.meta = [start, line + 1], {"closed": closed}
    state.line = line + 1
    return True


def _last_line(state: StateBlock, start: int, end: int, first: str, close: str) -> tuple[int, bool]:
    """The line that ends a block and whether the closing mark is there; -1 if this is no block of its own."""
    line, text = start, first[2:]
    while close not in text:
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            at_end = line >= len(state.bMarks) - 1 and bool(state.env.get(STREAMING))
            return (line - 1 if at_end else -1), False
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    inside, _, after = text.partition(close)
    return (line if _AFTER_BLOCK.match(after) and (line > start or inside.strip()) else -1), True
