"""Which model is loaded, loading, or failed to: one state machine over the engine's load events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.i18n import translate
from app.live import ModelState
from engine.chat import RequestHandle
from engine.config import EngineConfig
from engine.errors import Cancelled
from engine.events import UPGRADE, Event, Failed, Loaded, LoadProgress, LoadStage, ModelInfo, Unloaded


class ModelLoader(QObject):
    """Follows the load that was asked for last; events of an earlier one are dropped.

    A load that is cancelled when the model before it was given up already loads that one again.
    """

    changed = Signal(object)  # ModelState
    ready = Signal()
    failed = Signal(object)  # EngineError; Cancelled if the person gave it up

    def __init__(self, bridge: EngineBridge, config: Callable[[], EngineConfig], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._config = config
        self._loading = config()
        self._handle: RequestHandle | None = None
        self._state = ModelState()
        self._given_up: ModelInfo | None = None  # for the load in progress
        self._latest: ModelInfo | None = None  # that was ready
        self._previous: ModelInfo | None = None  # the other one that was ready before
        self._again: Callable[[EngineConfig], RequestHandle] = partial(bridge.load, None)

    @property
    def state(self) -> ModelState:
        """Where the model stands."""
        return self._state

    @property
    def latest(self) -> ModelInfo | None:
        """The model that answers now, or did before it was given up."""
        return self._latest

    @property
    def previous(self) -> ModelInfo | None:
        """The model that answered before the one that does now; None where there was no other."""
        return self._previous

    def load(self, name: str | None) -> None:
        """Load the named model, or the default one."""
        self._start(partial(self._bridge.load, name))

    def again(self) -> None:
        """Do once more what failed."""
        self._start(self._again)

    def cancel(self) -> None:
        """Give up the load in progress; a model that was ready before stays so, or is loaded again."""
        if self._handle is not None:
            self._handle.cancel()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, Loaded) and event.request_id == UPGRADE and self._state.phase == "ready":
            self._set(replace(self._state, info=event.info))
        if isinstance(event, Unloaded):
            self._unloaded(event)
        if self._handle is None or event.request_id != self._handle.id:
            return
        match event:
            case LoadProgress():
                self._set(replace(self._state, phase="working", step=event, sentence=event.sentence))
            case Loaded():
                self._handle = self._given_up = None
                self._remember(event.info)
                self._set(ModelState("ready", event.info, config=self._loading))
                self.ready.emit()
            case Failed():
                self._handle = None
                self._fail(event)

    def _unloaded(self, event: Unloaded) -> None:
        """Know that the model of before is gone: for the load in progress, or because it was removed."""
        if self._handle is not None:
            self._given_up = self._given_up or self._state.info
        elif self._state.info is not None and self._state.info.name == event.name:
            self._set(_nothing())

    def _remember(self, info: ModelInfo) -> None:
        if self._latest is not None and self._latest.name != info.name:
            self._previous = self._latest
        self._latest = info

    def _start(self, begin: Callable[[EngineConfig], RequestHandle]) -> None:
        self.cancel()
        self._again = begin
        self._loading = self._config()
        self._handle = begin(self._loading)
        state = ModelState(
            "working",
            self._state.info,
            sentence=translate("model_loader", "Preparing the model"),
            config=self._state.config,
        )
        self._set(state)

    def _fail(self, event: Failed) -> None:
        cancelled = isinstance(event.error, Cancelled)
        given_up, self._given_up = self._given_up, None
        if cancelled and given_up is not None:
            self._set(replace(self._state, info=None))
            self.load(given_up.name)
            return
        info = None if given_up is not None else self._state.info  # it is given up when the new one begins to load
        if info:
            self._set(ModelState("ready", info, config=self._state.config))
            self.ready.emit()
        elif cancelled or self._fetching:
            self._set(_nothing())
        else:
            self._set(ModelState("failed", sentence=event.error.sentence))
        self.failed.emit(event.error)

    @property
    def _fetching(self) -> bool:
        """Whether a model is being downloaded: what does not come of it is no reason to do so once more unasked."""
        return self._state.step is not None and self._state.step.stage in (LoadStage.DOWNLOAD, LoadStage.VERIFY)

    def _set(self, state: ModelState) -> None:
        self._state = state
        self.changed.emit(state)


def _nothing() -> ModelState:
    return ModelState("none", sentence=translate("model_loader", "No model is loaded."))
