"""Importing chats: a file is chosen or dropped, what is in it is said, and what was read and what was not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.views import words
from app.views.progress_card import progress
from app.views.transfer_dialog import OptionCard, TransferDialog

Source = Literal["loquat", "chatgpt", "open_webui"]


class ImportDialog(TransferDialog):
    """Choose, look, read. A file is never changed."""

    file_chosen = Signal(str)  # look into this file
    import_requested = Signal(str)  # read it

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        heading = translate("import_dialog", "Import chats")
        sentence = translate(
            "import_dialog",
            "From Loquat's JSON, from ChatGPT's export (its ZIP or conversations.json), or Open WebUI's JSON.",
        )
        super().__init__(theme, heading, sentence, translate("import_dialog", "Import"), parent, clock=clock)
        self._path = ""
        self.setAcceptDrops(True)
        self.file_card = OptionCard(theme, *self._invitation(), self)
        self.file_card.setCheckable(False)
        self.file_card.clicked.connect(self._ask_which)
        column = QVBoxLayout(self.choice)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.file_card)
        self.action_button.setEnabled(False)
        self.action_button.clicked.connect(self._begin)

    @property
    def path(self) -> str:
        """The file that was chosen; empty before."""
        return self._path

    def choose(self, path: str) -> None:
        """Take this file, as if it had been chosen here."""
        self._path = path
        text = translate("import_dialog", "Looks into {name}.")
        self._work(text.format(name=Path(path).name), None)
        self.file_chosen.emit(path)

    def show_looking(self, done: int, total: int) -> None:
        """Say how many bytes have been looked through."""
        text = translate("import_dialog", "Looks into {name}: {progress}")
        self._show_bytes(text, done, total)

    def show_found(self, source: Source, chats: int, messages: int) -> None:
        """Say what is in the file, and offer to read it."""
        self._end(_found(source, chats, messages))
        self.action_button.setEnabled(chats > 0)
        self.action_button.show()
        self.action_button.setFocus()
        self.close_button.setText(translate("import_dialog", "Cancel"))
        self._fit()

    def show_progress(self, done: int, total: int) -> None:
        """Say how many bytes have been read."""
        self._show_bytes(translate("import_dialog", "Reads {name}: {progress}"), done, total)

    def show_result(self, read: int, skipped: Sequence[tuple[str, str]] = ()) -> None:
        """Say how many chats were read, and what was not, and why (what, why)."""
        sentence = _read(read)
        if skipped:
            count = words.count(len(skipped))
            sentence += " " + translate("import_dialog", "Left out: {count}.").format(count=count)
        self._end(sentence, "\n".join(f"{what}: {why}" for what, why in skipped))

    def show_failure(self, sentence: str) -> None:
        """Say why the file cannot be read; another one can be chosen."""
        super().show_failure(sentence)
        self.action_button.setEnabled(False)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not self.working and _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _dropped(event)
        if path and not self.working:
            event.acceptProposedAction()
            self.choose(path)

    def _begin(self) -> None:
        self._work(translate("import_dialog", "Begins to read."), None)
        self.import_requested.emit(self._path)

    def _show_bytes(self, text: str, done: int, total: int) -> None:
        share = done / total if total else None
        how_far = progress(done, total, self._rate(done)) if total else words.size(done)
        self._work(text.format(name=Path(self._path).name, progress=how_far), share)

    def _ask_which(self) -> None:
        dialog = QFileDialog(self, translate("import_dialog", "Import from"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([translate("import_dialog", "Exports") + " (*.json *.zip)", "(*)"])
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _invitation(self) -> tuple[str, str]:
        return (
            translate("import_dialog", "Choose a file…"),
            translate("import_dialog", "Or drop it here. Chats that are here already are kept as they are."),
        )


def _dropped(event: QDropEvent) -> str:
    """The one local file that is being dropped; empty if it is anything else."""
    urls = event.mimeData().urls()
    return urls[0].toLocalFile() if len(urls) == 1 and urls[0].isLocalFile() else ""


def _found(source: Source, chats: int, messages: int) -> str:
    names = {
        "loquat": translate("import_dialog", "An export of Loquat"),
        "chatgpt": translate("import_dialog", "An export of ChatGPT"),
        "open_webui": translate("import_dialog", "An export of Open WebUI"),
    }
    if chats == 0:
        return translate("import_dialog", "{source}, but there is no chat in it.").format(source=names[source])
    text = translate("import_dialog", "{source}. Chats: {chats}, messages: {messages}.")
    return text.format(source=names[source], chats=words.count(chats), messages=words.count(messages))


def _read(count: int) -> str:
    if count == 0:
        return translate("import_dialog", "No chat was read.")
    if count == 1:
        return translate("import_dialog", "One chat was read and stands in the list.")
    text = translate("import_dialog", "{count} chats were read and stand in the list.")
    return text.format(count=words.count(count))
