"""Which model the program begins with: that of last time, the default one or none; or an offer to get a first one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from app.chats import Chats
from app.declarations import LAST_USED, NONE
from app.live import ModelState
from app.settings import Settings
from app.views.start_cards import Offer
from engine.events import InstalledModel
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL


class FirstModel(QObject):
    """Asks once which models there are; what the person does meanwhile comes first.

    Args:
        chats: Load models.
        settings: Say which one to begin with, and keep the name of the last one that was loaded from this machine.
    """

    offered = Signal(object)  # Offer, or None when it is no longer to be shown

    def __init__(self, chats: Chats, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._settings = settings
        self.offer: Offer | None = None
        chats.model_changed.connect(self._model_changed)

    def begin(self, name: str | None) -> None:
        """Load this model, or the one that the settings say if there are models at all."""
        if name is not None:
            self._chats.load_model(name)
            return
        self._ask()

    def close(self) -> None:
        """Remember nothing any more; before the settings are saved for the last time."""
        self._chats.model_changed.disconnect(self._model_changed)

    def _ask(self) -> None:
        self._chats.models.changed.connect(self._known, Qt.ConnectionType.SingleShotConnection)
        self._chats.models.refresh()

    def _known(self, models: tuple[InstalledModel, ...]) -> None:
        phase, choice = self._chats.model.phase, self._settings.get("load_at_start")
        if phase == "none" and choice == NONE and models:
            return
        if phase == "none" and (models or bundled_file(DEFAULT_MODEL) is not None):
            self._chats.load_model(self._last(models) if choice == LAST_USED else None)
        elif not models and phase in ("none", "failed"):
            self._tell(Offer(DEFAULT_MODEL.label, DEFAULT_MODEL.nbytes))

    def _last(self, models: tuple[InstalledModel, ...]) -> str | None:
        """The model of last time if it is still on this machine; None takes the default, or what came with Loquat."""
        name = self._settings.get("last_model")
        return name if any(model.name == name and not model.server for model in models) else None

    def _model_changed(self, model: ModelState) -> None:
        if model.phase == "ready" and model.info is not None and not model.info.remote:
            self._settings.set("last_model", model.info.name)
        if self.offer is not None and model.info is not None:
            self._tell(None)
        elif self.offer is None and model.phase == "failed":
            self._ask()  # what could not be loaded may be a model that is not here, on a machine that has none

    def _tell(self, offer: Offer | None) -> None:
        self.offer = offer
        self.offered.emit(offer)
