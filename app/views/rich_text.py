"""Markdown blocks to text documents: formats from the theme, nothing that draws by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, cast

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontInfo,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLine,
    QTextOption,
    QTextTableCell,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.highlight import highlight
from app.markdown import Align, Code, Heading, Paragraph, Span, Table
from app.theme import LINE_HEIGHT, FontRole, Theme

CHIP_PADDING: Final = 4.0
CHIP: Final = int(QTextFormat.Property.UserProperty) + 1  # marks inline code
_LINE_SEPARATOR: Final = "\u2028"
_HEADING_ROLES: Final[dict[int, FontRole]] = {1: "heading1", 2: "heading2"}
_ALIGNMENTS: Final = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


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


def insert_spans(cursor: QTextCursor, spans: Sequence[Span], theme: Theme) -> None:
    """Write spans at the cursor; a line break stays inside the paragraph."""
    for span, following in zip(spans, (*spans[1:], None), strict=True):
        look = span_format(span, theme)
        text = span.text.replace("\n", _LINE_SEPARATOR)
        beside_chip = span.code or (following is not None and following.code)
        cursor.insertText(text[:-1] if beside_chip else text, look)
        if beside_chip:  # room for the chip's rounded ends, which lie outside the code's own characters
            look.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
            look.setFontLetterSpacing(CHIP_PADDING)
            cursor.insertText(text[-1:], look)


def fill_prose(document: QTextDocument, block: Paragraph | Heading, theme: Theme) -> None:
    """Write a paragraph or heading into an empty document."""
    font = theme.font(heading_role(block.level) if isinstance(block, Heading) else "body")
    document.setDefaultFont(font)
    cursor = QTextCursor(document)
    cursor.setBlockFormat(block_format(font, 1.3 if isinstance(block, Heading) else LINE_HEIGHT))
    insert_spans(cursor, block.spans, theme)


def fill_code(document: QTextDocument, block: Code, theme: Theme) -> None:
    """Write code into an empty document, coloured if it is closed."""
    font = theme.font("code")
    document.setDefaultFont(font)
    cursor = QTextCursor(document)
    cursor.setBlockFormat(block_format(font))
    cursor.beginEditBlock()
    for text, token in _colored(block):
        insert_code(cursor, text, theme, token)
    cursor.endEditBlock()


def insert_code(cursor: QTextCursor, text: str, theme: Theme, token: str = "text") -> None:  # noqa: S107 - a colour
    """Write code at the cursor in one colour."""
    color = QTextCharFormat()
    color.setForeground(theme.color(token))
    cursor.insertText(text, color)


def _colored(block: Code) -> Iterator[tuple[str, str]]:
    at = 0
    for piece in highlight(block.text, block.language) if block.closed else ():
        if piece.start > at:
            yield block.text[at : piece.start], "text"
        at = piece.start + piece.length
        yield block.text[piece.start : at], piece.token
    yield block.text[at:], "text"


def fill_table(document: QTextDocument, block: Table, theme: Theme) -> None:
    """Write a table into an empty document: a line under each row, no boxes."""
    font = theme.font("list")
    document.setDefaultFont(font)
    cursor = QTextCursor(document)
    _shrink(cursor)
    table = cursor.insertTable(len(block.rows) + 1, len(block.header), _table_format())
    for row, cells in enumerate((block.header, *block.rows)):
        for column, spans in enumerate(cells):
            bold = tuple(replace(span, bold=True) for span in spans) if row == 0 else spans
            _fill_cell(table.cellAt(row, column), bold, block.aligns[column], theme)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    _shrink(cursor)


def _shrink(cursor: QTextCursor) -> None:
    """Qt keeps an empty paragraph before and behind a table: give it no height."""
    flat = QTextBlockFormat()
    flat.setLineHeight(0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    cursor.setBlockFormat(flat)


def _table_format() -> QTextTableFormat:
    result = QTextTableFormat()
    result.setBorder(0)
    result.setCellSpacing(0)
    result.setCellPadding(0)
    result.setBorderCollapse(True)
    return result


def _fill_cell(cell: QTextTableCell, spans: Sequence[Span], align: Align, theme: Theme) -> None:
    look = QTextTableCellFormat()
    look.setTopPadding(7)
    look.setBottomPadding(7)
    look.setLeftPadding(0 if cell.column() == 0 else 12)
    look.setRightPadding(12)
    look.setBottomBorder(1)
    look.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    look.setBottomBorderBrush(theme.color("line"))
    cell.setFormat(look)
    cursor = cell.firstCursorPosition()
    layout = block_format(theme.font("list"), 1.4)
    layout.setAlignment(_ALIGNMENTS[align])
    cursor.setBlockFormat(layout)
    insert_spans(cursor, spans, theme)


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
            rects.extend(rect.translated(origin) for rect in _line_rects(block, start, end))
        block = block.next()
    return rects


def _chips(block: QTextBlock) -> list[tuple[int, int]]:
    formats = block.textFormats()
    return [(each.start, each.start + each.length) for each in formats if each.format.hasProperty(CHIP)]


def _line_rects(block: QTextBlock, start: int, end: int) -> Iterator[QRectF]:
    layout = block.layout()
    for index in range(layout.lineCount()):
        line = layout.lineAt(index)
        first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
        if first < last:
            left, right = cursor_x(line, first), cursor_x(line, last)
            at_end = CHIP_PADDING if last == end else 0.0  # the room behind the last character is not part of the code
            yield QRectF(left, line.y(), right - left - at_end, line.height()).normalized()
