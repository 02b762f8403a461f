"""The engine: one model, its tokenizer and its caches. No threads here; the worker gives it one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.ahead import prefill_ahead
from engine.chat import ChatRequest, RequestHandle
from engine.config import EngineConfig
from engine.device_faults import DeviceFaults, fault_words, is_device_fault, is_out_of_memory
from engine.errors import DeviceFailed, DoesNotFit, ModelNotFound
from engine.events import ChatEvent, Compared, CompareProgress, ModelInfo, Previewed
from engine.explain.experiment import TOKENS, compare
from engine.explain.explainer import Explainer
from engine.explain.measure import machine_profile
from engine.explain.profile import MachineProfile
from engine.heap import collect, release_memory
from engine.loader import LoadedModel, load_model, staying
from engine.models.progress import stop_if_cancelled
from engine.models.registry import ModelEntry
from engine.preview import preview
from engine.titles import make_title
from engine.turn import Clock, Turn


class Engine:
    """Answers chat requests with one model at a time.

    Args:
        config: Device, dtype, threads and limits.
        cache_folder: Where conversations' caches are saved.
        clock: Monotonic seconds, the same clock that stamps `ChatRequest.submitted_at`.
    """

    def __init__(self, config: EngineConfig, cache_folder: Path, clock: Clock = time.perf_counter) -> None:
        self._config = config
        self._cache_folder = cache_folder
        self._clock = clock
        self._explainer = Explainer(clock)
        self._model: LoadedModel | None = None
        self._entry: ModelEntry | None = None
        self._faults = DeviceFaults()

    def load(
        self,
        entry: ModelEntry,
        config: EngineConfig | None = None,
        *,
        wait: bool = True,
        handle: RequestHandle | None = None,
    ) -> ModelInfo:
        """Load a model in place of the one that is loaded.

        Args:
            entry: Which model.
            config: From now on; None keeps what there is.
            wait: Wait for the CPU kernels to be compiled on the first start; if not, `upgrade` brings them later.
            handle: Cancels, between two of the load's steps and two tensors.

        Raises:
            EngineError: The device, the tokenizer or the weights are not to be had; no model is loaded then.
            Cancelled: `handle` was cancelled; no model is loaded then either.
        """
        poll = partial(stop_if_cancelled, handle or RequestHandle("load"))
        with self._explainer.loading():
            self.unload()
            self._config = config or self._config
            self._model = load_model(entry, self._config, self._cache_folder, wait=wait, poll=poll, faults=self._faults)
            release_memory()  # of what was read to be converted
        self._entry = entry
        return self._model.info

    def upgrade(self) -> ModelInfo | None:
        """Change over to the compiled kernels once they are ready, or give up waiting for them if they cannot be had.

        Returns:
            What is known of the model then; None where nothing changed.
        """
        model = self._model
        if model is None or model.pending is None or self._entry is None:
            return None
        if model.pending.failed:
            self._model = staying(model)
            return self._model.info
        return self.load(self._entry) if model.pending.wait(0) else None

    def called(self, entry: ModelEntry) -> ModelInfo | None:
        """What is known of the loaded model now that its entry has another label; None if another one is loaded."""
        if self._model is None or self._entry is None or self._entry.name != entry.name:
            return None
        self._entry = entry
        self._model = replace(self._model, info=replace(self._model.info, label=entry.label))
        return self._model.info

    def unload(self) -> None:
        """Save the conversations' caches and give the model's memory back."""
        if self._model is not None:
            self._close(self._model)
            self._model = None
            self._explainer.unloaded()
            collect()
            release_memory()

    def _close(self, model: LoadedModel) -> None:
        """Save the caches; those on a device that has failed are lost, and another model can be loaded all the same."""
        try:
            model.store.close()
        except RuntimeError as error:
            if not is_device_fault(model.info.device, error):
                raise
            self._faults.note(model.info.device, error)

    def stream(
        self, request: ChatRequest, handle: RequestHandle | None = None, *, traced: bool = True
    ) -> Iterator[ChatEvent]:
        """Answer a request: prefill progress, a delta per token, and `Finished` as the last event.

        A cancelled request ends with `Finished` too, and leaves the cache valid.

        Args:
            request: What is asked.
            handle: Cancels.
            traced: Whether `Finished` has a trace, for which the machine is watched and the prompt looked through.

        Raises:
            ModelNotFound: No model is loaded.
            BadRequest: There is nothing to answer.
            ContextFull: The prompt leaves no room for a reply.
        """
        model = self._loaded()
        notes = self._explainer.begin(model, request) if traced else None
        with self._guarded(model):
            yield from Turn(model, request, handle or RequestHandle(request.id), self._clock, notes).run()
        if request.reuse:
            model.store.end(request.conversation_id)

    def prefill_ahead(
        self, request: ChatRequest, handle: RequestHandle, between: Callable[[], None] = lambda: None
    ) -> int:
        """Read what a request whose last message is a draft will begin with; the tokens read.

        Raises:
            ModelNotFound: No model is loaded.
            DoesNotFit: Memory ran out.
        """
        model = self._loaded()
        with self._guarded(model):
            return prefill_ahead(model, request, handle, between)

    def preview(self, request: ChatRequest) -> Previewed:
        """What a request whose last message is a draft would cost.

        Raises:
            ModelNotFound: No model is loaded.
            BadRequest: The model's template refuses these messages.
        """
        return preview(self._loaded(), request)

    def make_title(self, request: ChatRequest, stop: Callable[[], bool]) -> str | None:
        """A title for a conversation whose last message is an answer; "" if there is none, None if stopped.

        Raises:
            ModelNotFound: No model is loaded.
            DoesNotFit: Memory ran out.
        """
        model = self._loaded()
        with self._guarded(model):
            return make_title(model, request, stop)

    def compare_cache(
        self, request: ChatRequest, handle: RequestHandle, tokens: int = TOKENS
    ) -> Iterator[CompareProgress | Compared]:
        """Generate some tokens with the cache and without: a progress event for each, then `Compared`.

        Raises:
            ModelNotFound: No model is loaded.
            BadRequest: There is nothing to answer.
            ContextFull: There is no room for the tokens.
            Cancelled: `handle` was cancelled.
            DoesNotFit: Memory ran out.
        """
        model = self._loaded()
        with self._guarded(model):
            yield from compare(model, request, handle, tokens)

    def profile(self, stop: Callable[[], bool] = lambda: False) -> MachineProfile | None:
        """What this machine can do with the loaded model, measured if it is not known; None if stopped.

        Raises:
            ModelNotFound: No model is loaded.
            DoesNotFit: Memory ran out.
        """
        model = self._loaded()
        with self._guarded(model):
            return machine_profile(model, self._cache_folder, stop)

    @property
    def loaded(self) -> str:
        """The name of the loaded model; empty if there is none."""
        return self._entry.name if self._model is not None and self._entry is not None else ""

    @property
    def info(self) -> ModelInfo | None:
        """What is known of the loaded model; None if there is none."""
        return self._model.info if self._model is not None else None

    @property
    def kv_bytes(self) -> int:
        """Memory held by all KV caches."""
        return self._model.store.nbytes if self._model is not None else 0

    def pause_saving(self) -> None:
        """Save no caches until the next reply has ended: one of them is about to change."""
        if self._model is not None:
            self._model.store.pause()

    def forget(self, conversation_id: str) -> None:
        """Drop a conversation's cache from memory and disk."""
        self._explainer.forget(conversation_id)
        if self._model is not None:
            self._model.store.forget(conversation_id)

    @contextlib.contextmanager
    def _guarded(self, model: LoadedModel) -> Iterator[None]:
        """Free all caches when memory runs out, leave a device that fails, and say so."""
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            if is_out_of_memory(error):
                model.store.drop_memory()
                if model.draft is not None:
                    model.draft.forget()
                sentence = "Memory ran out; the caches of all chats were freed, so asking again may work."
                raise DoesNotFit(sentence, repr(error)) from error
            if not is_device_fault(model.info.device, error):
                raise
            self._faults.note(model.info.device, error)
            raise self._moved(model, error) from error

    def _moved(self, model: LoadedModel, error: Exception) -> DeviceFailed:
        """Load the model on the device behind the one that failed, whose memory, caches included, is lost."""
        if model is self._model:  # else it was moved while this request was interrupted
            model.store.abandon()
            self._model = None
            if self._entry is not None:
                self.load(self._entry, wait=False)  # somebody waits for an answer
        return DeviceFailed(
            f"The GPU failed ({fault_words(error)}); the model now runs on the CPU, so ask again.", repr(error)
        )

    def _loaded(self) -> LoadedModel:
        if self._model is None:
            raise ModelNotFound("No model is loaded; choose one first.")
        return self._model
