"""Servers: added, changed and removed through a dialog, their models offered beside those of this machine."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from app.chats import Chats
from app.live import Notice
from app.remote_servers import RemoteServers
from app.server_entry import ServerEntry, Tried
from app.theme import Theme
from app.views.main_window import MainWindow
from app.views.server_dialog import ServerDialog
from engine.remote.servers import RemoteServer, find_model


class Connecting(QObject):
    """Opens at most one dialog. A new server's model is chosen at once, and what is asked goes there from then on.

    Args:
        window: Has the menu of models, and shows notices.
        chats: Loads models.
        servers: Stays when the window is made anew.
    """

    def __init__(
        self, window: MainWindow, chats: Chats, servers: RemoteServers, *, theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._servers = servers
        self._theme = theme
        self._dialog: ServerDialog | None = None
        window.header.server_requested.connect(self.show_dialog)
        servers.changed.connect(self._changed)
        servers.saved.connect(self._saved)
        servers.tried.connect(self._tried)
        servers.told.connect(self._told)
        window.header.show_servers(servers.servers)

    def show_dialog(self, server_id: str = "") -> None:
        """Open the dialog for a server, or for a new one."""
        if self._dialog is not None:
            return
        dialog = ServerDialog(self._theme, self._servers.get(server_id), self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.try_requested.connect(self._servers.try_out)
        dialog.save_requested.connect(self._save)
        dialog.remove_requested.connect(self._remove)
        dialog.finished.connect(self._closed)
        self._dialog = dialog
        dialog.open()

    @property
    def dialog(self) -> ServerDialog | None:
        """The dialog that is open."""
        return self._dialog

    def _save(self, entry: ServerEntry) -> None:
        if self._servers.save(entry) and self._dialog is not None:
            self._dialog.accept()

    def _remove(self, server_id: str) -> None:
        """Forget a server; where one of its models was chosen, the default model of this machine is."""
        removed = self._servers.get(server_id)
        if not self._servers.remove(server_id) or removed is None:
            return
        if self._dialog is not None:
            self._dialog.accept()
        if self._in_use(removed):
            self._chats.load_model(None)

    def _changed(self, servers: tuple[RemoteServer, ...]) -> None:
        self._window.header.show_servers(servers)
        self._chats.models.refresh()

    def _saved(self, server: RemoteServer, new: bool) -> None:
        """Choose a new server's first model; load the one in use afresh, for its address or key may be another."""
        info = self._chats.model.info
        if new and server.models:
            self._chats.load_model(server.name_of(server.models[0]))
        elif not new and info is not None and self._in_use(server):
            self._chats.load_model(info.name)

    def _in_use(self, server: RemoteServer) -> bool:
        info = self._chats.model.info
        return info is not None and find_model((server,), info.name) is not None

    def _tried(self, tried: Tried) -> None:
        if self._dialog is not None:
            self._dialog.show_tried(tried)

    def _told(self, sentence: str, detail: str) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_refusal(sentence)
        else:
            self._window.notices.show_notice(Notice(sentence, detail))

    def _closed(self) -> None:
        self._dialog = None
        self._servers.give_up()
