"""Markdown that is still being written: finished blocks are told once, the open end is told again each time. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from app.blocks import Block, Code, Paragraph, Span
from app.markdown import Outline, outline, parse

# The last line, before its newline, is kept back where more of it could change what it is: a marker alone, the
# beginning of a fence, a row of a table.
_UNDECIDED: Final = re.compile(r"[ \t>]*(?:[-+*=_#~|:`$\\\d.)\s]*|(?:(?:[-+*]|\d+[.)])\s+)*(?:`{3,}|~{3,}|\|).*)\Z")
_UNDECIDED_IN_FENCE: Final = re.compile(r"[ \t]*(?:`*|~*)\Z")
_OPEN_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^\n]*\n")
_RUN: Final = re.compile(r"\\\(.*?\\\)|\$[^\s$](?:[^$]*[^\s$])?\$|\\.|`+|\*+|_+|~~", re.DOTALL)
# What makes earlier blocks depend on later text: a link's definition, and a formula that ends a paragraph once it is
# closed. Formulas that stand apart from other text do not.
_APART: Final = re.compile(
    r"(?:\A|\n[ \t]*)\n[ \t]*(?:\$\$|\\\[)(?:.|\n(?![ \t]*\n))*?(?:\$\$|\\\])[ \t.,;:!?]*(?=\n[ \t]*\n|\Z)"
)
_FAR: Final = re.compile(r"\]:|\S[^\S\n]*\n[ \t>]*(?:\$\$|\\\[)")  # in linear time, however long a line is
_OPEN_LINK: Final = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\Z")

# A unit longer than this many characters is parsed again only when it has grown by an eighth, so that the cost per
# character stays flat however long a paragraph or a table becomes.
_LONG: Final = 2_000
_SHORT: Final = 8_000  # a whole text that is shorter is parsed again in no time
_LINE: Final = 200  # a longer line has shown what it is


@dataclass(frozen=True, slots=True)
class Update:
    """What a piece of text brought.

    Attributes:
        finished: Blocks that are complete and follow those told before.
        tail: The block that is still open, as far as it is known; None between two blocks.
    """

    finished: tuple[Block, ...]
    tail: Block | None


class BlockStream:
    """Takes a text in pieces and tells each block once, when it is complete.

    Blocks told stay as they are, but for what only the whole text can tell (a link's definition far below):
    `finish` gives the blocks of the whole text to compare with.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._unit = ""  # from the beginning of the last top-level unit
        self._ordinal: int | None = None
        self._finished: list[Block] = []
        self._told = 0  # blocks of the unit that were told as finished
        self._parsed = 0  # length of the unit when it was parsed last
        self._tail: Block | None = None

    @property
    def text(self) -> str:
        """All that came so far."""
        return "".join(self._parts)

    def feed(self, text: str) -> Update:
        """Take the next piece."""
        self._parts.append(text)
        self._unit += text
        code = self._growing_code()
        if code is not None:
            self._tail = code
            return Update((), code)
        if len(self._unit) > _LONG and len(self._unit) - self._parsed < len(self._unit) // 8:
            self._tail = self._lengthened(text)
            return Update((), self._tail)
        return self._parse()

    def finish(self) -> tuple[Block, ...]:
        """The blocks of the whole text, the same as a fresh `parse` gives.

        Where nothing can change what was told, only the last unit is parsed again.
        """
        text = self.text
        if len(text) < _SHORT or _FAR.search(_APART.sub("", text)):
            return parse(text)
        return (*self._finished, *outline(self._unit, self._ordinal).blocks[self._told :])

    def _parse(self) -> Update:
        self._parsed = len(self._unit)
        result = outline(self._decided(), self._ordinal, close_open_inline)
        blocks = result.blocks
        # What stands before the last unit is complete, even if that unit has nothing to show yet.
        done = len(blocks) if result.complete else max(result.unit_block, len(blocks) - 1, 0)
        finished = blocks[self._told : done]
        self._finished += finished
        self._tail = blocks[-1] if done < len(blocks) else None
        self._told = max(self._told, done)
        self._advance(result)
        return Update(finished, self._tail)

    def _decided(self) -> str:
        head, newline, last = self._unit.rpartition("\n")
        return head + newline if len(last) < _LINE and _UNDECIDED.match(last) else self._unit

    def _advance(self, result: Outline) -> None:
        """Forget all before the last top-level unit: it cannot change any more."""
        if result.unit_line == 0:
            return
        self._unit = self._unit.split("\n", result.unit_line)[-1]
        self._parsed = len(self._unit)
        self._told = max(0, self._told - result.unit_block)
        self._ordinal = result.unit_ordinal

    def _growing_code(self) -> Code | None:
        """The open top-level fence without parsing it again, or None if the unit is none or may have ended."""
        if not isinstance(self._tail, Code) or self._tail.frames or not (opening := _OPEN_FENCE.match(self._unit)):
            return None
        fence = opening.group(1)
        body = self._unit[opening.end() :]
        new = body[body.rfind("\n", 0, len(self._tail.text)) + 1 :]
        if re.search(rf"^ {{0,3}}{fence}{fence[0]}*[ \t]*$", new, re.MULTILINE):
            return None
        head, newline, last = body.rpartition("\n")
        shown = head if _UNDECIDED_IN_FENCE.match(last) else head + newline + last
        return replace(self._tail, text=shown)

    def _lengthened(self, text: str) -> Block | None:
        if isinstance(self._tail, Paragraph):
            return replace(self._tail, spans=(*self._tail.spans, Span(text)))
        return self._tail


def close_open_inline(content: str) -> str:
    """Running text with the emphasis, code or link that is still open at its end closed there.

    A guess for the moment in which the rest is not written yet; it may be wrong and is made anew with each piece.
    """
    text = _OPEN_LINK.sub(r"\1", content.rstrip("*_~`\\"))
    stack: list[str] = []
    code = ""
    for match in _RUN.finditer(text):
        run = match.group()
        if code:
            code = "" if run == code else code
            continue
        if run[0] in "\\`$":
            code = run if run[0] == "`" else ""
            continue
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        if stack and stack[-1] == run and not before.isspace():
            stack.pop()
        elif after.strip() and not (run[0] == "_" and before.isalnum()):
            stack.append(run)
    return text + code + "".join(reversed(stack))
