"""What can be done with a row of the conversation list: the wishes that go out, and the menus that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.i18n import translate
from app.records import Conversation, Folder
from app.theme import Theme
from app.views.controls import Menu, unmarked


class Wishes(QObject):
    """What the person wants done with conversations and folders. Shared by the list, its keys and its menus."""

    open_requested = Signal(str)
    delete_requested = Signal(str)
    pin_requested = Signal(str, bool)
    archive_requested = Signal(str, bool)
    move_requested = Signal(str, str)  # conversation, folder or ""
    export_requested = Signal(str)
    folder_wanted = Signal(str)  # a new one, for this conversation or ""
    folder_deleted = Signal(str)
    archive_opened = Signal()


class RowMenu(Menu):
    """A menu over one row.

    Args:
        rename: Begins to edit the row's text in place.
    """

    def __init__(self, theme: Theme, wishes: Wishes, rename: Callable[[], None], parent: QObject) -> None:
        super().__init__(theme, parent)  # type: ignore[arg-type]
        self._wishes = wishes
        self._rename = rename

    def fill_for(self, conversation: Conversation, folders: Sequence[Folder]) -> None:
        """Offer what can be done with a conversation of the list."""
        wishes, key = self._wishes, conversation.id
        pin = translate("conversation_menu", "Unpin") if conversation.pinned else translate("conversation_menu", "Pin")
        self._add(translate("conversation_menu", "Open"), partial(wishes.open_requested.emit, key), "Enter")
        self._add(translate("conversation_menu", "Rename"), self._rename, "F2")
        self._add(pin, partial(wishes.pin_requested.emit, key, not conversation.pinned))
        self._add_folders(conversation, folders)
        self.addSeparator()
        self._add(translate("conversation_menu", "Export…"), partial(wishes.export_requested.emit, key))
        archive = partial(wishes.archive_requested.emit, key, True)
        self._add(translate("conversation_menu", "Archive"), archive)
        self._add(translate("conversation_menu", "Delete"), partial(wishes.delete_requested.emit, key), "Del")

    def fill_for_archived(self, conversation: Conversation) -> None:
        """Offer what can be done with a conversation of the archive."""
        wishes, key = self._wishes, conversation.id
        self._add(translate("conversation_menu", "Open"), partial(wishes.open_requested.emit, key), "Enter")
        back = partial(wishes.archive_requested.emit, key, False)
        self._add(translate("conversation_menu", "Put back into the list"), back)
        self._add(translate("conversation_menu", "Export…"), partial(wishes.export_requested.emit, key))
        self._add(translate("conversation_menu", "Delete"), partial(wishes.delete_requested.emit, key), "Del")

    def fill_for_folder(self, folder: Folder, folded: bool, turn: Callable[[], None]) -> None:
        """Offer what can be done with a folder; `turn` folds or unfolds it."""
        words = translate("conversation_menu", "Unfold") if folded else translate("conversation_menu", "Fold")
        delete = partial(self._wishes.folder_deleted.emit, folder.id)
        self._add(words, turn, "Enter")
        self._add(translate("conversation_menu", "Rename"), self._rename, "F2")
        self.add_new_folder("")
        self.addSeparator()
        self._add(translate("conversation_menu", "Delete the folder, keep its chats"), delete, "Del")

    def add_new_folder(self, conversation_id: str, menu: Menu | None = None) -> None:
        """Offer a new folder, for this conversation or for none."""
        action = (menu or self).addAction(translate("conversation_menu", "New folder…"))
        action.triggered.connect(lambda: self._wishes.folder_wanted.emit(conversation_id))

    def _add_folders(self, conversation: Conversation, folders: Sequence[Folder]) -> None:
        menu = self.add_submenu(translate("conversation_menu", "Move to folder"))
        for folder in sorted(folders, key=lambda each: each.name.casefold()):
            action = menu.addAction(unmarked(folder.name))
            action.setCheckable(True)
            action.setChecked(folder.id == conversation.folder_id)
            action.triggered.connect(partial(self._wishes.move_requested.emit, conversation.id, folder.id))
        if folders:
            menu.addSeparator()
        self.add_new_folder(conversation.id, menu)
        if conversation.folder_id is not None:
            action = menu.addAction(translate("conversation_menu", "Out of the folder"))
            action.triggered.connect(partial(self._wishes.move_requested.emit, conversation.id, ""))

    def _add(self, words: str, do: Callable[[], None], key: str = "") -> None:
        action = self.addAction(f"{words}\t{key}" if key else words)
        action.triggered.connect(lambda _checked: do())
