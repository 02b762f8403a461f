"""A scripted worker: real events on a real thread, as engine.worker emits them, with words instead of a model.

`Reply.gate` lets a test decide how many tokens may come: `gate.release(3)`. Without one they come at once, or every
`delay_s` seconds. Token ids are the running numbers 100, 101, ...; the last one, 2, is the end token.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig
from engine.errors import Cancelled, EngineError
from engine.events import (
    Checked,
    CheckProgress,
    Compared,
    CompareProgress,
    Event,
    Failed,
    Finished,
    FinishReason,
    InstalledModel,
    Loaded,
    LoadProgress,
    LoadStage,
    ModelInfo,
    ModelsListed,
    PrefillProgress,
    Previewed,
    Profiled,
    TextDelta,
    Titled,
    Unloaded,
)
from engine.explain.comparison import Candidate, Comparison, Step
from engine.explain.profile import MachineProfile
from engine.keys import Keys
from engine.stats import TurnStamps, turn_stats
from tests.memory_keyring import MemoryKeyring

END_TOKEN = 2
_STEP = Step(23, 0.2, (1, 3, 23, 64), 30, 1_000_000, (Candidate(5, "It", 0.5),))
COMPARISON = Comparison(23, _STEP, _STEP, (4.0, 4.0), (80.0, 82.0), True, "It is")
POLL_S = 0.002


def model_info(name: str = "scripted", end_ids: frozenset[int] = frozenset()) -> ModelInfo:
    return ModelInfo(
        name=name,
        label=f"Scripted {name}",
        architecture="llama",
        parameters=134_515_008,
        context_limit=8192,
        device="cpu",
        device_reason="no GPU was found",
        dtype="float32",
        threads=2,
        weight_bytes=540_000_000,
        kv_bytes_per_token=46_080,
        load_s=1.5,
        end_ids=end_ids,
    )


@dataclass(frozen=True)
class Reply:
    """One answer: its pieces of text, or the error it ends with after them."""

    pieces: tuple[str, ...] = ("It ", "is ", "**so**", ".")
    reason: FinishReason = FinishReason.END
    error: EngineError | None = None
    bug: bool = False
    cached: int = 0
    prefill: int = 23
    prefill_chunk: int = 8
    prefill_gate: threading.Semaphore | None = None
    gate: threading.Semaphore | None = None
    delay_s: float = 0.0
    left_out: tuple[int, ...] = ()
    drafted: int = 0
    accepted: int = 0
    deaf: bool = False  # like an engine in the middle of a long step: it sees no cancel before the gate opens


@dataclass(frozen=True)
class Load:
    """One load: its result, or the error it ends with."""

    result: ModelInfo | EngineError = field(default_factory=model_info)
    gate: threading.Semaphore | None = None
    steps: int = 3
    stage: LoadStage = LoadStage.LOAD


class FakeWorker:
    """Runs scripts in order; with none left it loads at once and answers with the last question's own words."""

    def __init__(
        self, emit: Callable[[Event], None], replies: tuple[Reply, ...] = (), loads: tuple[Load, ...] = ()
    ) -> None:
        self._emit = emit
        self.replies = list(replies)
        self.loads = list(loads)
        self.requests: list[ChatRequest] = []
        self.loaded: list[str | None] = []
        self.configs: list[EngineConfig] = []
        self.holds = ""  # the name of the model in memory
        self.ahead: list[ChatRequest] = []
        self.previews: list[ChatRequest] = []
        self.held = 0  # tokens of a prompt that a preview finds cached; a token is a word here
        self.titles: list[str] = []  # what it names conversations; with none left it finds no title
        self.title_requests: list[ChatRequest] = []
        self.forgotten: list[str] = []
        self.models: list[InstalledModel] = [InstalledModel("scripted", "Scripted scripted", 7, 93_000_000, True)]
        self.checks: list[tuple[tuple[Message, ...], str]] = []
        self.check_gate: threading.Semaphore | None = None
        self.equal_tokens = 214
        self.keys = Keys(MemoryKeyring())
        self._numbers = itertools.count(1)
        self._commands: queue.SimpleQueue[tuple[RequestHandle, Iterator[Event]] | None] = queue.SimpleQueue()
        self._handles: list[RequestHandle] = []
        self._closing = threading.Event()
        self.thread = threading.Thread(target=self._run, name="scripted-worker", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def load(self, name: str | None, config: EngineConfig) -> RequestHandle:
        return self._load(name, config)

    def prefill_ahead(self, request: ChatRequest) -> RequestHandle:
        self.ahead.append(request)
        return RequestHandle(request.id)

    def preview(self, request: ChatRequest) -> RequestHandle:
        self.previews.append(request)
        words = [len(message.content.split()) for message in request.messages]
        told = Previewed(request.id, sum(words), min(self.held, sum(words)), words[-1], 8192)
        return self._put(RequestHandle(request.id), iter((told,)))

    def make_title(self, request: ChatRequest) -> RequestHandle:
        self.title_requests.append(request)
        handle = RequestHandle(request.id)
        return self._put(handle, self._titling(handle))

    def _titling(self, handle: RequestHandle) -> Iterator[Event]:
        if not handle.cancelled:
            yield Titled(handle.id, self.titles.pop(0) if self.titles else "")

    def list_models(self) -> RequestHandle:
        handle = RequestHandle(f"list-{next(self._numbers)}")
        return self._put(handle, iter((ModelsListed(handle.id, tuple(self.models)),)))

    def set_default_model(self, name: str) -> RequestHandle:
        self.models = [replace(model, default=model.name == name) for model in self.models]
        return self.list_models()

    def rename_model(self, name: str, label: str) -> RequestHandle:
        self.models = [replace(model, label=label) if model.name == name else model for model in self.models]
        return self.list_models()

    def remove_model(self, name: str) -> RequestHandle:
        handle = RequestHandle(f"remove-{next(self._numbers)}")
        return self._put(handle, self._removing(handle, name))

    def _removing(self, handle: RequestHandle, name: str) -> Iterator[Event]:
        if name == self.holds:
            self.holds = ""
            yield Unloaded(handle.id, name)
        self.models = [model for model in self.models if model.name != name]
        yield ModelsListed(handle.id, tuple(self.models))

    def check(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        self.checks.append((tuple(messages), started_on))
        handle = RequestHandle(f"check-{next(self._numbers)}")
        return self._put(handle, self._checking(handle, sum(message.role == "user" for message in messages)))

    def _checking(self, handle: RequestHandle, questions: int) -> Iterator[Event]:
        for done in range(questions):
            yield CheckProgress(handle.id, done, questions)
            self._pass(self.check_gate, handle)
            if handle.cancelled:
                raise Cancelled
        yield Checked(handle.id, 214, self.equal_tokens, self.equal_tokens == 214, 0.4, 3.1)

    def compare_cache(self, messages: Sequence[Message], started_on: str) -> RequestHandle:
        handle = RequestHandle(f"compare-{next(self._numbers)}")
        return self._put(handle, self._comparing(handle))

    def _comparing(self, handle: RequestHandle) -> Iterator[Event]:
        for number in range(4):
            self._pass(self.check_gate, handle)
            if handle.cancelled:
                raise Cancelled
            yield CompareProgress(handle.id, number < 2, number % 2, 2, 4.0)
        yield Compared(handle.id, COMPARISON)

    def measure_profile(self) -> RequestHandle:
        handle = RequestHandle(f"profile-{next(self._numbers)}")
        return self._put(handle, iter((Profiled(handle.id, MachineProfile()),)))

    def forget(self, conversation_id: str) -> RequestHandle:
        self.forgotten.append(conversation_id)
        return RequestHandle("forget")

    def submit(self, request: ChatRequest) -> RequestHandle:
        self.requests.append(request)
        handle = RequestHandle(request.id)
        return self._put(handle, self._answer(request, handle))

    def close(self, timeout_s: float) -> bool:
        self._closing.set()
        for handle in self._handles:
            handle.cancel()
        self._commands.put(None)
        self.thread.join(timeout_s)
        return not self.thread.is_alive()

    def _load(self, source: str | None, config: EngineConfig) -> RequestHandle:
        self.loaded.append(source)
        self.configs.append(config)
        handle = RequestHandle(f"load-{len(self.loaded)}")
        return self._put(handle, self._loading(handle))

    def _put(self, handle: RequestHandle, events: Iterator[Event]) -> RequestHandle:
        self._handles.append(handle)
        self._commands.put((handle, events))
        return handle

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            handle, events = command
            try:
                for event in events:
                    self._emit(event)
            except EngineError as error:
                self._emit(Failed(handle.id, error))

    def _loading(self, handle: RequestHandle) -> Iterator[Event]:
        script = self.loads.pop(0) if self.loads else Load()
        for step in range(script.steps):
            self._pass(script.gate, handle)
            if handle.cancelled:
                raise Cancelled
            yield LoadProgress(handle.id, script.stage, step, script.steps, "Loading the script")
            if step == 1 and self.holds:
                yield Unloaded(handle.id, self.holds)
                self.holds = ""
        if isinstance(script.result, EngineError):
            raise script.result
        self.holds = script.result.name
        yield Loaded(handle.id, script.result)

    def _answer(self, request: ChatRequest, handle: RequestHandle) -> Iterator[Event]:
        started = time.perf_counter()
        script = self._next_reply(request)
        done = 0
        yield PrefillProgress(request.id, script.cached, 0, script.prefill, time.perf_counter())
        while done < script.prefill and not handle.cancelled:
            self._pass(script.prefill_gate, handle)
            done = min(script.prefill, done + script.prefill_chunk)
            yield PrefillProgress(request.id, script.cached, done, script.prefill, time.perf_counter())
        prefilled = time.perf_counter()
        texts: list[str] = []
        ids: list[int] = []
        times: list[float] = []
        for number, piece in enumerate(script.pieces):
            self._pass(script.gate, handle, script.deaf)
            if handle.cancelled:
                break
            time.sleep(script.delay_s)
            texts.append(piece)
            ids.append(100 + number)
            times.append(time.perf_counter())
            yield TextDelta(request.id, piece, (ids[-1],), times[-1])
        if script.error is not None and not handle.cancelled:
            yield Failed(request.id, script.error, script.bug)
            return
        reason = FinishReason.CANCELLED if handle.cancelled else script.reason
        if reason is FinishReason.END:
            ids.append(END_TOKEN)
            times.append(time.perf_counter())
            yield TextDelta(request.id, "", (END_TOKEN,), times[-1])
        stamps = TurnStamps(request.submitted_at, started, started, prefilled, tuple(times))
        stats = turn_stats(
            stamps,
            prompt=script.cached + script.prefill,
            cached=script.cached,
            prefilled=done,
            kv_bytes=1,
            drafted=script.drafted,
            accepted=script.accepted,
        )
        yield Finished(request.id, reason, "".join(texts), tuple(ids), stats, script.left_out)

    def _next_reply(self, request: ChatRequest) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        words = request.messages[-1].content.split()
        return Reply(("You said:", *(f" {word}" for word in words)))

    def _pass(self, gate: threading.Semaphore | None, handle: RequestHandle, deaf: bool = False) -> None:
        while gate is not None and not gate.acquire(timeout=POLL_S):
            if self._closing.is_set() or (handle.cancelled and not deaf):
                return
