"""The list of conversations as a widget: keys, menus, dragging, folding. Fast with ten thousand rows."""

from __future__ import annotations

from datetime import date
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QDrag, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.theme import Theme
from app.views.controls import is_typing
from app.views.conversation_delegate import ConversationDelegate
from app.views.conversation_menu import RowMenu, Wishes
from app.views.conversation_model import ConversationModel
from app.views.conversation_rows import Listing, Row, dated_rows, rows_of
from app.views.row_list import RowList

_BESIDE_POINTER: Final = QPoint(-14, -10)  # what is carried does not cover what it would be dropped on
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ConversationList(RowList):
    """The rows. Enter and click open, F2 and double click rename, Delete deletes, the Menu key opens the menu.

    Args:
        archive: Show archived conversations, by time alone; they are neither renamed nor dragged.
    """

    folded = Signal(object)  # frozenset of ids of the folders that are folded now
    typed = Signal(str)

    def __init__(self, theme: Theme, name: str, parent: QWidget, archive: bool = False) -> None:
        super().__init__(name, parent)
        self._theme = theme
        self._archive = archive
        self._listing = Listing()
        self._shown = (self._listing, date.min)  # and the day on which its spans of time were told apart
        self.wishes = Wishes(self)
        self._model = ConversationModel(self)
        self._delegate = ConversationDelegate(theme, self._model, self)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(True)
        if not archive:
            self._let_change()
        self.clicked.connect(self._open)
        self._model.dropped.connect(self._dropped)

    def _let_change(self) -> None:
        """Let titles be written and rows be dragged."""
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDragDropOverwriteMode(True)  # things are dropped onto rows, never between them
        self.setDropIndicatorShown(False)  # the row itself shows it

    @property
    def conversations(self) -> ConversationModel:
        """The model."""
        return self._model

    @property
    def editing(self) -> bool:
        """Whether a title is being written."""
        return self.state() == QAbstractItemView.State.EditingState

    @property
    def listing(self) -> Listing:
        """What is shown."""
        return self._listing

    def show_listing(self, listing: Listing) -> None:
        """Show this; the row under the keyboard and the place scrolled to stay."""
        now = self._model.now
        shown = (listing, date.fromtimestamp(now))
        if shown != self._shown:
            self._listing, self._shown = shown[0], shown
            self._show_rows(now)
        self.viewport().update()  # times have gone on

    def _show_rows(self, now: float) -> None:
        listing = self._listing
        rows = dated_rows(listing.conversations, listing.busy, now) if self._archive else rows_of(listing, now)
        current, place = self._key(self.currentIndex()), self.verticalScrollBar().value()
        if self._model.show(rows):
            self._set_current(self._model.index_of(current))
            self.executeDelayedItemsLayout()
            self.verticalScrollBar().setValue(place)

    def mark_open(self, conversation_id: str) -> None:
        """Mark the conversation on view, and bring it into view if it was another one before."""
        before, self._delegate.open_id = self._delegate.open_id, conversation_id
        index = self._model.index_of(conversation_id)
        if conversation_id != before or not self.currentIndex().isValid():
            self._set_current(index)
        if index.isValid() and conversation_id != before:
            self.scrollTo(index.siblingAtRow(max(0, index.row() - 1)))  # a heading above it comes into view too
            self.scrollTo(index)
        self.viewport().update()

    def focus_first(self) -> None:
        """Put the keyboard on the list, on its first row that can be opened if it is on none."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self.currentIndex().isValid():
            self._set_current(self.moveCursor(self.CursorAction.MoveHome, Qt.KeyboardModifier.NoModifier))

    # -- keys and mouse --------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if self.editing:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self.show_menu(index, self.visualRect(index).center())
        elif key == Qt.Key.Key_Delete:
            self._delete(index)
        elif key in _ENTER:
            self._open(index)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Space) and self._fold_by_key(index, Qt.Key(key)):
            event.accept()
        elif is_typing(event):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        self.show_menu(index, self.visualRect(index).center() if by_key else event.pos())
        event.accept()

    def show_menu(self, index: QModelIndex, point: QPoint) -> None:
        """Open the menu of a row at a point of the viewport; beside the rows, only a new folder is offered."""
        row = self._model.row(index) if index.isValid() else None
        key = self._key(index)  # rows may move while the menu is open
        menu = RowMenu(self._theme, self.wishes, lambda: self.edit(self._model.index_of(key)), self)
        if row is not None and row.conversation is not None:
            if self._archive:
                menu.fill_for_archived(row.conversation)
            else:
                menu.fill_for(row.conversation, self._listing.folders)
        elif row is not None and row.kind == "folder" and row.folder is not None:
            folder = row.folder
            menu.fill_for_folder(folder, row.folded, lambda: self.fold(folder.id, not row.folded))
        elif not self._archive:
            menu.add_new_folder("")
        if menu.actions():
            menu.popup(self.viewport().mapToGlobal(point))
        else:
            menu.deleteLater()

    def fold(self, folder_id: str, folded: bool) -> None:
        """Hide a folder's conversations, or show them."""
        if folded != (folder_id in self._listing.folded):
            self.folded.emit(self._listing.folded ^ {folder_id})

    def _open(self, index: QModelIndex) -> None:
        row = self._model.row(index) if index.isValid() else None
        if row is None:
            return
        if row.conversation is not None:
            self.wishes.open_requested.emit(row.key)
        elif row.kind == "folder":
            self.fold(row.key, not row.folded)
        elif row.kind == "archive":
            self.wishes.archive_opened.emit()

    def _delete(self, index: QModelIndex) -> None:
        row = self._model.row(index) if index.isValid() else None
        if row is not None and row.conversation is not None:
            self.wishes.delete_requested.emit(row.key)
        elif row is not None and row.kind == "folder":
            self.wishes.folder_deleted.emit(row.key)

    def _fold_by_key(self, index: QModelIndex, key: Qt.Key) -> bool:
        """Left folds and goes up to the folder, Right unfolds, Space does either."""
        row = self._model.row(index) if index.isValid() else None
        if row is None or row.folder is None:
            return False
        if row.kind == "folder":
            self.fold(row.key, not row.folded if key == Qt.Key.Key_Space else key == Qt.Key.Key_Left)
        elif key == Qt.Key.Key_Left:
            self.setCurrentIndex(self._model.index_of(row.folder.id))
        else:
            return False
        return True

    # -- dragging --------------------------------------------------------------------------------------------------

    def startDrag(self, supportedActions: Qt.DropAction) -> None:
        index = self.currentIndex()
        if not index.isValid() or self._model.row(index).conversation is None:
            return
        drag = QDrag(self)
        drag.setMimeData(self._model.mimeData([index]))
        drag.setPixmap(self.viewport().grab(self.visualRect(index)))
        drag.setHotSpot(_BESIDE_POINTER)
        drag.exec(Qt.DropAction.MoveAction)
        self._show_target("")

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = self._model.row(index) if index.isValid() else None
        folder = row.folder.id if row is not None and row.folder is not None else ""
        self._show_target(row.key if row is not None and row.kind in ("pinned", "archive") else folder)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._show_target("")

    def dropEvent(self, event: QDropEvent) -> None:
        self._show_target("")
        super().dropEvent(event)

    def _show_target(self, key: str) -> None:
        if key != self._delegate.drop_key:
            self._delegate.drop_key = key
            self.viewport().update()

    def _dropped(self, conversation_id: str, target: Row | None) -> None:
        """Move to where it was dropped: a folder, the pinned ones, the archive, or the list by time."""
        source = self._model.index_of(conversation_id)
        moved = self._model.row(source).conversation if source.isValid() else None
        if moved is None or (target is not None and target.key == conversation_id):
            return
        if target is not None and target.kind == "archive":
            self.wishes.archive_requested.emit(conversation_id, True)
            return
        pin = target is not None and (
            target.kind == "pinned" or (target.conversation is not None and target.conversation.pinned)
        )
        if pin != moved.pinned:
            self.wishes.pin_requested.emit(conversation_id, pin)
        folder = target.folder.id if target is not None and target.folder is not None else ""
        if not pin and folder != (moved.folder_id or ""):
            self.wishes.move_requested.emit(conversation_id, folder)

    def _key(self, index: QModelIndex) -> str:
        return self._model.row(index).key if index.isValid() else ""

    def _set_current(self, index: QModelIndex) -> None:
        """Put the keyboard's row here without scrolling there."""
        self.setAutoScroll(False)
        self.setCurrentIndex(index)
        if not index.isValid():
            self.clearSelection()
        self.setAutoScroll(True)
