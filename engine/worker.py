"""The one thread that owns model, tokenizer and caches: commands go in, events come out.

Nothing here imports torch before the thread's first command needs it, so a window can be on screen first.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.chat import ChatRequest, Message, RequestHandle, after_reply
from engine.commands import Command, CommandQueue
from engine.config import EngineConfig
from engine.errors import BadRequest, Cancelled, EngineError
from engine.events import (
    UPGRADE,
    Checked,
    CheckProgress,
    Event,
    Failed,
    Finished,
    InstalledModel,
    Loaded,
    LoadProgress,
    LoadStage,
    ModelInfo,
    ModelsListed,
    Unloaded,
)
from engine.idle import IdleWork
from engine.keys import Keys
from engine.kv_folder import FOLDER, forget_everywhere
from engine.models.progress import as_events
from engine.paths import Paths
from engine.remote.servers import FILE, RemoteServer, find_model, model_names, read_servers

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.models.registry import ModelEntry, Registry
    from engine.remote.engine import RemoteEngine
    from engine.verify import Proof

Emit = Callable[[Event], None]
TURN_S: Final = 0.2  # after which a request of another program lets the next one have its turn


class Worker:
    """Runs commands one after the other on its own thread.

    Args:
        emit: Called with every event, on the worker's thread; must return soon.
        config: How models are loaded.
        paths: Where models lie.
        wait_for_kernels: Whether a load on the first start waits until the CPU kernels are compiled; if not, torch
            answers meanwhile, and a `Loaded` with the id UPGRADE tells of the change.
        keys: Where the keys of servers are kept; None takes the system's keyring.

    Attributes:
        keys: The same.
        info: What is known of the loaded model; None while there is none. May be read from any thread.
        kv_bytes: Memory held by all KV caches after the last command. May be read from any thread.
    """

    def __init__(
        self,
        emit: Emit,
        config: EngineConfig,
        paths: Paths,
        *,
        wait_for_kernels: bool = False,
        keys: Keys | None = None,
    ) -> None:
        self._emit = emit
        self._config = config
        self._paths = paths
        self._wait = wait_for_kernels
        self._commands = CommandQueue()
        self._idle = IdleWork(self._commands, self._local, emit)
        self._numbers = itertools.count(1)
        self._engine: Engine | None = None
        self._remote: RemoteEngine | None = None
        self.keys = keys or Keys()
        self._interrupting = False
        self._suspended: dict[Command, Iterator[Event]] = {}  # served ones between two of their turns
        self.info: ModelInfo | None = None
        self.kv_bytes = 0
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        """Start the thread; call once."""
        self._thread.start()

    def load(self, name: str | None = None, config: EngineConfig | None = None) -> RequestHandle:
        """Make a model ready: fetch it if it is the default one and missing, then load it.

        A model of a server is ready when the server has answered; the one on this machine gives its memory back then.
        Reading ahead, previews, titles, checks and experiments are not for it, and send nothing.

        Args:
            name: As in the registry, or `server-id/model`; None for the default model.
            config: How it is loaded, and models from now on; None keeps what was said before.
        """
        handle = self._handle("load")
        return self._put(handle, lambda: self._load(handle, name, config), between=False)

    def list_models(self) -> RequestHandle:
        """Say which models are on this machine: `ModelsListed`."""
        handle = self._handle("models")
        return self._put(handle, lambda: iter((self._models_listed(handle),)))

    def set_default_model(self, name: str) -> RequestHandle:
        """Load this model when none is named; then `ModelsListed`."""
        handle = self._handle("default")
        return self._put(handle, lambda: self._set_default(handle, name))

    def rename_model(self, name: str, label: str) -> RequestHandle:
        """Call a model something else for people; then `ModelsListed`."""
        handle = self._handle("rename")
        return self._put(handle, lambda: self._rename(handle, name, label))

    def remove_model(self, name: str) -> RequestHandle:
        """Delete a model from the disk, and before that give its memory back if it is loaded; then `ModelsListed`."""
        handle = self._handle("remove")
        info = self.info  # read once: the other thread may take it away meanwhile
        loaded = info is not None and info.name == name
        return self._put(handle, lambda: self._remove(handle, name), between=not loaded)

    def check(self, messages: Sequence[Message], started_on: str = "") -> RequestHandle:
        """Answer a conversation with its cache and without: `CheckProgress` a question, then `Checked`."""
        handle = self._handle("check")
        return self._put(handle, lambda: self._check(handle, tuple(messages), started_on))

    def compare_cache(self, messages: Sequence[Message], started_on: str = "") -> RequestHandle:
        """Generate some tokens with the cache and without: `CompareProgress` a token, then `Compared`."""
        request = ChatRequest(self._handle("compare").id, tuple(messages), started_on=started_on)
        handle = RequestHandle(request.id)
        return self._put(handle, lambda: self._on_this_machine().compare_cache(request, handle))

    def measure_profile(self) -> RequestHandle:
        """Say, when nothing else is to be done, what this machine can do with the loaded model: `Profiled`.

        It takes a second or two the first time. Nothing comes if no model is loaded.
        """
        return self._idle.measure_profile(self._handle("profile"))

    def forget(self, conversation_id: str) -> RequestHandle:
        """Drop all models' caches of a conversation that was deleted for good; no event comes of it."""
        handle = self._handle("forget")
        return self._put(handle, lambda: self._forget(conversation_id))

    def submit(self, request: ChatRequest) -> RequestHandle:
        """Answer a request after everything that was asked before."""
        handle = RequestHandle(request.id)
        return self._put(handle, lambda: self._answer(handle, request))

    def serve(self, request: ChatRequest, sink: Emit) -> RequestHandle:
        """Answer a request of another program; `sink` is told of its events, on this thread, and nobody else is.

        It waits behind everything that was submitted, and what is submitted while it runs interrupts it between two
        tokens. Loading another model cancels it.
        """
        handle = RequestHandle(request.id)
        run = partial(self._answer_served, handle, request)
        self._commands.put(Command(handle, run, sink, served=True, key=request.conversation_id))
        return handle

    def prefill_ahead(self, request: ChatRequest) -> RequestHandle:
        """Read, when nothing else is to be done, what a request will begin with; its last message is a draft.

        Nothing comes of it but a fuller cache: no event, and any real command takes over at once.
        """
        return self._idle.read_ahead(request)

    def preview(self, request: ChatRequest) -> RequestHandle:
        """Say soon what a request whose last message is a draft would cost: `Previewed`, in place of one that waits.

        An answer or idle work in progress makes room for it between two tokens or chunks; other commands are waited
        for. Nothing comes if no model is loaded, or if its template refuses the messages.
        """
        return self._idle.preview(request)

    def make_title(self, request: ChatRequest) -> RequestHandle:
        """Name a conversation whose last message is an answer when nothing else is to be done: `Titled`.

        It begins again after whatever it had to give way to. The title is empty if there is none to be had, and nothing
        comes if another one is asked for meanwhile.
        """
        return self._idle.make_title(request)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Cancel everything, let the thread end and join it; whether it ended in time."""
        self._commands.close()
        if self._thread.ident is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _handle(self, what: str) -> RequestHandle:
        return RequestHandle(f"{what}-{next(self._numbers)}")

    def _put(self, handle: RequestHandle, run: Callable[[], Iterator[Event]], *, between: bool = True) -> RequestHandle:
        self._commands.put(Command(handle, run, between=between))
        return handle

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            self._do(command)
            self.kv_bytes = self._engine.kv_bytes if self._engine else 0
        self._disconnect()
        if self._engine is not None:
            self._engine.unload()

    def _do(self, command: Command) -> None:
        emit = command.emit or self._emit
        turn_ends = time.monotonic() + TURN_S
        try:
            events = self._suspended.pop(command, None) or command.run()
            for event in events:
                emit(event)
                if command.served:
                    self._give_way()
                    if time.monotonic() >= turn_ends and self._commands.pass_on(command):
                        self._suspended[command] = events
                        return
        except EngineError as error:
            emit(Failed(command.handle.id, error))
        except Exception as error:
            emit(Failed(command.handle.id, _bug(error), bug=True))
        finally:
            self._tell_moved()

    def _give_way(self) -> None:
        """Do what the person asked meanwhile, before a request of another program goes on."""
        self._idle.serve_preview()
        self._interrupting = True
        while (urgent := self._commands.urgent()) is not None:
            self._do(urgent)
            if self._engine is not None:
                self._engine.pause_saving()  # of caches: one of them grows again now
        self._interrupting = False

    def _load(self, handle: RequestHandle, name: str | None, config: EngineConfig | None) -> Iterator[Event]:
        self._config = config or self._config
        remote = find_model(self._servers(), name) if name else None
        if remote is not None:
            yield from self._connect(handle, *remote)
            return
        from engine.models.prepare import prepare

        steps = prepare(self._registry(), name, handle)
        entry: ModelEntry = yield from as_events(handle, steps)
        yield from self._load_entry(handle, entry)

    def _load_entry(self, handle: RequestHandle, entry: ModelEntry) -> Iterator[Event]:
        sentence = f"Loading {entry.label}"
        if self._compiles_first():
            sentence = f"Loading {entry.label}. The first time, its code is compiled for this processor: up to a minute"

        def loading(done: int) -> LoadProgress:
            return LoadProgress(handle.id, LoadStage.LOAD, done, 2, sentence)

        yield loading(0)
        engine = self._the_engine()
        if handle.cancelled:
            raise Cancelled
        yield loading(1)
        if self.info is not None:
            yield Unloaded(handle.id, self.info.name)
        self.info = None
        self._disconnect()
        self.info = engine.load(entry, self._config, wait=self._wait, handle=handle)
        yield Loaded(handle.id, self.info)

    def _connect(self, handle: RequestHandle, server: RemoteServer, model: str) -> Iterator[Event]:
        """Make a model on a server ready in place of whatever there was, once the server has answered."""
        from engine.remote.engine import RemoteEngine

        yield LoadProgress(handle.id, LoadStage.CONNECT, 0, 0, f"Asking {server.name} for {model}")
        remote = RemoteEngine(server, model, self.keys.get(server.id))
        try:
            info = remote.connect(handle)
        except BaseException:
            remote.close()
            raise
        self._disconnect()
        if self._engine is not None:
            self._engine.unload()
        self._remote, self.info = remote, info
        yield Loaded(handle.id, info)

    def _disconnect(self) -> None:
        if self._remote is not None:
            self._remote.close()
        self._remote = None

    def _servers(self) -> tuple[RemoteServer, ...]:
        return read_servers(self._paths.config / FILE)

    def _compiles_first(self) -> bool:
        """Whether this load waits for the CPU kernels, and takes longer than any will again."""
        from engine.kernels.cache_folder import kept, kernels_root

        on_cpu = self._config.device in ("auto", "cpu") and self._config.dtype in ("auto", "int4", "int8")
        return self._wait and on_cpu and not kept(kernels_root(self._paths.cache))

    def _answer(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        if self._remote is not None:
            yield from self._remote.stream(request, handle)
            return
        self._upgrade()
        for event in self._the_engine().stream(request, handle):
            yield event
            self._idle.serve_preview()
            if isinstance(event, Finished) and request.reuse:
                self.prefill_ahead(after_reply(request, event.text, event.token_ids))

    def _answer_served(self, handle: RequestHandle, request: ChatRequest) -> Iterator[Event]:
        if handle.cancelled:
            raise Cancelled
        engine = self._on_this_machine()
        self._upgrade()
        # No program is told of traces.
        yield from engine.stream(request, handle, traced=False)

    def _tell_moved(self) -> None:
        """Say what became of the model if its device failed, in whatever was done: it runs elsewhere now, or not."""
        before, engine = self.info, self._local()
        if before is None or engine is None or engine.info is before:
            return
        self.info = engine.info
        self._emit(Loaded(UPGRADE, self.info) if self.info is not None else Unloaded(UPGRADE, before.name))

    def _upgrade(self) -> None:
        """Change over to the compiled kernels once they are ready, but not in the middle of a reply."""
        busy = self._interrupting or self._commands.interrupted
        faster = None if busy else self._the_engine().upgrade()
        if faster:
            self.info = faster
            self._emit(Loaded(UPGRADE, faster))

    def _local(self) -> Engine | None:
        """The engine if the model that answers is on this machine, or could be."""
        return self._engine if self._remote is None else None

    def _models_listed(self, handle: RequestHandle) -> ModelsListed:
        from engine.models.listing import listed

        models = list(listed(self._registry().entries()))
        for server in self._servers():
            models += [InstalledModel(server.name_of(m), m, 0, 0, False, server.name) for m in server.models]
        return ModelsListed(handle.id, tuple(models))

    def _set_default(self, handle: RequestHandle, name: str) -> Iterator[Event]:
        self._registry().set_default(name)
        yield self._models_listed(handle)

    def _rename(self, handle: RequestHandle, name: str, label: str) -> Iterator[Event]:
        registry = self._registry()
        registry.rename(name, label)
        if self._engine is not None and (info := self._engine.called(registry.find(name))) is not None:
            self.info = info
            yield Loaded(UPGRADE, info)
        yield self._models_listed(handle)

    def _remove(self, handle: RequestHandle, name: str) -> Iterator[Event]:
        self._registry().find(name)
        if self._engine is not None and self._engine.loaded == name:
            self._engine.unload()
            self.info = None
            yield Unloaded(handle.id, name)
        self._registry().remove(name)
        yield self._models_listed(handle)

    def _check(self, handle: RequestHandle, messages: Sequence[Message], started_on: str) -> Iterator[Event]:
        from engine.verify import verify

        total = sum(message.role == "user" for message in messages)
        yield CheckProgress(handle.id, 0, total)
        steps = verify(self._on_this_machine(), messages, handle, started_on=started_on)
        done = 0
        while True:
            try:
                next(steps)
            except StopIteration as end:
                proof: Proof = end.value
                break
            done += 1
            yield CheckProgress(handle.id, done, total)
        yield Checked(handle.id, proof.tokens, proof.equal_tokens, proof.equal, proof.kept_s, proof.fresh_s)

    def _forget(self, conversation_id: str) -> Iterator[Event]:
        if self._engine is not None:
            self._engine.forget(conversation_id)
        forget_everywhere(self._paths.cache / FOLDER, conversation_id)
        yield from ()

    def _registry(self) -> Registry:
        from engine.models.registry import Registry

        return Registry(self._paths.models, partial(model_names, self._paths.config))

    def _the_engine(self) -> Engine:
        """The engine, made on first use: importing torch takes seconds."""
        if self._engine is None:
            from engine.engine import Engine

            self._engine = Engine(self._config, self._paths.cache)
        return self._engine

    def _on_this_machine(self) -> Engine:
        """The engine, for what only a model on this machine can do.

        Raises:
            BadRequest: A model on a server is chosen.
        """
        if self._remote is not None:
            raise BadRequest("This needs a model on this machine, and one on a server is chosen; choose another first.")
        return self._the_engine()


def _bug(error: Exception) -> EngineError:
    sentence = "Something went wrong inside Loquat; the chat is saved, and asking again may work."
    return EngineError(sentence, "".join(traceback.format_exception(error)))
