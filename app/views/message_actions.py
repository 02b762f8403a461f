"""What can be done with a message: step through its versions, and a few quiet words that hovering or focus reveals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.i18n import translate
from app.records import Version
from app.theme import Theme
from app.views.controls import CopyButton, IconButton, Label, Menu, QuietButton, unmarked

_SIDE: Final = 24
_MOST_LINKS: Final = 20
_LINK_WIDTH: Final = 420


class VersionStepper(QWidget):
    """Which version is shown, between an arrow back and one on; hidden where there is only one."""

    stepped = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._back = IconButton(theme, "back", translate("message_actions", "Previous version"), self, _SIDE)
        self._next = IconButton(theme, "next", translate("message_actions", "Next version"), self, _SIDE)
        self._label = Label(theme, "", "small", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for part in (self._back, self._label, self._next):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self._back.clicked.connect(lambda: self.stepped.emit(-1))
        self._next.clicked.connect(lambda: self.stepped.emit(1))
        self._version = Version()
        self._busy = False
        self.hide()

    @property
    def back_button(self) -> IconButton:
        """Shows the version before."""
        return self._back

    @property
    def next_button(self) -> IconButton:
        """Shows the version after."""
        return self._next

    @property
    def text(self) -> str:
        """What it says: "2 / 3"."""
        return self._label.text()

    def show_version(self, version: Version) -> None:
        """Show which version it is."""
        self._version = version
        self._label.setText(f"{version.number} / {version.of}")
        self.setVisible(version.of > 1)
        self._enable()

    def set_busy(self, busy: bool) -> None:
        """While an answer is being written, no other version can be shown."""
        self._busy = busy
        self._enable()

    def _enable(self) -> None:
        self._back.setEnabled(not self._busy and self._version.number > 1)
        self._next.setEnabled(not self._busy and self._version.number < self._version.of)


class MoreButton(IconButton):
    """Three dots; drawn only where the words beside them are."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "more", translate("message_actions", "More"), parent, _SIDE)
        self._revealed = True

    def set_revealed(self, revealed: bool) -> None:
        """Draw the dots, or leave their place empty; it stays reachable with the keyboard."""
        if revealed != self._revealed:
            self._revealed = revealed
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._revealed or self.hasFocus():
            super().paintEvent(event)


class MessageActions(QWidget):
    """The stepper and the buttons of a message in one row.

    Emits what the person wants; the message does it, or asks for it.

    Args:
        links: The addresses in the message, for a keyboard that cannot point at them.
    """

    copy_requested = Signal()
    plain_copy_requested = Signal()
    quote_requested = Signal()
    edit_requested = Signal()
    retry_requested = Signal()  # of a question without an answer
    regenerate_requested = Signal()
    continue_requested = Signal()
    fork_requested = Signal()
    explain_requested = Signal()
    delete_requested = Signal()
    link_activated = Signal(str)

    def __init__(self, theme: Theme, is_question: bool, links: Callable[[], Sequence[str]], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_question = is_question
        self._links = links
        self._busy = False
        self._cut_off = False
        self._unanswered = False
        self._revealed = True
        self.stepper = VersionStepper(theme, self)
        self.more = MoreButton(theme, self)
        self._make_buttons()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        question = (self.not_answered, self.retry, self.again, self.copy, self.more, self.stepper)
        answer = (self.stepper, self.go_on, self.copy, self.again, self.fork, self.more)
        for part in question if is_question else answer:
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        self.fork.setVisible(not is_question)
        self.more.clicked.connect(self._show_menu)
        self._show_buttons()
        self.reveal(False)

    def _make_buttons(self) -> None:
        copies = (
            translate("message_actions", "Copy this question")
            if self._is_question
            else translate("message_actions", "Copy this answer")
        )
        self.copy = CopyButton(self._theme, translate("message_actions", "Copy"), copies, self)
        self.again = self._edit_button() if self._is_question else self._regenerate_button()
        self.copy.clicked.connect(self.copy_requested)
        self.go_on = self._button(
            translate("message_actions", "Continue"),
            translate("message_actions", "Write on from where this answer ends"),
            self.continue_requested,
        )
        self.not_answered = Label(self._theme, translate("message_actions", "Not answered"), "small", "muted")
        self.not_answered.setParent(self)
        self.not_answered.setContentsMargins(0, 0, 8, 0)  # as the words of the buttons have beside them
        self.retry = self._button(
            translate("message_actions", "Try again"),
            translate("message_actions", "Ask this question once more"),
            self.retry_requested,
        )
        self.fork = self._button(
            translate("message_actions", "Fork"),
            translate("message_actions", "Go on from here in a new chat; this one stays as it is"),
            self.fork_requested,
        )

    def _edit_button(self) -> QuietButton:
        name = translate("message_actions", "Ask this question in other words")
        return self._button(translate("message_actions", "Edit"), name, self.edit_requested)

    def _regenerate_button(self) -> QuietButton:
        name = translate("message_actions", "Answer once more; this answer is kept")
        return self._button(translate("message_actions", "Regenerate"), name, self.regenerate_requested)

    def _button(self, label: str, name: str, wish: SignalInstance) -> QuietButton:
        button = QuietButton(self._theme, label, name, self)
        button.clicked.connect(wish)
        return button

    def reveal(self, revealed: bool) -> None:
        """Draw the words of the buttons, or leave their place empty; the stepper and what goes on are always drawn."""
        self._revealed = revealed
        drawn = revealed or (self._unanswered and not self._busy)  # it may have to be edited to be answered
        for button in (self.copy, self.again, self.fork, self.more):
            button.set_revealed(drawn)

    @property
    def revealed(self) -> bool:
        """Whether the words are drawn."""
        return self._revealed

    def fit(self, room: int) -> None:
        """Leave out of an answer's row what is in the menu too, as far as it has no room."""
        given_up = (self.fork, self.copy)
        width = self.sizeHint().width() + sum(each.sizeHint().width() for each in given_up if each.isHidden())
        for each in given_up:
            each.setVisible(width <= room)
            width -= each.sizeHint().width() if each.isHidden() else 0

    def set_busy(self, busy: bool) -> None:
        """Leave out what cannot be done while an answer is being written."""
        self._busy = busy
        self.stepper.set_busy(busy)
        self._show_buttons()

    def set_cut_off(self, cut_off: bool) -> None:
        """Whether the answer ended before it was complete, so that it can be continued."""
        self._cut_off = cut_off
        self._show_buttons()

    def set_unanswered(self, unanswered: bool) -> None:
        """Whether nothing answers the question: it says so, and offers to ask again."""
        self._unanswered = unanswered
        self._show_buttons()

    def menu(self) -> Menu:
        """All that there is no room for."""
        menu = Menu(self._theme, self)
        menu.addAction(translate("message_actions", "Copy as Markdown"), self.copy_requested.emit)
        menu.addAction(translate("message_actions", "Copy as plain text"), self.plain_copy_requested.emit)
        menu.addAction(translate("message_actions", "Quote in the question"), self.quote_requested.emit)
        self._add_links(menu)
        menu.addSeparator()
        menu.addAction(translate("message_actions", "Fork into a new chat"), self.fork_requested.emit)
        if not self._is_question:
            menu.addAction(translate("message_actions", "Where the time went"), self.explain_requested.emit)
        delete = menu.addAction(translate("message_actions", "Delete from here on"), self.delete_requested.emit)
        delete.setEnabled(not self._busy)
        return menu

    def _add_links(self, menu: Menu) -> None:
        links = self._links()[:_MOST_LINKS]
        if not links:
            return
        below, metrics = menu.add_submenu(translate("message_actions", "Open a link")), menu.fontMetrics()
        for link in links:
            shown = metrics.elidedText(link, Qt.TextElideMode.ElideMiddle, _LINK_WIDTH)
            below.addAction(unmarked(shown), partial(self.link_activated.emit, link))

    def _show_menu(self) -> None:
        self.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _show_buttons(self) -> None:
        self.again.setVisible(not self._busy)
        self.go_on.setVisible(self._cut_off and not self._busy)
        for part in (self.not_answered, self.retry):
            part.setVisible(self._unanswered and not self._busy)
        self.reveal(self._revealed)
