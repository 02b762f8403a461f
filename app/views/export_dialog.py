"""Exporting chats: which, in what form, and where to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.transfer.result import TransferResult
from app.transfer.words import export_sentence
from app.views import words
from app.views.dialogs import make_button
from app.views.transfer_dialog import OptionCard, TransferDialog

Scope = Literal["chat", "all"]
Format = Literal["markdown", "json"]
_UNSAFE: Final = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_NAME_LENGTH: Final = 60


class ExportDialog(TransferDialog):
    """Asks what and how, then the system's own dialog asks where to.

    Args:
        title: Of the chat that can be exported alone; None where there is none.
        count: How many chats there are in all.
        scope: What is chosen at first.
        folder: Where the dialog that asks where to begins.
    """

    # Scope, Format, path: a file, or for Markdown of all chats a folder that is there
    export_requested = Signal(str, str, str)
    reveal_requested = Signal(str)  # the path that was written

    def __init__(
        self,
        theme: Theme,
        title: str | None,
        count: int,
        parent: QWidget | None = None,
        *,
        scope: Scope = "chat",
        folder: Path | None = None,
    ) -> None:
        heading = translate("export_dialog", "Export chats")
        sentence = translate("export_dialog", "The files are written to this machine and go nowhere else.")
        super().__init__(theme, heading, sentence, translate("export_dialog", "Export…"), parent)
        self._title = title or ""
        self._folder = folder or Path.home()
        self._written = ""
        one = translate("export_dialog", "This chat")
        self.chat_card = OptionCard(theme, one, title or translate("export_dialog", "It is empty."), self)
        every = translate("export_dialog", "All chats")
        self.all_card = OptionCard(theme, every, _chats(count), self)
        self.markdown_card = OptionCard(
            theme, "Markdown", translate("export_dialog", "To read, print or publish: what is on view, as text."), self
        )
        self.json_card = OptionCard(
            theme, "JSON", translate("export_dialog", "Complete, with all versions. Loquat can import it again."), self
        )
        self.chat_card.setEnabled(title is not None)
        self.all_card.setEnabled(count > 0)
        self._lay_out()
        (self.chat_card if scope == "chat" and title is not None else self.all_card).setChecked(True)
        self.markdown_card.setChecked(True)
        self.action_button.setEnabled(title is not None or count > 0)
        self.action_button.clicked.connect(self._ask_where)
        self.reveal_button = make_button(theme, translate("export_dialog", "Show in the folder"), self)
        self.reveal_button.clicked.connect(lambda: self.reveal_requested.emit(self._written))
        self._buttons.insertWidget(0, self.reveal_button)
        self.reveal_button.hide()

    @property
    def scope(self) -> Scope:
        """Which chats are chosen."""
        return "chat" if self.chat_card.isChecked() else "all"

    @property
    def format(self) -> Format:
        """The form that is chosen."""
        return "markdown" if self.markdown_card.isChecked() else "json"

    def show_progress(self, done: int, total: int) -> None:
        """Say how many chats have been written."""
        text = translate("export_dialog", "{done} of {total} chats are written.")
        share = done / total if total else None
        self.reveal_button.hide()
        self._work(text.format(done=words.count(done), total=words.count(total)), share)

    def show_result(self, result: TransferResult) -> None:
        """Say how many chats were written, and where they are; or why none were."""
        if result.problem or result.cancelled:
            self.show_failure(export_sentence(result))
            return
        self._written = str(result.path)
        self.reveal_button.show()
        self._end(export_sentence(result))

    def show_failure(self, sentence: str) -> None:
        """Say why nothing was written; it can be tried once more."""
        self.reveal_button.hide()
        super().show_failure(sentence)

    def _ask_where(self) -> None:
        many_files = self.scope == "all" and self.format == "markdown"
        dialog = QFileDialog(self, translate("export_dialog", "Export to"), str(self._folder))
        if many_files:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        else:
            suffix = "md" if self.format == "markdown" else "json"
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(suffix)
            dialog.setNameFilter(f"{'Markdown' if suffix == 'md' else 'JSON'} (*.{suffix})")
            dialog.selectFile(f"{self._name()}.{suffix}")
        dialog.fileSelected.connect(self._begin)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _begin(self, path: str) -> None:
        self._folder = Path(path).parent
        self._work(translate("export_dialog", "Begins to write."), None)
        self.export_requested.emit(self.scope, self.format, path)

    def _name(self) -> str:
        """A name for the file that every system takes."""
        if self.scope == "all":
            return translate("export_dialog", "Loquat chats")
        name = _UNSAFE.sub(" ", self._title)
        return " ".join(name.split())[:_NAME_LENGTH].strip(" .") or translate("export_dialog", "Chat")

    def _lay_out(self) -> None:
        column = QVBoxLayout(self.choice)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for cards in ((self.chat_card, self.all_card), (self.markdown_card, self.json_card)):
            group = QButtonGroup(self)
            row = QHBoxLayout()
            row.setSpacing(12)
            for card in cards:
                group.addButton(card)
                row.addWidget(card, 1)
            column.addLayout(row)


def _chats(count: int) -> str:
    if count == 1:
        return translate("export_dialog", "1 chat")
    return translate("export_dialog", "{count} chats").format(count=words.count(count))
