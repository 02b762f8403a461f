"""The worker answers with a model on a server as with one of its own, and sends it nothing that was not asked."""

from __future__ import annotations

import queue

import pytest

from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig
from engine.errors import BadRequest, Cancelled, EngineError, ServerFailed
from engine.events import Failed, Finished, FinishReason, Loaded, LoadProgress, ModelsListed, Titled
from engine.keys import Keys
from engine.kv_folder import FOLDER, file_name
from engine.remote.servers import FILE, servers_json
from engine.worker import Worker
from tests.engine.fakes import FakeRunner, engine_with
from tests.engine.remote.scripted import MODEL, Scripted, says
from tests.memory_keyring import MemoryKeyring

PATIENCE_S = 20.0
NAME = f"box/{MODEL}"


class Running:
    """A worker that knows one scripted server."""

    def __init__(self, paths, scripted: Scripted, keys: Keys, runner: FakeRunner | None) -> None:
        self.events: queue.SimpleQueue = queue.SimpleQueue()
        paths.config.mkdir(parents=True)
        (paths.config / FILE).write_text(servers_json([scripted.server]), encoding="utf-8")
        self.worker = Worker(self.events.put, EngineConfig(), paths, keys=keys)
        if runner:
            self.worker._engine = engine_with(runner)
        self.worker.start()

    def until(self, *kinds):
        seen = []
        while not seen or not isinstance(seen[-1], kinds):
            seen.append(self.events.get(timeout=PATIENCE_S))
        return seen

    def load(self, name: str = NAME):
        self.worker.load(name)
        return self.until(Loaded, Failed)


@pytest.fixture
def run(loquat_home, script):
    made = []

    def start(*actions, key: str = "", runner: FakeRunner | None = None) -> tuple[Running, Scripted]:
        scripted = script(*(actions or (says("Yes."),)))
        keys = Keys(MemoryKeyring())
        keys.keep("box", key)
        made.append(Running(loquat_home, scripted, keys, runner))
        return made[-1], scripted

    yield start
    for running in made:
        assert running.worker.close(PATIENCE_S)


def ask(name: str = "r") -> ChatRequest:
    return ChatRequest(name, (Message("user", "Why?"),), GREEDY, "c")


def test_a_servers_model_is_loaded_and_answers_with_its_key(run) -> None:
    running, scripted = run(says("Be", "cause."), key="sk-7")
    events = running.load()
    assert isinstance(events[0], LoadProgress) and events[0].sentence == f"Asking GPU box for {MODEL}"
    assert events[-1].info.name == NAME and running.worker.info.server == "GPU box"
    running.worker.submit(ask())
    assert running.until(Finished, Failed)[-1].text == "Because."
    assert scripted.seen[0].headers["authorization"] == "Bearer sk-7"


def test_nothing_is_sent_that_was_not_asked(run) -> None:
    running, scripted = run(runner=FakeRunner())
    running.load()
    running.worker.submit(ask())
    running.until(Finished)
    running.worker.prefill_ahead(ask("ahead"))
    running.worker.preview(ask("preview"))
    running.worker.measure_profile()
    title = running.worker.make_title(ask("title"))
    assert running.until(Titled)[-1] == Titled(title.id, "")
    assert len(scripted.seen) == 1


def test_a_chat_that_is_deleted_leaves_no_cache_of_models_here(run, loquat_home) -> None:
    saved = loquat_home.cache / FOLDER / "some model" / file_name("gone")
    saved.parent.mkdir(parents=True)
    saved.touch()
    running, _ = run()
    running.load()
    running.worker.forget("gone")
    running.worker.submit(ask())
    running.until(Finished)
    assert not saved.exists()


@pytest.mark.parametrize("what", ["check", "compare_cache"])
def test_what_needs_a_model_on_this_machine_says_so(run, what: str) -> None:
    running, scripted = run(runner=FakeRunner())
    running.load()
    getattr(running.worker, what)(ask().messages)
    error = running.until(Failed)[-1].error
    assert isinstance(error, BadRequest) and "needs a model on this machine" in error.sentence
    assert scripted.seen == []


def test_other_programs_are_not_served_with_a_servers_model(run) -> None:
    running, scripted = run()
    running.load()
    served: queue.SimpleQueue = queue.SimpleQueue()
    running.worker.serve(ask(), served.put)
    assert isinstance(served.get(timeout=PATIENCE_S).error, BadRequest)
    assert scripted.seen == []


def test_a_server_that_fails_leaves_the_model_that_was_there(run) -> None:
    running, scripted = run(runner=FakeRunner())
    scripted.listing = lambda exchange: exchange.send(401, {})
    failed = running.load()[-1]
    assert isinstance(failed.error, ServerFailed) and "asks for a key" in failed.error.sentence
    running.worker.submit(ask())
    assert running.until(Finished, Failed)[-1].stats.server == ""


def test_a_load_that_is_cancelled_while_the_server_keeps_silent_ends_at_once(run) -> None:
    running, scripted = run()
    scripted.listing = lambda exchange: exchange.ended.wait(20)
    handle = running.worker.load(NAME)
    running.until(LoadProgress)
    handle.cancel()
    assert isinstance(running.until(Failed)[-1].error, Cancelled)


def test_the_end_of_the_program_ends_an_answer_in_progress(run) -> None:
    def act(exchange) -> None:
        exchange.begin_stream()
        exchange.piece("One")
        exchange.ended.wait(20)

    running, _ = run(act)
    running.load()
    running.worker.submit(ask())
    assert running.worker.close(PATIENCE_S)
    assert running.until(Finished)[-1].reason is FinishReason.CANCELLED


def test_the_models_that_were_chosen_are_listed_with_their_server(run) -> None:
    running, _ = run()
    running.worker.list_models()
    listed = running.until(ModelsListed)[-1].models
    assert [(model.name, model.label, model.server) for model in listed] == [(NAME, MODEL, "GPU box")]


def test_a_damaged_list_of_servers_is_said(run, loquat_home) -> None:
    running, _ = run()
    (loquat_home.config / FILE).write_text("{", encoding="utf-8")
    error = running.load()[-1].error
    assert type(error) is EngineError and "cannot be read" in error.sentence
