"""The proof, on request, that reuse changes no answer of a conversation: follows the check that is going on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.engine_bridge import EngineBridge
from app.i18n import translate
from app.live import CheckState
from app.session import Session
from engine.chat import Message, RequestHandle
from engine.errors import Cancelled
from engine.events import Checked, CheckProgress, Event, Failed, ModelInfo


class ChatCheck(QObject):
    """At most one check at a time; events of an earlier one are dropped."""

    changed = Signal(object)  # CheckState, or None when nothing is being checked
    told = Signal(str)  # one sentence: the result, or why there will be none
    failed = Signal(str, str)  # sentence, detail

    def __init__(self, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._handle: RequestHandle | None = None

    @property
    def running(self) -> bool:
        """Whether a conversation is being checked."""
        return self._handle is not None

    def start(self, session: Session | None, model: ModelInfo | None) -> None:
        """Check what was said in a conversation, if anything was and a model is ready; else say why not."""
        if session is None or not session.messages():
            self.told.emit(translate("chat_check", "There is no question in this chat yet, so nothing to check."))
        elif session.busy:
            sentence = translate("chat_check", "The answer is still being written. Please wait for it, or press Stop.")
            self.told.emit(sentence)
        elif model is None:
            self.told.emit(translate("chat_check", "A chat can be checked once a model is loaded."))
        else:
            self._begin(session.requests.prompt(), session.conversation.started_on)

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

    def _begin(self, messages: Sequence[Message], started_on: str) -> None:
        self.cancel()
        self._handle = self._bridge.check(messages, started_on)
        self.changed.emit(CheckState(0, sum(message.role == "user" for message in messages)))

    def _end(self) -> None:
        self._handle = None
        self.changed.emit(None)


def result_sentence(result: Checked) -> str:
    """What a check showed, with both times."""
    if result.equal:
        sentence = translate(
            "chat_check",
            "Reuse changed nothing: {equal} of {all} tokens equal, {kept} s with the cache, {fresh} s without.",
        )
    else:
        sentence = translate(
            "chat_check",
            "Reuse changed an answer, please report this: {equal} of {all} tokens equal, {kept} s with the cache, "
            "{fresh} s without.",
        )
    return sentence.format(
        equal=f"{result.equal_tokens:,}",
        all=f"{result.tokens:,}",
        kept=f"{result.kept_s:.1f}",
        fresh=f"{result.fresh_s:.1f}",
    )
