"""Which model is loaded, loading, or failed to: one state machine over the engine's load events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.i18n import translate
from app.live import ModelState
from engine.chat import RequestHandle
from engine.config import EngineConfig
from engine.errors import Cancelled
from engine.events import UPGRADE, Event, Failed, Loaded, LoadProgress, LoadStage


class ModelLoader(QObject):
    """Follows the load that was asked for last; events of an earlier one are dropped."""

    changed = Signal(object)  # ModelState
    ready = Signal()
    failed = Signal(str, str, bool)  # sentence, detail, whether the person cancelled it

    def __init__(self, bridge: EngineBridge, config: Callable[[], EngineConfig], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._config = config
        self._loading = config()
        self._handle: RequestHandle | None = None
        self._state = ModelState()
        self._again: Callable[[EngineConfig], RequestHandle] = partial(bridge.load, None)

    @property
    def state(self) -> ModelState:
        """Where the model stands."""
        return self._state

    def load(self, name: str | None) -> None:
        """Load the named model, or the default one."""
        self._start(partial(self._bridge.load, name))

    def add(self, path: Path) -> None:
        """Import a model file or folder, then load it."""
        self._start(partial(self._bridge.add_model, path))

    def again(self) -> None:
        """Do once more what failed."""
        self._start(self._again)

    def cancel(self) -> None:
        """Give up the load in progress; a model that was ready before stays ready."""
        if self._handle is not None:
            self._handle.cancel()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, Loaded) and event.request_id == UPGRADE and self._state.phase == "ready":
            self._set(replace(self._state, info=event.info))
        if self._handle is None or event.request_id != self._handle.id:
            return
        match event:
            case LoadProgress():
                self._set(replace(self._state, phase="working", step=event, sentence=event.sentence))
            case Loaded():
                self._handle = None
                self._set(ModelState("ready", event.info, config=self._loading))
                self.ready.emit()
            case Failed():
                self._handle = None
                self._fail(event)

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
        sentence = translate("model_loader", "No model is loaded.") if cancelled else event.error.sentence
        # The engine gives up the old model only when it begins to load the new one.
        reached_load = self._state.step is not None and self._state.step.stage is LoadStage.LOAD
        info = None if reached_load and not cancelled else self._state.info
        ready = ModelState("ready", info, config=self._state.config)
        self._set(ready if info else ModelState("failed", sentence=sentence))
        if info:
            self.ready.emit()
        self.failed.emit(sentence, event.error.detail, cancelled)

    def _set(self, state: ModelState) -> None:
        self._state = state
        self.changed.emit(state)
