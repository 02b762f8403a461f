"""One window per data folder: a second start hands its arguments to the first and ends."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLockFile, QObject, Qt, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

log = logging.getLogger(__name__)

CONNECT_MS: Final = 500
ANSWER_MS: Final = 2000
PATIENCE_S: Final = 3.0
MAX_MESSAGE: Final = 65_536
ACTIVATION: Final = "XDG_ACTIVATION_TOKEN"  # Wayland lets no window raise itself without one
_TAKEN: Final = b"ok\n"


class SingleInstance(QObject):
    """A lock file that says who is first, and a local socket on which the first one listens.

    Args:
        folder: The data folder; one instance for each.
    """

    activated = Signal(list)  # arguments of a later start

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = QLockFile(str(folder / "loquat.lock"))
        self._lock.setStaleLockTime(0)  # a lock is stale when its process is gone, never because it is old
        self._name = "loquat-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self._callers: list[QLocalSocket] = []
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)

    def claim(self) -> bool:
        """Become the first instance and listen; False if another one is.

        Raises:
            OSError: The lock cannot be written, so that nobody can tell.
        """
        if not self._lock.tryLock(0) and not self._inherit():
            if self._lock.error() != QLockFile.LockError.LockFailedError:
                raise _why_not(Path(self._lock.fileName()).parent)
            return False
        QLocalServer.removeServer(self._name)  # left over by a killed program
        if not self._server.listen(self._name):
            log.warning("a second start will not find this one: %s", self._server.errorString())
        return True

    def _inherit(self) -> bool:
        """Take over a lock that no process holds, left on a stick or in a backup by a machine that was switched off.

        Qt trusts what is written in it, which only its own machine can judge; the system's lock on the file knows.
        """
        failed = self._lock.error() == QLockFile.LockError.LockFailedError
        return failed and self._lock.removeStaleLockFile() and self._lock.tryLock(0)

    def hand_over(self, arguments: Sequence[str]) -> bool:
        """Send the arguments to the first instance; whether it took them. One that just starts is waited for."""
        deadline = time.monotonic() + PATIENCE_S
        message = {"arguments": list(arguments), "token": os.environ.get(ACTIVATION, "")}
        while not _send(self._name, json.dumps(message).encode()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def release(self) -> None:
        """Stop listening and let another start be the first."""
        self._server.close()
        for caller in self._callers:
            caller.abort()
        self._sweep()
        self._lock.unlock()

    def _accept(self) -> None:
        while (caller := self._server.nextPendingConnection()) is not None:
            self._callers.append(caller)
            caller.readyRead.connect(self._read_all)
            caller.disconnected.connect(self._sweep, Qt.ConnectionType.QueuedConnection)
        self._read_all()  # what came before anyone listened

    def _sweep(self) -> None:
        """Let go of those who hung up."""
        gone = [c for c in self._callers if c.state() == QLocalSocket.LocalSocketState.UnconnectedState]
        self._callers = [caller for caller in self._callers if caller not in gone]
        for caller in gone:
            caller.deleteLater()

    def _read_all(self) -> None:
        for caller in tuple(self._callers):
            self._read(caller)

    def _read(self, connection: QLocalSocket) -> None:
        if connection.bytesAvailable() > MAX_MESSAGE:
            connection.abort()
        if not connection.canReadLine():
            return
        message = _message(bytes(connection.readLine().data()))
        if message is None:
            connection.abort()
            return
        arguments, token = message
        if token:
            os.environ[ACTIVATION] = token  # Qt takes it for the next window that asks to come to the front
        connection.write(_TAKEN)
        connection.flush()
        self.activated.emit(arguments)


def _why_not(folder: Path) -> OSError:
    """The system's own reason why a file cannot be written; Qt's lock does not tell it."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"loquat")
    except OSError as error:
        return error
    return OSError(errno.EIO, os.strerror(errno.EIO))


def _message(line: bytes) -> tuple[list[str], str] | None:
    """The arguments of a later start, and the token with which its desktop lets a window come to the front."""
    try:
        value = json.loads(line)
        arguments, token = value["arguments"], value["token"]
    except (ValueError, TypeError, KeyError):
        return None
    texts = [*arguments, token] if isinstance(arguments, list) else [None]
    return (arguments, token) if all(isinstance(item, str) for item in texts) else None


def _send(name: str, message: bytes) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(CONNECT_MS):
        return False
    socket.write(message + b"\n")
    answered = socket.waitForReadyRead(ANSWER_MS) and bytes(socket.readLine().data()) == _TAKEN
    socket.disconnectFromServer()
    return answered
