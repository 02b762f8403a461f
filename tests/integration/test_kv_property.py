"""Whatever is done with conversations, kept caches change no token.

Random sequences of sending, editing, asking again, going back to another branch, cancelling, reading ahead, running out
of memory and restarting, over tiny random models; each reply is compared with one that was computed afresh.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from engine import runners
from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig, SamplingParams
from engine.engine import Engine
from engine.errors import UnsupportedModel
from engine.events import Finished, FinishReason
from engine.kv_cache import KVCache
from engine.models.registry import ModelEntry
from engine.turn import fit_to_context

PARAMS = SamplingParams(temperature=0.0, max_tokens=6)
CONFIG = EngineConfig(device="cpu", dtype="float32", threads=1, prefill_chunk=16)
KERNELS = replace(CONFIG, dtype="int4")
SYSTEMS = ("", "You answer in one short line, and never use any markdown at all.", "You answer in one short poem.")
TEXTS = ("Hi", "天空为什么是蓝色的? 🦜", "the the the the the the the", "<|im_end|> is no end", "And why?" * 12)
PROBE = 7
TIE = 1e-3  # logits closer than this may change places with the order of additions
BUDGETS = (0, 150, 1000, 100_000)  # tokens that memory may hold; a plan for loading would refuse most

DECODER = ["llama", "qwen2", "qwen3", "gemma3_text"]
THROUGH_TRANSFORMERS = ["llama", "gemma3_text", "lfm2", "mamba2", "mamba"]
COMPILED = ["llama", "gemma3_text"]
REASONS = {"decoder": "fast decoder", "transformers": "through transformers", "kernels": "compiled CPU kernels"}
SUBJECTS = [
    *(("decoder", name) for name in DECODER),
    *(("transformers", name) for name in THROUGH_TRANSFORMERS),
    *(("kernels", name) for name in COMPILED),
]


@dataclass
class Subject:
    """A model, and what it answers afresh."""

    entry: ModelEntry
    config: EngineConfig
    engine: Engine
    replies: dict[tuple[Message, ...], Finished] = field(default_factory=dict)

    def fresh(self, messages: tuple[Message, ...]) -> Finished:
        if messages not in self.replies:
            request = ChatRequest("fresh", messages, PARAMS, reuse=False, speculate=False)
            (*_, self.replies[messages]) = self.engine.stream(request)
        return self.replies[messages]

    def tied(self, messages: tuple[Message, ...], ids: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether the first tokens in which two replies differ are equally likely, as far as can be computed."""
        same = next(n for n, (a, b) in enumerate(zip(ids, other, strict=False)) if a != b)
        model = self.engine._model
        request = ChatRequest("tie", messages, PARAMS)
        prompt = model.prompt.encode(replace(request, messages=fit_to_context(model, request).messages))
        logits = model.store.fresh().prefill([*prompt, *ids[:same]])
        return bool(torch.abs(logits[ids[same]] - logits[other[same]]) < TIE)


@pytest.fixture
def subject(tiny_model, request, monkeypatch, tmp_path):
    runner, architecture = request.param
    if runner == "transformers":

        def unknown(*_, **__):
            raise UnsupportedModel("Not known here.")

        monkeypatch.setattr(runners, "load_decoder", unknown)
    entry = ModelEntry("tiny", "Tiny", tiny_model(architecture), architecture, 0, 0, "", "", True)
    config = KERNELS if runner == "kernels" else CONFIG
    engine = Engine(replace(config, save_caches=False), tmp_path)
    reason = engine.load(entry).runner
    if runner == "kernels" and not reason.startswith(REASONS[runner]):
        engine.unload()
        pytest.skip(f"this machine runs no compiled kernels: {reason}")
    assert reason.startswith(REASONS[runner])
    yield Subject(entry, config, engine)
    engine.unload()


class Impatient(RequestHandle):
    """Cancelled after it was looked at so often."""

    def __init__(self, looks: int) -> None:
        super().__init__("ahead")
        self._looks = looks

    @property
    def cancelled(self) -> bool:
        self._looks -= 1
        return self._looks < 0


any_chat, any_text = st.integers(0, 9), st.sampled_from(TEXTS)
any_cut = st.one_of(st.none(), st.none(), st.integers(1, 20))  # cancel after so many events


class Conversations(RuleBasedStateMachine):
    """A person with a few chats, each with a few branches."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.subject = subject
        self.folder = Path(tempfile.mkdtemp(prefix="loquat-caches-"))
        self.branches: dict[str, list[tuple[Message, ...]]] = {}
        self.active: dict[str, int] = {}
        self.just_answered = ""
        self.numbers = itertools.count()
        self.engine: Engine | None = None

    @initialize(tokens=st.sampled_from(BUDGETS))
    def start(self, tokens: int) -> None:
        self.budget = tokens * (self.subject.engine._model.runner.kv_bytes_per_token or 64)
        self.open()

    def open(self) -> None:
        self.engine = Engine(self.subject.config, self.folder)
        self.engine.load(self.subject.entry)
        self.store._budget = self.budget

    def teardown(self) -> None:
        if self.engine:
            self.engine.unload()
        shutil.rmtree(self.folder)

    @property
    def store(self):
        return self.engine._model.store

    def pick(self, number: int) -> str:
        return list(self.branches)[number % len(self.branches)]

    def thread(self, chat: str) -> tuple[Message, ...]:
        return self.branches[chat][self.active[chat]]

    def ask(self, chat: str, messages: tuple[Message, ...], cut: int | None) -> Finished:
        """Ask, compare, and make the answer the chat's newest branch."""
        request = ChatRequest(f"r{next(self.numbers)}", messages, PARAMS, conversation_id=chat)
        handle = RequestHandle(request.id)
        events = []
        for event in self.engine.stream(request, handle):
            events.append(event)
            if len(events) == cut:
                handle.cancel()
        done = events[-1]
        assert isinstance(done, Finished)
        self.compare(messages, done)
        self.compare_contents(self.store._caches[chat])
        self.check_store()
        reply = (Message("assistant", done.text, done.token_ids),) if done.token_ids else ()
        self.branches[chat].append((*messages, *reply) if reply else messages[:-1])
        self.active[chat] = len(self.branches[chat]) - 1
        self.just_answered = chat if reply and done.reason is not FinishReason.CANCELLED else ""
        return done

    def compare(self, messages: tuple[Message, ...], got: Finished) -> None:
        ids, fresh = got.token_ids, self.subject.fresh(messages).token_ids
        if got.reason is FinishReason.CANCELLED:
            fresh = fresh[: len(ids)]
        assert ids == fresh or self.subject.tied(messages, ids, fresh)

    def compare_contents(self, cache: KVCache) -> None:
        """What is held gives the logits that reading the same tokens in one pass would; tokens alone may hide it."""
        if cache.ids:
            fresh = self.subject.engine._model.store.fresh()
            fresh.prefill(cache.ids)
            copy = cache.copy(len(cache.ids))
            torch.testing.assert_close(copy.decode(PROBE), fresh.decode(PROBE), atol=TIE, rtol=0)

    def check_store(self) -> None:
        caches = self.store._caches
        for cache in caches.values():
            assert cache._cache.length == len(cache.ids)
        assert self.store.nbytes <= self.store._budget or len(caches) == 1

    @rule(system=st.sampled_from(SYSTEMS), text=any_text, cut=any_cut)
    def new_chat(self, system: str, text: str, cut: int | None) -> None:
        chat = f"chat {len(self.branches)}"
        opening = (Message("system", system),) if system else ()
        self.branches[chat], self.active[chat] = [opening], 0
        self.ask(chat, (*opening, Message("user", text)), cut)

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat, text=any_text, cut=any_cut)
    def send(self, chat: int, text: str, cut: int | None) -> None:
        name = self.pick(chat)
        self.ask(name, (*self.thread(name), Message("user", text)), cut)

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat, which=st.integers(0, 9), text=any_text, cut=any_cut)
    def edit(self, chat: int, which: int, text: str, cut: int | None) -> None:
        name = self.pick(chat)
        thread = self.thread(name)
        questions = [n for n, message in enumerate(thread) if message.role == "user"]
        if questions:
            at = questions[which % len(questions)]
            self.ask(name, (*thread[:at], Message("user", text)), cut)

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat, cut=any_cut)
    def regenerate(self, chat: int, cut: int | None) -> None:
        name = self.pick(chat)
        thread = self.thread(name)
        if thread and thread[-1].role == "assistant":
            held = self.just_answered == name
            again = self.ask(name, thread[:-1], cut)
            if held and again.stats.cached_tokens < again.stats.prompt_tokens:
                assert again.stats.cached_tokens == again.stats.prompt_tokens - 1

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat, branch=st.integers(0, 9))
    def switch_branch(self, chat: int, branch: int) -> None:
        name = self.pick(chat)
        self.active[name] = branch % len(self.branches[name])
        self.just_answered = ""

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat, draft=any_text, looks=st.integers(0, 8))
    def read_ahead(self, chat: int, draft: str, looks: int) -> None:
        name = self.pick(chat)
        request = ChatRequest("ahead", (*self.thread(name), Message("user", draft)), PARAMS, conversation_id=name)
        self.engine.prefill_ahead(request, Impatient(looks))
        self.just_answered = ""

    @precondition(lambda self: self.branches)
    @rule()
    def let_it_save(self) -> None:
        assert self.store.settle(30)

    @precondition(lambda self: self.branches)
    @rule()
    def run_out_of_memory(self) -> None:
        self.store.drop_memory()
        self.just_answered = ""

    @precondition(lambda self: self.branches)
    @rule(chat=any_chat)
    def forget(self, chat: int) -> None:
        self.engine.forget(self.pick(chat))
        self.just_answered = ""

    @precondition(lambda self: self.branches)
    @rule()
    def restart(self) -> None:
        self.engine.unload()
        self.open()
        self.just_answered = ""


def run(subject: Subject, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        lambda: Conversations(subject),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )


@pytest.mark.parametrize("subject", SUBJECTS, ids="-".join, indirect=True)
def test_no_sequence_changes_a_token(subject):
    run(subject, examples=15, steps=15)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("subject", SUBJECTS, ids="-".join, indirect=True)
def test_no_long_sequence_changes_a_token(subject):
    run(subject, examples=40, steps=30)
