"""The list of conversations, New chat above it and the promise below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.records import Conversation
from app.theme import Theme
from app.views.controls import IconButton, Label, Menu, is_typing
from app.views.conversation_delegate import ConversationDelegate
from app.views.conversation_model import ConversationModel

WIDTH: Final = 272
_REFRESH_MS: Final = 30_000  # "2 min" becomes "3 min"
_DOT_AT: Final = 8
OFFLINE: Final = "Offline. Nothing leaves this machine."
EMPTY: Final = "Your conversations will stand here.\nThey stay on this machine."


class ConversationList(QListView):
    """The rows; Enter and click open, F2 and double click rename, Delete deletes."""

    open_requested = Signal(str)
    delete_requested = Signal(str)
    typed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = ConversationModel(self)
        self._delegate = ConversationDelegate(theme, self._model, self)
        self.setObjectName("conversations")
        self.setAccessibleName("Conversations")
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.clicked.connect(self._open)
        self.activated.connect(self._open)

    @property
    def conversations(self) -> ConversationModel:
        """The model."""
        return self._model

    @property
    def editing(self) -> bool:
        """Whether a title is being written."""
        return self.state() == QAbstractItemView.State.EditingState

    def mark_open(self, conversation_id: str) -> None:
        """Mark the conversation on view."""
        self._delegate.open_id = conversation_id
        index = self._model.index_of(conversation_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and not self.editing:
            self._delete(self.currentIndex())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.editing:
            self._open(self.currentIndex())
        elif is_typing(event) and not self.editing:
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and (conversation := self._model.row(index).conversation) is not None:
            self.open_requested.emit(conversation.id)

    def _delete(self, index: QModelIndex) -> None:
        if index.isValid() and (conversation := self._model.row(index).conversation) is not None:
            self.delete_requested.emit(conversation.id)

    def _show_menu(self, point: QPoint) -> None:
        index = self.indexAt(point)
        if not index.isValid() or self._model.row(index).conversation is None:
            return
        menu = Menu(self._theme, self)
        rename = menu.addAction(self._theme.icon("rename", "muted"), "Rename\tF2")
        rename.triggered.connect(lambda: self.edit(index))
        delete = menu.addAction(self._theme.icon("delete", "muted"), "Delete\tDel")
        delete.triggered.connect(lambda: self._delete(index))
        menu.popup(self.viewport().mapToGlobal(point))


class _Offline(QWidget):
    """A dot in the colour of "good" beside one sentence."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(_DOT_AT + 15, 0, 0, 0)
        label = Label(theme, OFFLINE, "small", "muted")
        label.setWordWrap(True)
        row.addWidget(label)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("good"))
        painter.drawEllipse(_DOT_AT, self.height() // 2 - 3, 7, 7)


class _NewChatButton(QPushButton):
    """New chat, with its shortcut at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("newChat")
        self.setAccessibleName("New chat (Ctrl+N)")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        shortcut = QKeySequence(QKeySequence.StandardKey.New).toString(QKeySequence.SequenceFormat.NativeText)
        for text, role, tone in (("New chat", "list", "text"), (shortcut, "small", "faint")):
            label = Label(theme, text, role, tone)  # type: ignore[arg-type]
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(label, 1 if tone == "text" else 0)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH - 24, 36)


class Sidebar(QFrame):
    """Shows the conversations and emits what the person wants with them."""

    new_requested = Signal()
    open_requested = Signal(str)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str)
    settings_requested = Signal()
    typed = Signal(str)  # a key that belongs into the composer

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setFixedWidth(WIDTH)
        self._open_id = ""
        self._shown: tuple[Sequence[Conversation], frozenset[str]] = ((), frozenset())
        self._new = _NewChatButton(theme, self)
        self._list = ConversationList(theme, self)
        self._empty = Label(theme, EMPTY, "small", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(8, 12, 8, 0)
        self._settings = IconButton(theme, "settings", "Settings (Ctrl+,)", self)
        self._stack = QStackedLayout()
        self._lay_out(theme)
        self._refresh = QTimer(self)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._show)
        self._refresh.start()
        self._connect()

    def _connect(self) -> None:
        self._new.clicked.connect(self.new_requested)
        self._settings.clicked.connect(self.settings_requested)
        self._list.open_requested.connect(self.open_requested)
        self._list.delete_requested.connect(self.delete_requested)
        self._list.typed.connect(self.typed)
        self._list.conversations.rename_requested.connect(self.rename_requested)
        # A list that changed while a title was being written waits until that is done.
        self._list.itemDelegate().closeEditor.connect(lambda *_: QTimer.singleShot(0, self, self._show))

    def _lay_out(self, theme: Theme) -> None:
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 8)
        column.setSpacing(8)
        column.addWidget(self._new)
        column.addLayout(self._stack, 1)
        column.addSpacing(4)
        bottom = QHBoxLayout()
        bottom.addWidget(_Offline(theme, self), 1)
        bottom.addWidget(self._settings)
        column.addLayout(bottom)

    @property
    def list(self) -> ConversationList:
        """The rows."""
        return self._list

    @property
    def new_button(self) -> QPushButton:
        """Begins a new chat."""
        return self._new

    def show_conversations(self, conversations: Sequence[Conversation], busy: frozenset[str]) -> None:
        """Show these conversations, latest first, and in which of them an answer is being written."""
        self._shown = (conversations, busy)
        self._show()

    def mark_open(self, conversation_id: str) -> None:
        """Mark the conversation on view."""
        self._open_id = conversation_id
        self._list.mark_open(conversation_id)

    def _show(self) -> None:
        if self._list.editing:
            return
        conversations, busy = self._shown
        had = self._list.conversations.rowCount()
        self._list.conversations.show(conversations, busy)
        self._stack.setCurrentIndex(0 if conversations else 1)
        if had != self._list.conversations.rowCount() or not self._list.currentIndex().isValid():
            self._list.mark_open(self._open_id)
