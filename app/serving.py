"""The switch that lets other programs on this machine ask the model that is loaded. Off at every start."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from app.engine_bridge import EngineBridge
from engine.server.control import ServerControl, ServerState
from engine.server.options import ServerOptions


class Serving(QObject):
    """Starts and stops the server over the window's own worker; what it came to is told in the window's thread."""

    changed = Signal(object)  # ServerState
    _told = Signal(object)  # ServerState, from the control's thread

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = ServerState()
        self._closed = False
        self._control = ServerControl(bridge.worker, self._tell)
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def start(self, port: int, key: str) -> None:
        """Answer programs on this machine from now on; returns at once."""
        self._control.start(ServerOptions(port=port, api_key=key))

    def stop(self) -> None:
        """Answer them no more; returns at once."""
        self._control.stop()

    def close(self) -> bool:
        """Answer nobody any more and wait for the server's end; before the worker is closed."""
        self._closed = True
        return self._control.close()

    def _tell(self, state: ServerState) -> None:
        if not self._closed:
            self._told.emit(state)

    def _take(self, state: ServerState) -> None:
        self.state = state
        self.changed.emit(state)
