"""The proof, on request, that reuse changes no answer of a conversation: follows the check that is going on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.live import CheckState
from engine.chat import Message, RequestHandle
from engine.errors import Cancelled
from engine.events import Checked, CheckProgress, Event, Failed


class ChatCheck(QObject):
    """At most one check at a time; events of an earlier one are dropped."""

    changed = Signal(object)  # CheckState, or None when nothing is being checked
    told = Signal(str)  # the result in one sentence
    failed = Signal(str, str)  # sentence, detail

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._handle: RequestHandle | None = None

    @property
    def running(self) -> bool:
        """Whether a conversation is being checked."""
        return self._handle is not None

    def start(self, messages: Sequence[Message], started_on: str) -> None:
        """Check a conversation, as the engine takes it."""
        self.cancel()
        self._handle = self._bridge.check(messages, started_on)
        self.changed.emit(CheckState(0, sum(message.role == "user" for message in messages)))

    def cancel(self) -> None:
        """Give the check up; its result is not told."""
        if self._handle is not None:
            self._handle.cancel()
            self._end()

    def apply(self, event: Event) -> None:
        """Take an event of the engine."""
        if self._handle is None or event.request_id != self._handle.id:
            return
        match event:
            case CheckProgress():
                self.changed.emit(CheckState(event.done, event.total))
            case Checked():
                self._end()
                self.told.emit(result_sentence(event))
            case Failed():
                self._end()
                if not isinstance(event.error, Cancelled):
                    self.failed.emit(event.error.sentence, event.error.detail)

    def _end(self) -> None:
        self._handle = None
        self.changed.emit(None)


def result_sentence(result: Checked) -> str:
    """What a check showed, with both times."""
    verdict = "Reuse changed nothing" if result.equal else "Reuse changed an answer, please report this"
    equal = f"{result.equal_tokens:,} of {result.tokens:,} tokens equal"
    return f"{verdict}: {equal}, {result.kept_s:.1f} s with the cache, {result.fresh_s:.1f} s without."
