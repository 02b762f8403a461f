"""What the inspector has the engine try: the machine's profile, and some tokens with the cache and without."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.i18n import translate
from app.session import Session
from engine.chat import RequestHandle
from engine.errors import Cancelled
from engine.events import Compared, CompareProgress, Event, Failed, Profiled
from engine.explain.profile import MachineProfile


class Experiments(QObject):
    """At most one comparison at a time; events of an earlier one are dropped."""

    progressed = Signal(object)  # (tokens done, tokens in all), or None when nothing runs
    compared = Signal(object)  # Comparison
    profiled = Signal(object)  # MachineProfile
    told = Signal(str)  # one sentence: why there is no comparison
    failed = Signal(str, str)  # sentence, detail

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._comparing: RequestHandle | None = None
        self._profiling: RequestHandle | None = None
        self.profile: MachineProfile | None = None

    def compare(self, session: Session | None, ready: bool) -> None:
        """Compare what a conversation costs with the cache and without; says why not if it cannot be."""
        if session is None or not session.messages():
            self.told.emit(translate("experiments", "There is nothing in this chat yet to go on from."))
        elif session.busy:
            sentence = translate("experiments", "The answer is still being written. Please wait for it, or press Stop.")
            self.told.emit(sentence)
        elif not ready:
            self.told.emit(translate("experiments", "This can be tried once a model is loaded."))
        else:
            self.cancel()
            messages = session.requests.prompt()
            asked = max(at for at, message in enumerate(messages) if message.role == "user")
            self._comparing = self._bridge.compare_cache(messages[: asked + 1], session.conversation.started_on)
            self.progressed.emit((0, 0))

    def cancel(self) -> None:
        """Give the comparison up."""
        if self._comparing is not None:
            self._comparing.cancel()
            self._end()

    def measure(self) -> None:
        """Have the machine measured with the loaded model, when nothing else is to be done."""
        self.profile = None
        self._profiling = self._bridge.measure_profile()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, Profiled) and self._profiling is not None and event.request_id == self._profiling.id:
            self.profile = event.profile
            self.profiled.emit(event.profile)
        elif self._comparing is not None and event.request_id == self._comparing.id:
            self._follow(event)

    def _follow(self, event: Event) -> None:
        match event:
            case CompareProgress():
                done = event.index + 1 + (0 if event.cached else event.total)
                self.progressed.emit((done, 2 * event.total))
            case Compared():
                self._end()
                self.compared.emit(event.comparison)
            case Failed():
                self._end()
                if not isinstance(event.error, Cancelled):
                    self.failed.emit(event.error.sentence, event.error.detail)

    def _end(self) -> None:
        self._comparing = None
        self.progressed.emit(None)
