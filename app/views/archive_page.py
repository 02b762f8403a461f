"""The archived conversations, in the place of the list, with the way back above them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.i18n import translate
from app.records import Conversation
from app.theme import Theme
from app.views.controls import IconButton, Label, claim_escape
from app.views.conversation_list import ConversationList
from app.views.conversation_rows import Listing


class ArchivePage(QWidget):
    """Leaves with Escape, with its arrow, and when it has become empty."""

    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        name = translate("archive_page", "Archived chats")
        self._list = ConversationList(theme, name, self, archive=True)
        self.back_button = IconButton(theme, "back", translate("archive_page", "Back to all chats (Esc)"), self, 28)
        self.back_button.clicked.connect(self.left)
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.back_button)
        top.addWidget(Label(theme, name, "button"), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._list, 1)

    @property
    def list(self) -> ConversationList:
        """The rows."""
        return self._list

    def show_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show these, latest first."""
        self._list.show_listing(Listing(conversations))
        if not conversations and not self.isHidden():
            self.left.emit()

    def event(self, event: QEvent) -> bool:
        return claim_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
