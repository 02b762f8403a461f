"""The colours of a long code block, found in short slices of idle time and laid over its text."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextCharFormat, QTextDocument, QTextLayout

from app.highlight import Piece, pieces
from app.plain_text import utf16_length
from app.theme import Theme

_SLICE_S: Final = 0.004


class CodeColours(QObject):
    """Colours one document, whose text blocks are the lines of the code.

    Args:
        document: Holds the code as it is.
    """

    changed = Signal()  # some lines have colours now

    def __init__(self, document: QTextDocument, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._lines: list[str] = []
        self._line = 0
        self._begin = 0  # where that line begins in the code
        self._pieces: Iterator[Piece] = iter(())
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._slice)

    @property
    def busy(self) -> bool:
        """Whether some lines have no colours yet."""
        return self._timer.isActive()

    def start(self, code: str, language: str) -> None:
        """Begin with other code."""
        self._lines, self._line, self._begin = code.split("\n"), 0, 0
        self._pieces = pieces(code, language)
        self._timer.start()

    def stop(self) -> None:
        """Leave it as it is."""
        self._timer.stop()

    def _slice(self) -> None:
        begun = time.perf_counter()
        found: defaultdict[int, list[QTextLayout.FormatRange]] = defaultdict(list)
        for piece in self._pieces:
            self._add(piece, found)
            if time.perf_counter() - begun > _SLICE_S:
                break
        else:
            self._timer.stop()
        for line, ranges in found.items():
            layout = self._document.findBlockByNumber(line).layout()
            layout.setFormats([*layout.formats(), *ranges])
        self.changed.emit()

    def _add(self, piece: Piece, found: defaultdict[int, list[QTextLayout.FormatRange]]) -> None:
        """A piece as formats of the lines that it lies in."""
        look = QTextCharFormat()
        look.setForeground(self._theme.color(piece.token))
        end = piece.start + piece.length
        while self._begin + len(self._lines[self._line]) < piece.start:
            self._next_line()
        at = piece.start
        while at < end:
            line = self._lines[self._line]
            stop = min(end, self._begin + len(line))
            if stop > at:
                each = QTextLayout.FormatRange()
                each.start = utf16_length(line[: at - self._begin])
                each.length = utf16_length(line[at - self._begin : stop - self._begin])
                each.format = look
                found[self._line].append(each)
            if stop == end:
                return
            self._next_line()
            at = self._begin

    def _next_line(self) -> None:
        self._begin += len(self._lines[self._line]) + 1
        self._line += 1
