"""Which model the program begins with: that of last time, the default one or none; and what is offered without one."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.chats import Chats
from app.declarations import LAST_USED, NONE
from app.live import ModelState
from app.settings import Settings
from app.views.start_cards import Offer
from engine.events import InstalledModel
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL


class FirstModel(QObject):
    """Loads a model at the start, or the default one in place of one that was deleted; offers one where none answers.

    Args:
        chats: Load models, and know which there are.
        settings: Say which one to begin with, and keep the name of the last one that was loaded from this machine.
    """

    offered = Signal(object)  # Offer, or None when it is no longer to be shown

    def __init__(self, chats: Chats, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._settings = settings
        self._begins = False
        self._answering = ""  # the name of the model of this machine that answers
        self._lost = ""  # that of one that did, and is gone from memory: it may have been deleted
        self.offer: Offer | None = None
        chats.model_changed.connect(self._model_changed)
        chats.models.changed.connect(self._listed)

    def begin(self, name: str | None) -> None:
        """Load this model, or the one that the settings say if there are models at all."""
        if name is not None:
            self._chats.load_model(name)
            return
        self._begins = True  # what the person does until the list is there comes first
        self._chats.models.refresh()

    def close(self) -> None:
        """Remember nothing any more; before the settings are saved for the last time."""
        self._chats.model_changed.disconnect(self._model_changed)
        self._chats.models.changed.disconnect(self._listed)

    def _listed(self, models: tuple[InstalledModel, ...]) -> None:
        here = [model for model in models if not model.server]
        if self._chats.model.phase == "none":
            self._load_one(here)
        self._begins, self._lost = False, ""
        if self._chats.model.phase in ("none", "failed"):
            default = next((model for model in here if model.default), None)
            download = Offer(DEFAULT_MODEL.label, DEFAULT_MODEL.nbytes, DEFAULT_MODEL.disk)
            self._tell(download if default is None else Offer(default.label))

    def _load_one(self, here: list[InstalledModel]) -> None:
        """Load what the program begins with, or goes on with; what is not on this machine is never fetched for that."""
        names = [model.name for model in here]
        if self._lost and self._lost not in names and names:
            self._chats.load_model(None)
        elif self._begins and here and self._settings.get("load_at_start") != NONE:
            last = self._settings.get("last_model")
            known = self._settings.get("load_at_start") == LAST_USED and last in names
            self._chats.load_model(last if known else None)
        elif self._begins and not here and bundled_file(DEFAULT_MODEL) is not None:
            self._chats.load_model(None)

    def _model_changed(self, model: ModelState) -> None:
        if model.phase == "ready" and model.info is not None:
            self._answering = "" if model.info.remote else model.info.name
            if self._answering:
                self._settings.set("last_model", self._answering)
        if model.info is not None:
            self._tell(None)
        elif model.phase in ("none", "failed"):
            self._lost, self._answering = self._answering, ""
            self._chats.models.refresh()  # what could not be loaded may be a model that is not here

    def _tell(self, offer: Offer | None) -> None:
        if offer != self.offer:
            self.offer = offer
            self.offered.emit(offer)
