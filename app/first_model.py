"""Which model the program begins with: one that is here or came with it, or an offer to get one, never unasked."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from app.chats import Chats
from app.live import ModelState
from app.views.start_cards import Offer
from engine.models.bundled import bundled_file
from engine.models.catalogue import DEFAULT_MODEL


class FirstModel(QObject):
    """Asks once which models there are; what the person does meanwhile comes first."""

    offered = Signal(object)  # Offer, or None when it is no longer to be shown

    def __init__(self, chats: Chats, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self.offer: Offer | None = None
        chats.model_changed.connect(self._model_changed)

    def begin(self, name: str | None) -> None:
        """Load this model, or the default one if there are models at all."""
        if name is not None:
            self._chats.load_model(name)
            return
        self._ask()

    def _ask(self) -> None:
        self._chats.models.changed.connect(self._known, Qt.ConnectionType.SingleShotConnection)
        self._chats.models.refresh()

    def _known(self, models: tuple[object, ...]) -> None:
        phase = self._chats.model.phase
        if phase == "none" and (models or bundled_file(DEFAULT_MODEL) is not None):
            self._chats.load_model(None)  # what came with the program is imported first
        elif not models and phase in ("none", "failed"):
            self._tell(Offer(DEFAULT_MODEL.label, DEFAULT_MODEL.nbytes))

    def _model_changed(self, model: ModelState) -> None:
        if self.offer is not None and model.info is not None:
            self._tell(None)
        elif self.offer is None and model.phase == "failed":
            self._ask()  # what could not be loaded may be a model that is not here, on a machine that has none

    def _tell(self, offer: Offer | None) -> None:
        self.offer = offer
        self.offered.emit(offer)
