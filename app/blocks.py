"""What a text consists of when it is drawn: blocks, as frozen values. Pure, no Qt.

A block is a leaf (paragraph, heading, code, table, rule); the lists and quotes that it stands in are its frames.
So a list is as many blocks as it has items, and each can be drawn as soon as it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Align = Literal["left", "center", "right"]
BULLETS: Final = ("•", "◦", "▪")
TASK_OPEN, TASK_DONE = "☐", "☑"  # the markers of a task list


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one format; a line break is a newline in it.

    Attributes:
        link: The address this text leads to, or empty.
        tex: The LaTeX of a formula, whose source is `text`; empty in all other spans.
        display: Whether a formula asks for the large form.
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    link: str = ""
    tex: str = ""
    display: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """A list item or a quote around a block.

    Attributes:
        marker: What stands before the first block of an item: a bullet, "1." or a box; empty for later blocks and
            quotes.
    """

    kind: Literal["item", "quote"]
    marker: str = ""


Frames = tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    spans: tuple[Span, ...]
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of level 1 to 6."""

    level: int
    spans: tuple[Span, ...]
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Code:
    """Literal text. `closed` is False while a fence still waits for its end."""

    text: str
    language: str = ""
    closed: bool = True
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A header row and rows, each a tuple of cells, each cell a tuple of spans."""

    aligns: tuple[Align, ...]
    header: tuple[tuple[Span, ...], ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula on lines of its own. `closed` is False while its end is still to come; then `tex` is empty.

    Attributes:
        text: As it was written.
    """

    text: str
    tex: str = ""
    closed: bool = True
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""

    frames: Frames = ()


Block = Paragraph | Heading | Code | Table | Formula | Rule


def plain_text(block: Block) -> str:
    """What a reader sees of a block, as text."""
    match block:
        case Paragraph() | Heading():
            return "".join(span.text for span in block.spans)
        case Code() | Formula():
            return block.text
        case Table():
            rows = (block.header, *block.rows)
            return "\n".join("\t".join("".join(span.text for span in cell) for cell in row) for row in rows)
    return ""
