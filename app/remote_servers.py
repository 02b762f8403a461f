"""The servers that the person added, kept in a file, with their keys in the keyring.

Servers are tried and keys are kept beside the window's thread, which waits for no network and for no keyring that asks
to be unlocked.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal

from app.i18n import translate
from app.said import sound
from app.server_entry import ServerEntry, Tried
from engine.atomic import write_atomically
from engine.errors import Cancelled, EngineError
from engine.keys import Keys
from engine.remote.servers import RemoteServer, check_address, new_id, read_servers, servers_json

_CLOSE_S: Final = 1.0


class RemoteServers(QObject):
    """Loquat asks no server before one of these was added, and then only the one whose model was chosen.

    Args:
        path: The file.
        keys: As the engine's worker takes them.

    Attributes:
        trouble: One sentence if the file could not be read; it is not written over then.
    """

    changed = Signal(object)  # tuple of RemoteServer
    saved = Signal(object, bool)  # RemoteServer, whether it is new; its key is kept by now
    tried = Signal(object)  # Tried, of the latest entry that was tried
    told = Signal(str, str)  # sentence, detail
    _done = Signal(object)  # what is to be called in the window's thread

    def __init__(self, path: Path, keys: Keys, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._keys = keys
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._latest: object = None  # the try whose outcome is wanted
        self._thread: threading.Thread | None = None
        self.trouble = ""
        self._servers: tuple[RemoteServer, ...] = ()
        try:
            self._servers = read_servers(path)
        except EngineError as error:
            self.trouble = error.sentence
        self._done.connect(lambda call: call(), Qt.ConnectionType.QueuedConnection)

    @property
    def servers(self) -> tuple[RemoteServer, ...]:
        """All, in the order in which they were added."""
        return self._servers

    def get(self, server_id: str) -> RemoteServer | None:
        """One of them."""
        return next((server for server in self._servers if server.id == server_id), None)

    def try_out(self, entry: ServerEntry) -> None:
        """Ask a server for its models: `tried`, unless another one is tried meanwhile."""
        mark = self._latest = object()
        self._do(lambda: self._try(entry, mark))

    def give_up(self) -> None:
        """Want no outcome of a try any more."""
        self._latest = None

    def save(self, entry: ServerEntry) -> bool:
        """Add or change a server; whether it was done, `told` says why not."""
        try:
            address = check_address(entry.address)
        except EngineError as error:
            self.told.emit(error.sentence, error.detail)
            return False
        known = self.get(entry.id)
        chosen = entry.id if known else new_id(entry.name, (server.id for server in self._servers))
        server = RemoteServer(chosen, " ".join(sound(entry.name).split()) or chosen, address, entry.models)
        others = [server if each.id == chosen else each for each in self._servers]
        if not self._write((*others, *(() if known else (server,)))):
            return False
        self._do(lambda: self._keep(server, entry.key, known is None))
        return True

    def remove(self, server_id: str) -> bool:
        """Forget a server and its key; whether it was done."""
        if not self._write(tuple(server for server in self._servers if server.id != server_id)):
            return False
        self._do(lambda: self._keys.drop(server_id))
        self.changed.emit(self._servers)
        return True

    def close(self) -> None:
        """Begin nothing any more; a keyring that asks the person something is not waited for."""
        self._latest = None
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join(_CLOSE_S)

    def _write(self, servers: tuple[RemoteServer, ...]) -> bool:
        if self.trouble:
            self.told.emit(self.trouble, "")
            return False
        try:
            write_atomically(self._path, servers_json(servers))
        except OSError as error:
            said = translate(
                "remote_servers", "The list of servers in {file} cannot be written. Is there room on the disk?"
            )
            self.told.emit(said.format(file=self._path), repr(error))
            return False
        self._servers = servers
        return True

    # -- beside the window's thread ----------------------------------------------------------------------------

    def _do(self, job: Callable[[], None]) -> None:
        if self._thread is None or not self._thread.is_alive():  # a fault, which was reported, may have ended it
            self._thread = threading.Thread(target=self._run, name="servers", daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def _try(self, entry: ServerEntry, mark: object) -> None:
        from engine.remote.probe import probe  # noqa: PLC0415 - asyncio would hold up every start

        try:
            server = RemoteServer(entry.id, entry.name or entry.address, check_address(entry.address))
            key = self._keys.get(entry.id) if entry.key is None and entry.id else entry.key or ""
            found = Tried(probe(server, key, lambda: self._latest is not mark))
        except Cancelled:
            return
        except EngineError as error:
            found = Tried(None, error.sentence, error.detail)
        self._done.emit(lambda: self._tell(found, mark))

    def _tell(self, found: Tried, mark: object) -> None:
        if self._latest is mark:
            self.tried.emit(found)

    def _keep(self, server: RemoteServer, key: str | None, new: bool) -> None:
        warning = "" if key is None else self._keys.keep(server.id, key)
        self._done.emit(lambda: self._kept(server, warning, new))

    def _kept(self, server: RemoteServer, warning: str, new: bool) -> None:
        if warning:
            self.told.emit(warning, "")
        self.changed.emit(self._servers)
        self.saved.emit(server, new)
