"""In which order Tab goes through controls: as they stand, whenever they were made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

_SAME_ROW: Final = 6  # pixels between the middles of controls that stand side by side


def controls_in(part: QWidget) -> list[QWidget]:
    """What the keyboard goes to in a part of the window, row by row from its top, each row from the left."""
    found = [each for each in part.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    placed = sorted(((each.mapTo(part, each.rect().center()), each) for each in found), key=lambda one: one[0].y())
    rows: list[list[tuple[int, QWidget]]] = []
    top = 0
    for middle, control in placed:
        if not rows or middle.y() - top >= _SAME_ROW:
            rows.append([])
            top = middle.y()
        rows[-1].append((middle.x(), control))
    return [control for row in rows for _, control in sorted(row, key=lambda one: one[0])]


def follow(first: QWidget, others: Iterable[QWidget]) -> None:
    """Have Tab go from `first` to the others, one after the other, before it goes on to what followed `first`."""
    for control in others:
        QWidget.setTabOrder(first, control)
        first = control
