"""Exporting and importing chats: the dialogs over the window, and the job that does the work behind them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.chats import Chats
from app.records import Conversation
from app.store import Store
from app.theme import Theme
from app.transfer.exporting import export_job
from app.transfer.importing import import_job
from app.transfer.job import TransferJob
from app.transfer.markdown import document
from app.transfer.result import TransferResult
from app.views.export_dialog import ExportDialog, Scope
from app.views.import_dialog import ImportDialog
from app.views.main_window import MainWindow


class Transfers(QObject):
    """One dialog at a time; closing it gives up what it began, which may go on for a moment to leave nothing behind."""

    def __init__(self, window: MainWindow, chats: Chats, store: Store, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._store = store
        self._theme = theme
        self._dialog: ExportDialog | ImportDialog | None = None
        self._exported: Conversation | None = None
        self._job: TransferJob | None = None  # of the dialog
        self._jobs: list[TransferJob] = []  # all that have not ended
        window.sidebar.export_requested.connect(self.export_chat)
        window.header.export_requested.connect(self.export_current)
        window.header.export_all_requested.connect(self.export_all)
        window.header.import_requested.connect(self.import_chats)
        window.header.copy_requested.connect(self.copy_current)

    def export_current(self) -> None:
        """Ask where to and in what form the chat on view is exported."""
        self.export_chat(self._current_id)

    def export_chat(self, conversation_id: str, scope: Scope = "chat") -> None:
        """Ask where to and in what form a chat is exported, or all; `scope` is chosen at first, "" offers all alone."""
        everything = (*self._chats.conversations(), *self._chats.archived())
        self._exported = next((chat for chat in everything if chat.id == conversation_id), None)
        title = None if self._exported is None else self._exported.title
        dialog = ExportDialog(self._theme, title, len(everything), self._window, scope=scope)
        dialog.export_requested.connect(self._export)
        dialog.reveal_requested.connect(_reveal)
        self._open(dialog)

    def export_all(self) -> None:
        """Ask where to and in what form all chats are exported."""
        self.export_chat(self._current_id, "all")

    def import_chats(self, path: str = "") -> None:
        """Ask for a file of chats, and read it."""
        dialog = ImportDialog(self._theme, self._window)
        dialog.import_requested.connect(self._import)
        if path:
            dialog.choose(path)
        self._open(dialog)

    def copy_current(self) -> None:
        """Copy the chat on view as one Markdown document."""
        session = self._chats.current
        if session is not None and session.messages():
            QGuiApplication.clipboard().setText(document(session.conversation, list(session.messages())))

    def close(self) -> None:
        """Give up what goes on; nothing is left half done. Before the store is closed."""
        for job in self._jobs:
            job.close()

    @property
    def _current_id(self) -> str:
        session = self._chats.current
        return session.conversation.id if session is not None and session.stored else ""

    def _open(self, dialog: ExportDialog | ImportDialog) -> None:
        self._dialog = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.cancel_requested.connect(self._cancel)
        dialog.finished.connect(self._closed)
        dialog.open()

    def _export(self, scope: str, kind: str, path: str) -> None:
        ids = [self._exported.id] if scope == "chat" and self._exported is not None else None
        self._run(export_job(self._store, Path(path), kind, ids, self))  # type: ignore[arg-type]

    def _import(self, path: str) -> None:
        self._run(import_job(self._store, Path(path), self))

    def _run(self, job: TransferJob) -> None:
        self._job = job
        self._jobs.append(job)
        job.progress.connect(partial(self._progressed, job))
        job.finished.connect(partial(self._finished, job))
        job.start()

    def _progressed(self, job: TransferJob, done: int, total: int) -> None:
        if self._dialog is not None and job is self._job:
            self._dialog.show_progress(done, total)

    def _finished(self, job: TransferJob, result: TransferResult) -> None:
        if self._dialog is not None and job is self._job:
            self._dialog.show_result(result)
        if result.ids:
            self._chats.take_imported(result.ids, result.folders)
        self._jobs.remove(job)
        job.deleteLater()

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _closed(self) -> None:
        self._dialog = self._job = None


def _reveal(path: str) -> None:
    """Show what was written in the system's file manager."""
    found = Path(path)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(found if found.is_dir() else found.parent)))
