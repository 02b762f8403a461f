"""Markdown blocks to text documents: formats from the theme, nothing that draws by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, cast
from unicodedata import bidirectional

from PySide6.QtCore import QRectF
from PySide6.QtGui import (
    QFont,
    QFontInfo,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLine,
    QTextOption,
)

from app.blocks import Heading, Paragraph, Span
from app.highlight import Piece
from app.theme import LINE_HEIGHT, FontRole, Theme
from app.views.formulas import OBJECT, Formulas, source_of

CHIP_PADDING: Final = 4.0
CHIP: Final = int(QTextFormat.Property.UserProperty) + 1  # marks inline code
_LINE_SEPARATOR: Final = "\u2028"
_HEADING_ROLES: Final[dict[int, FontRole]] = {1: "heading1", 2: "heading2"}
_HEADING_LINES: Final = 1.3
_BASELINE: Final = 0.8  # where Qt puts the baseline in a line of fixed height


def new_document(font: QFont, wrap: bool = True) -> QTextDocument:
    """An empty document without margin or undo; long words break anywhere."""
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(font)
    option = document.defaultTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if wrap else QTextOption.WrapMode.NoWrap)
    document.setDefaultTextOption(option)
    return document


def line_height(font: QFont, factor: float = LINE_HEIGHT) -> int:
    """The pixels from line to line in a font."""
    return round(QFontInfo(font).pixelSize() * factor)


def block_format(font: QFont, factor: float = LINE_HEIGHT) -> QTextBlockFormat:
    """Lines at one fixed distance, whatever fallback fonts a line holds."""
    result = QTextBlockFormat()
    result.setLineHeight(line_height(font, factor), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return result


def heading_role(level: int) -> FontRole:
    """The font of a heading."""
    return _HEADING_ROLES.get(level, "heading3")


def span_format(span: Span, theme: Theme) -> QTextCharFormat:
    """How a span is drawn, over the document's own font."""
    result = QTextCharFormat()
    result.setForeground(theme.color("text"))
    if span.code:
        result.setFont(theme.font("code"), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
        result.setProperty(CHIP, True)
    if span.bold:
        result.setFontWeight(QFont.Weight.DemiBold)
    if span.italic:
        result.setFontItalic(True)
    if span.strike:
        result.setFontStrikeOut(True)
    if span.link:
        result.setAnchor(True)
        result.setAnchorHref(span.link)
        result.setForeground(theme.color("link"))
        result.setFontUnderline(True)
    return result


def insert_spans(cursor: QTextCursor, spans: Sequence[Span], theme: Theme, formulas: Formulas) -> None:
    """Write spans at the cursor; a line break stays inside the paragraph, unless lines may run different ways."""
    line_break = "\n" if any(has_right_to_left(span.text) for span in spans) else _LINE_SEPARATOR
    shown = [drawable(span, cursor.document().defaultFont(), formulas) for span in spans]
    cursor.beginEditBlock()  # laid out once, not for each span: hundreds of right-to-left ones would take seconds
    for span, following in zip_longest(shown, shown[1:]):
        if span.tex:
            color = theme.color("link" if span.link else "text")
            cursor.insertText(OBJECT, formulas.format(span, cursor.document().defaultFont(), color))
            continue
        look = span_format(span, theme)
        text = span.text.replace("\n", line_break)
        beside_chip = span.code or (following is not None and following.code)
        cursor.insertText(text[:-1] if beside_chip else text, look)
        if beside_chip:  # room for the chip's rounded ends, which lie outside the code's own characters
            look.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
            look.setFontLetterSpacing(CHIP_PADDING)
            cursor.insertText(text[-1:], look)
    cursor.endEditBlock()


def drawable(span: Span, font: QFont, formulas: Formulas) -> Span:
    """The span, or the source of its formula as code if the LaTeX cannot be understood."""
    drawn = formulas.find(formulas.key(span, font)) if span.tex else None
    return span if drawn is None or drawn.picture is not None else replace(span, tex="", code=True)


def fill_prose(document: QTextDocument, block: Paragraph | Heading, theme: Theme, formulas: Formulas) -> None:
    """Write a paragraph or heading into an empty document."""
    font = theme.font(heading_role(block.level) if isinstance(block, Heading) else "body")
    document.setDefaultFont(font)
    cursor = QTextCursor(document)
    factor = _HEADING_LINES if isinstance(block, Heading) else LINE_HEIGHT
    layout = block_format(font, factor)
    if not _fits_lines(block.spans, font, line_height(font, factor), formulas):
        distance = line_height(font, factor) - round(QFontMetricsF(font).height())
        layout.setLineHeight(distance, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        layout.setTopMargin(distance - 1)  # so that the first baseline stays about where it is otherwise
    cursor.setBlockFormat(layout)
    insert_spans(cursor, block.spans, theme, formulas)


def _fits_lines(spans: Sequence[Span], font: QFont, height: int, formulas: Formulas) -> bool:
    """Whether all formulas stay within lines of one height, so that lines need not grow for them."""
    known = [formulas.find(formulas.key(span, font)) for span in spans if span.tex]
    above, below = height * _BASELINE, height * (1 - _BASELINE) + 1
    return all(drawn is None or (drawn.ascent <= above and drawn.descent <= below) for drawn in known)


def formula_sources(document: QTextDocument, start: int, end: int) -> list[str]:
    """The sources of the formulas between two positions, in order."""
    cursor = QTextCursor(document)
    result = []
    for at in range(start, end):
        if document.characterAt(at) == OBJECT:
            cursor.setPosition(at + 1)
            result.append(source_of(cursor.charFormat()))
    return result


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction runs from right to left."""
    kinds = (bidirectional(char) for char in text[:1000])
    return next((kind in ("R", "AL") for kind in kinds if kind in ("L", "R", "AL")), False)


def has_right_to_left(text: str) -> bool:
    """Whether any letter runs from right to left."""
    return not text.isascii() and any(bidirectional(char) in ("R", "AL") for char in text)


def fill_code(document: QTextDocument, text: str, pieces: Iterable[Piece], theme: Theme) -> None:
    """Write code into an empty document, each piece in its colour."""
    font = theme.font("code")
    document.setDefaultFont(font)
    cursor = QTextCursor(document)
    cursor.setBlockFormat(block_format(font))
    cursor.beginEditBlock()
    at = 0
    for piece in pieces:
        insert_code(cursor, text[at : piece.start], theme)
        at = piece.start + piece.length
        insert_code(cursor, text[piece.start : at], theme, piece.token)
    insert_code(cursor, text[at:], theme)
    cursor.endEditBlock()


def insert_code(cursor: QTextCursor, text: str, theme: Theme, token: str = "text") -> None:  # noqa: S107 - a colour
    """Write code at the cursor in one colour."""
    if text:
        color = QTextCharFormat()
        color.setForeground(theme.color(token))
        cursor.insertText(text, color)


def cursor_x(line: QTextLine, position: int) -> float:
    """Where a position of a line stands, in pixels from the left of its block."""
    x, _ = cast(tuple[float, int], line.cursorToX(position))
    return x


def chip_rects(document: QTextDocument) -> list[QRectF]:
    """Where inline code stands, in the document's coordinates: one rectangle a line."""
    layout = document.documentLayout()
    rects: list[QRectF] = []
    block = document.begin()
    while block.isValid():
        origin = layout.blockBoundingRect(block).topLeft()
        for start, end in _chips(block):
            rects.extend(rect.translated(origin) for rect in _line_rects(block, start, end, CHIP_PADDING))
        block = block.next()
    return rects


def range_rects(document: QTextDocument, start: int, end: int) -> Iterator[QRectF]:
    """Where the text between two positions stands, in the document's coordinates: one rectangle a line."""
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        origin = document.documentLayout().blockBoundingRect(block).topLeft()
        first, last = max(0, start - block.position()), min(end - block.position(), block.length() - 1)
        yield from (rect.translated(origin) for rect in _line_rects(block, first, last))
        block = block.next()


def _chips(block: QTextBlock) -> list[tuple[int, int]]:
    formats = block.textFormats()
    return [(each.start, each.start + each.length) for each in formats if each.format.hasProperty(CHIP)]


def _line_rects(block: QTextBlock, start: int, end: int, room: float = 0.0) -> Iterator[QRectF]:
    """One rectangle a line; `room` pixels behind the last character are no part of it."""
    layout = block.layout()
    begin, stop = (layout.lineForTextPosition(at) for at in (start, end))
    last_line = stop.lineNumber() if stop.isValid() else layout.lineCount() - 1
    for index in range(begin.lineNumber() if begin.isValid() else 0, last_line + 1):
        line = layout.lineAt(index)
        first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
        if first < last:
            left, right = cursor_x(line, first), cursor_x(line, last)
            yield QRectF(left, line.y(), right - left - (room if last == end else 0.0), line.height()).normalized()
