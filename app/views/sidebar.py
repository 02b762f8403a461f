"""The list of conversations: New chat and the search above it, the archive behind it, and the promise below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.i18n import translate
from app.records import Conversation, Folder
from app.search_result import SearchResult
from app.theme import Theme
from app.views.archive_page import ArchivePage
from app.views.controls import IconButton, Label
from app.views.conversation_list import ConversationList
from app.views.conversation_rows import Listing
from app.views.folder_dialog import FolderDialog
from app.views.row_list import GUTTER
from app.views.search_field import SearchField
from app.views.search_results import SearchResults

WIDTH: Final = 272
_REFRESH_MS: Final = 30_000  # "2 min" becomes "3 min"
_DOT_AT: Final = 8


class _Promise(QWidget):
    """A dot and a sentence: that nothing leaves this machine, or what the network is used for just now."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._online = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(_DOT_AT + 15, 0, 0, 0)
        self._label = Label(theme, "", "small", "muted")
        self._label.setWordWrap(True)
        row.addWidget(self._label)
        self.show_online("")

    @property
    def sentence(self) -> str:
        """What it says."""
        return self._label.text()

    def show_online(self, sentence: str) -> None:
        """Say what the network is used for; empty for nothing."""
        self._online = sentence
        self._label.setText(sentence or translate("sidebar", "Offline. Nothing leaves this machine."))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent" if self._online else "good"))
        painter.drawEllipse(_DOT_AT, self.height() // 2 - 3, 7, 7)


class _NewChatButton(QPushButton):
    """New chat, with its shortcut at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        shortcut = QKeySequence(QKeySequence.StandardKey.New).toString(QKeySequence.SequenceFormat.NativeText)
        self._size = QSize(theme.wide(WIDTH) - 24, theme.line(36))
        self.setObjectName("newChat")
        self.setAccessibleName(translate("sidebar", "New chat ({keys})").format(keys=shortcut))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        words, keys = Label(theme, translate("sidebar", "New chat")), Label(theme, shortcut, "small", "muted")
        for label in (words, keys):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row.addWidget(words, 1)
        row.addWidget(keys)

    def sizeHint(self) -> QSize:
        return self._size


class Sidebar(QFrame):
    """Shows the conversations and emits what the person wants with them."""

    new_requested = Signal()
    open_requested = Signal(str)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str)
    pin_requested = Signal(str, bool)
    archive_requested = Signal(str, bool)
    move_requested = Signal(str, str)  # conversation, folder or "" for none
    export_requested = Signal(str)
    folder_added = Signal(str, str)  # its name, the conversation that goes into it or ""
    folder_renamed = Signal(str, str)
    folder_deleted = Signal(str)
    folders_folded = Signal(object)  # frozenset of the ids of all folders that are folded now
    search_changed = Signal(str)
    hit_opened = Signal(str, str, str)  # conversation, message or "" for its title, query
    settings_requested = Signal()
    typed = Signal(str)  # a key that belongs into the composer

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setFixedWidth(theme.wide(WIDTH))
        self._theme = theme
        self._open_id = ""
        self._listing = Listing()
        self._new = _NewChatButton(theme, self)
        self._search = SearchField(theme, self)
        self._list = ConversationList(theme, translate("sidebar", "Chats"), self)
        self._archive = ArchivePage(theme, self)
        self._results = SearchResults(theme, lambda: self._list.conversations.now, self)
        self._empty = _sentence(theme)
        self._nothing = _sentence(theme)
        self._promise = _Promise(theme, self)
        self._settings = IconButton(theme, "settings", translate("sidebar", "Settings (Ctrl+,)"), self)
        self._stack = QStackedWidget(self)
        self._in_archive = False
        self._result: SearchResult | None = None
        self._lay_out()
        self._refresh = QTimer(self)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._show)
        self._connect()
        self._show()

    def _connect(self) -> None:
        self._new.clicked.connect(self.new_requested)
        self._settings.clicked.connect(self.settings_requested)
        for rows in (self._list, self._archive.list):
            rows.wishes.open_requested.connect(self.open_requested)
            rows.wishes.delete_requested.connect(self.delete_requested)
            rows.wishes.pin_requested.connect(self.pin_requested)
            rows.wishes.archive_requested.connect(self.archive_requested)
            rows.wishes.move_requested.connect(self.move_requested)
            rows.wishes.export_requested.connect(self.export_requested)
            rows.typed.connect(self.typed)
        self._list.wishes.folder_wanted.connect(self.ask_for_folder)
        self._list.wishes.folder_deleted.connect(self.folder_deleted)
        self._list.wishes.archive_opened.connect(self._open_archive)
        self._list.conversations.rename_requested.connect(self.rename_requested)
        self._list.conversations.folder_renamed.connect(self.folder_renamed)
        self._list.folded.connect(self._fold)
        # A list that changed while a title was being written waits until that is done.
        self._list.itemDelegate().closeEditor.connect(lambda *_: QTimer.singleShot(0, self, self._show))
        self._archive.left.connect(self._leave_archive)
        self._search.changed.connect(self._search_changed)
        self._search.stepped.connect(self._step)
        self._search.chosen.connect(self._results.open_current)
        self._results.hit_opened.connect(self.hit_opened)
        self._results.left.connect(self._search.give_up)

    def _lay_out(self) -> None:
        for page in (self._list, self._empty, self._archive, self._results, self._nothing):
            self._stack.addWidget(page)
        self._empty.setText(translate("sidebar", "Your chats will stand here.\nThey stay on this machine."))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12 - GUTTER, 8)
        column.setSpacing(8)
        top = QVBoxLayout()
        top.setContentsMargins(0, 0, GUTTER, 0)
        top.setSpacing(8)
        top.addWidget(self._new)
        top.addWidget(self._search)
        column.addLayout(top)
        column.addWidget(self._stack, 1)
        column.addSpacing(4)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(0, 0, GUTTER, 0)
        bottom.addWidget(self._promise, 1)
        bottom.addWidget(self._settings)
        column.addLayout(bottom)

    @property
    def list(self) -> ConversationList:
        """The rows."""
        return self._list

    @property
    def archive(self) -> ArchivePage:
        """The archived conversations."""
        return self._archive

    @property
    def results(self) -> SearchResults:
        """What a search found."""
        return self._results

    @property
    def search_field(self) -> SearchField:
        """What is searched for."""
        return self._search

    @property
    def new_button(self) -> QPushButton:
        """Begins a new chat."""
        return self._new

    @property
    def promise(self) -> str:
        """The sentence at the bottom."""
        return self._promise.sentence

    @property
    def sentence(self) -> str:
        """What stands in the place of the rows; empty while there are rows."""
        page = self._stack.currentWidget()
        return page.text() if isinstance(page, Label) else ""

    # -- what is shown ---------------------------------------------------------------------------------------------

    def show_conversations(
        self, conversations: Sequence[Conversation], folders: Sequence[Folder], busy: frozenset[str]
    ) -> None:
        """Show these conversations, latest first, their folders, and in which of them an answer is being written."""
        self._listing = replace(self._listing, conversations=conversations, folders=folders, busy=busy)
        self._show()

    def show_archived(self, conversations: Sequence[Conversation]) -> None:
        """Keep these, latest first, behind the last row of the list; without any that row is not there."""
        self._archive.show_conversations(conversations)
        self._listing = replace(self._listing, archived=len(conversations))
        self._show()

    def show_folded(self, folders: frozenset[str]) -> None:
        """Fold these folders, and no others."""
        self._listing = replace(self._listing, folded=folders)
        self._show()

    def show_results(self, result: SearchResult | None) -> None:
        """Show what a search found in place of the list; None ends the search. One that is out of date is ignored."""
        if result is not None and not self._search.wanted:
            return
        self._result = result
        if result is not None:
            self._results.show_result(result)
            text = translate("sidebar", "Nothing was found for “{query}”.")
            self._nothing.setText(text.format(query=result.query))
        self._choose_page()

    def show_search_problem(self, sentence: str) -> None:
        """Say why nothing can be searched, in the place of the results."""
        if self._search.wanted:
            self._result = SearchResult(self._search.wanted)
            self._nothing.setText(sentence)
            self._choose_page()

    def show_online(self, sentence: str | None) -> None:
        """Say below the list what the network is used for; None or nothing: that nothing leaves this machine."""
        self._promise.show_online(sentence or "")

    def mark_open(self, conversation_id: str) -> None:
        """Mark the conversation on view."""
        self._open_id = conversation_id
        self._list.mark_open(conversation_id)
        self._archive.list.mark_open(conversation_id)

    def focus_search(self) -> None:
        """Put the keyboard into the search field, what stands there selected."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def end_search(self) -> None:
        """Show the list again, if something is searched for; the keyboard stays where it is."""
        self._search.clear()

    def ask_for_folder(self, conversation_id: str = "") -> None:
        """Ask for the name of a new folder, for this conversation or for none."""
        dialog = FolderDialog(self._theme, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.named.connect(lambda name: self.folder_added.emit(name, conversation_id))
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:
        """The times that the rows tell go on only while they can be seen."""
        super().showEvent(event)
        self._show()
        self._refresh.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._refresh.stop()

    # -- what happens here -----------------------------------------------------------------------------------------

    def _show(self) -> None:
        if not self._list.editing:
            self._list.show_listing(self._listing)
            self._list.mark_open(self._open_id)
            self._choose_page()

    def _choose_page(self) -> None:
        """The results while something is searched for, else the archive if it was opened, else the list."""
        if self._result is not None:
            page: QWidget = self._results if self._result.hits else self._nothing
        elif self._in_archive:
            page = self._archive
        else:
            page = self._list if self._list.conversations.rowCount() else self._empty
        self._stack.setCurrentWidget(page)

    def _fold(self, folded: frozenset[str]) -> None:
        self.show_folded(folded)
        self.folders_folded.emit(folded)

    def _open_archive(self) -> None:
        self._in_archive = True
        self._choose_page()
        self._archive.list.focus_first()

    def _leave_archive(self) -> None:
        self._in_archive = False
        self._choose_page()
        self._list.setFocus()

    def _search_changed(self, text: str) -> None:
        if not text:
            self.show_results(None)
        self.search_changed.emit(text)

    def _step(self, key: Qt.Key) -> None:
        """An arrow in the field: through what was found, or down into the list."""
        if self._result is not None:
            self._results.step(key)
        elif key == Qt.Key.Key_Down and self._stack.currentWidget() is self._list:
            self._list.focus_first()


def _sentence(theme: Theme) -> Label:
    """A sentence in the place of the rows."""
    label = Label(theme, "", "small", "muted")
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignTop)
    label.setContentsMargins(8, 12, 8 + GUTTER, 0)
    return label
