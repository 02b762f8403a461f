"""The inspector: pages at the right of the conversation that answer why a turn was as fast or as slow as it was."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views.controls import IconButton
from app.views.inspector.tabs import Tab
from app.views.inspector.turn_page import TurnPage
from app.views.steady_area import SteadyArea

WIDTH: Final = 364
_HEAD: Final = 52


class Inspector(QFrame):
    """One page at a time; a row of words at the top chooses it."""

    closed = Signal()
    page_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("inspector")
        self.setAccessibleName(translate("inspector", "Inspector"))
        self.fit_into(theme.wide(WIDTH))
        self.turn = TurnPage(theme, self)
        self._pages: dict[str, SteadyArea] = {}
        self._tabs: dict[str, Tab] = {}
        self._stack = QStackedWidget(self)
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout()
        self._close = IconButton(theme, "close", translate("inspector", "Close the inspector (F12)"), self, 28)
        self._close.clicked.connect(self.closed)
        self._lay_out()
        self.add_page("turn", translate("inspector", "Turn"), self.turn)

    def fit_into(self, room: int) -> None:
        """Be as wide as the text wants it, but no wider than so many pixels."""
        self.setFixedWidth(min(self._theme.wide(WIDTH), room))

    @property
    def page_names(self) -> tuple[str, ...]:
        """The names of all pages, in their order."""
        return tuple(self._pages)

    @property
    def page(self) -> str:
        """The name of the page on view."""
        return next(name for name, area in self._pages.items() if area is self._stack.currentWidget())

    def add_page(self, name: str, label: str, page: QWidget) -> None:
        """Add a page behind the others."""
        area = SteadyArea(self)
        area.setObjectName("inspectorPage")
        area.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        area.setWidget(page)
        tab = Tab(self._theme, label, self)
        tab.setChecked(not self._pages)
        tab.clicked.connect(lambda: self.show_page(name))
        self._pages[name], self._tabs[name] = area, tab
        self._group.addButton(tab)
        self._row.insertWidget(len(self._pages) - 1, tab)
        self._stack.addWidget(area)

    def show_page(self, name: str) -> None:
        """Put a page on view."""
        self._stack.setCurrentWidget(self._pages[name])
        self._tabs[name].setChecked(True)
        self.page_chosen.emit(name)

    def _lay_out(self) -> None:
        self._row.setContentsMargins(12, 0, 10, 0)
        self._row.setSpacing(2)
        self._row.addStretch(1)
        self._row.addWidget(self._close)
        head = QWidget(self)
        head.setFixedHeight(self._theme.line(_HEAD))
        head.setLayout(self._row)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._stack, 1)
