"""Importing chats: a file is chosen or dropped, then what was read of it is said, what was left out, and why."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QFileInfo, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from app.i18n import labelled, translate
from app.theme import Theme
from app.transfer.result import TransferResult
from app.transfer.words import import_sentence
from app.views import words
from app.views.progress_card import progress
from app.views.transfer_dialog import OptionCard, TransferDialog


class ImportDialog(TransferDialog):
    """Choose, read. The file is never changed, and until all of it is read, neither are the chats."""

    import_requested = Signal(str)  # read this file

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
        choose = translate("import_dialog", "Choose a file…")
        drop = translate("import_dialog", "Or drop it here. Chats that are here already are kept as they are.")
        self.file_card = OptionCard(theme, choose, drop, self)
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
        file = QFileInfo(path)
        self._path = path
        self.file_card.show_words(file.fileName(), words.size(file.size()))
        self.action_button.setEnabled(True)
        self.action_button.setFocus()
        self.clear_state()

    def show_progress(self, done: int, total: int) -> None:
        """Say how many bytes have been read."""
        share = done / total if total else None
        how_far = progress(done, total, self._pace.rate(done)) if total else words.size(done)
        text = translate("import_dialog", "Reads {name}: {progress}")
        self._work(text.format(name=QFileInfo(self._path).fileName(), progress=how_far), share)

    def show_result(self, result: TransferResult) -> None:
        """Say how many chats were read, and what was not, and why; or why the file could not be read at all."""
        if result.problem:
            self.show_failure(result.problem)
            return
        lines = [labelled(each.title, each.reason) for each in result.skipped]
        others = result.skipped_count - len(lines)
        if others > 0:
            lines.append(translate("import_dialog", "And others: {count}").format(count=words.count(others)))
        self._end(import_sentence(result), "\n".join(lines))

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

    def _ask_which(self) -> None:
        dialog = QFileDialog(self, translate("import_dialog", "Import from"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([translate("import_dialog", "Exports") + " (*.json *.zip)", "(*)"])
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _dropped(event: QDropEvent) -> str:
    """The one local file that is being dropped; empty if it is anything else."""
    urls = event.mimeData().urls()
    return urls[0].toLocalFile() if len(urls) == 1 and urls[0].isLocalFile() else ""
