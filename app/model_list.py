"""Which models are on this machine, as the worker last said: the disk is never read in the window's thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from engine.chat import RequestHandle
from engine.events import Event, Failed, InstalledModel, ModelsListed, Unloaded


class ModelList(QObject):
    """Asks for the list, and passes on what the person wants to change in it."""

    changed = Signal(object)  # tuple of InstalledModel
    failed = Signal(str, str)  # sentence, detail

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._asked: set[str] = set()
        self._models: tuple[InstalledModel, ...] = ()

    @property
    def models(self) -> tuple[InstalledModel, ...]:
        """All models, by name."""
        return self._models

    def refresh(self) -> None:
        """Ask for the list."""
        self._expect(self._bridge.list_models())

    def set_default(self, name: str) -> None:
        """Load this model at the start from now on."""
        self._expect(self._bridge.set_default_model(name))

    def rename(self, name: str, label: str) -> None:
        """Call a model something else for people."""
        self._expect(self._bridge.rename_model(name, label))

    def remove(self, name: str) -> None:
        """Delete a model from the disk."""
        self._expect(self._bridge.remove_model(name))

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if event.request_id not in self._asked or isinstance(event, Unloaded):
            return
        self._asked.discard(event.request_id)
        if isinstance(event, ModelsListed):
            self._models = event.models
            self.changed.emit(event.models)
        elif isinstance(event, Failed):
            self.failed.emit(event.error.sentence, event.error.detail)

    def _expect(self, handle: RequestHandle) -> None:
        self._asked.add(handle.id)
