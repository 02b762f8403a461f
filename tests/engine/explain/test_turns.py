"""Traces of turns through the engine: the parts of the time, and faults that are put in and must be named."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.engine import Engine
from engine.errors import BadRequest, ModelNotFound
from engine.events import Finished, PrefillProgress, TextDelta
from engine.explain.figures import figures, unaccounted
from engine.explain.stalls import Evidence, explain
from engine.explain.trace import TICK_MS, Phases, StallCause, TurnTrace, Usage, from_json, to_json
from engine.explain.verdict import VerdictKind, verdict
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from tests.engine.fakes import FakeRunner, engine_with

QUESTION = Message("user", "Why is the sky blue?")


def request(messages: Sequence[Message] = (QUESTION,), tokens: int = 12, **fields: object) -> ChatRequest:
    params = SamplingParams(temperature=0.0, max_tokens=tokens)
    fields = {"conversation_id": "c", "speculate": False, **fields}
    return ChatRequest("r", tuple(messages), params, **fields)


def answer(engine: Engine, messages: Sequence[Message] = (QUESTION,), tokens: int = 12, **fields: object) -> Finished:
    *_, last = engine.stream(request(messages, tokens, **fields))
    assert isinstance(last, Finished) and last.trace is not None
    assert from_json(to_json(last.trace)) == last.trace
    return last


def during(call: int, action: Callable[[], object], usual_s: float = 0.001) -> FakeRunner:
    """A model that takes a moment for each pass, and does something else in one of them."""
    calls = itertools.count()

    def before(_ids: Sequence[int]) -> None:
        if next(calls) == call:
            action()
        else:
            time.sleep(usual_s)

    return FakeRunner(before=before)


def decode_passes(engine: Engine) -> int:
    """Passes of a prefill of QUESTION: the next one is the first step of decode."""
    prompt = engine._model.prompt.encode(request())
    return -(-len(prompt) // 16)


PREFILL = decode_passes(engine_with(FakeRunner()))


def test_the_parts_sum_to_the_wall_time_on_twenty_turns():
    engine = engine_with(FakeRunner(before=lambda ids: time.sleep(0.0005 * len(ids))))
    messages: list[Message] = []
    for n in range(20):
        messages.append(Message("user", f"Question {n}. " * (1 + 7 * (n % 5))))
        if n % 6 == 5:
            messages[-3] = Message("user", f"Edited {n}")
        started = time.perf_counter()
        waited = dataclasses.replace(request(messages, 1 + 3 * n), submitted_at=time.perf_counter() - 0.02 * (n % 4))
        *_, last = engine.stream(waited)
        trace = last.trace
        took = time.perf_counter() - started + 0.02 * (n % 4)
        assert abs(unaccounted(trace)) < 0.03
        assert trace.token_times[-1] * TICK_MS / 1000 - 0.001 <= trace.wall_s <= took
        assert trace.prompt_tokens == trace.cached_tokens + trace.computed_tokens
        assert trace.generated_tokens == len(trace.token_times) == 1 + 3 * n
        messages.append(Message("assistant", last.text, last.token_ids))


def test_the_figures_agree_with_the_turns_statistics():
    last = answer(engine_with(FakeRunner(before=lambda ids: time.sleep(0.001))), tokens=30)
    found = figures(last.trace)
    assert found.ttft_ms == pytest.approx(1000 * last.stats.ttft_s, abs=0.2)
    assert found.engine_rate == pytest.approx(last.stats.decode_tokens_per_s, rel=0.01)
    assert found.tpot_p50_ms == pytest.approx(last.stats.itl_ms.p50, abs=0.2)


def test_a_wait_for_the_model_is_not_a_wait_in_the_queue():
    engine, now = engine_with(FakeRunner()), [4.0]
    engine._clock = engine._explainer._clock = lambda: now[0]
    with engine._explainer.loading():
        now[0] = 4.5
    now[0] = 5.01
    with engine._explainer.loading():  # another one
        now[0] = 5.06
    phases = answer(engine, submitted_at=5.0).trace.phases
    assert phases.load == pytest.approx(0.05)
    assert phases.queue == pytest.approx(0.01)


@pytest.mark.parametrize("lost", [False, True], ids=["never one", "no more"])
def test_a_wait_for_somebody_to_choose_a_model_is_none_in_the_queue(lost):
    engine, now = engine_with(FakeRunner()), [1.0]
    engine._clock = engine._explainer._clock = lambda: now[0]
    if lost:
        with engine._explainer.loading():
            now[0] = 2.0
        engine._explainer.unloaded()
    now[0] = 8.0
    with pytest.raises(ModelNotFound), engine._explainer.loading():
        raise ModelNotFound("There is none of that name.")
    now[0] = 9.0
    with engine._explainer.loading():  # after it was downloaded
        now[0] = 11.0
    now[0] = 11.5
    phases = answer(engine, submitted_at=5.0).trace.phases
    assert phases.load == pytest.approx(6.0)
    assert phases.queue == pytest.approx(0.5)


def test_the_message_that_each_token_belongs_to():
    engine = engine_with(FakeRunner())
    first = answer(engine, [Message("system", "Be brief."), QUESTION])
    assert [(s.role, s.index) for s in first.trace.segments] == [("system", 0), ("user", 1), ("template", None)]
    frame = "<|im_start|>system\nBe brief."
    assert first.trace.segments[0].tokens == len(frame) - len("<|im_start|>") + 1
    more = [Message("assistant", first.text, first.token_ids), Message("user", "Really?")]
    second = answer(engine, [Message("system", "Be brief."), QUESTION, *more])
    assert sum(s.tokens for s in second.trace.segments) == second.trace.prompt_tokens
    assert sum(s.reused for s in second.trace.segments) == second.trace.cached_tokens
    assert sum(s.computed for s in second.trace.segments) == second.trace.computed_tokens
    reply = second.trace.segments[2]
    assert (reply.role, reply.computed) == ("assistant", 1)  # the last token of a reply is read with the next turn


def test_a_sleep_in_the_decode_loop_is_named():
    trace = answer(engine_with(during(PREFILL + 5, lambda: time.sleep(0.3)))).trace
    assert [(s.index, s.cause) for s in trace.stalls] == [(6, StallCause.SLEPT)]
    assert trace.stalls[0].gap_ms >= 299
    assert verdict(trace).kind is VerdictKind.STALLS
    assert verdict(trace).help == trace.stalls[0].detail


def test_a_consumer_that_does_not_take_the_next_token_is_named():
    tokens = 0
    for event in engine_with(FakeRunner(before=lambda ids: time.sleep(0.001))).stream(request()):
        tokens += isinstance(event, TextDelta)
        if tokens == 6 and isinstance(event, TextDelta):
            time.sleep(0.3)
        last = event
    assert [(s.index, s.cause) for s in last.trace.stalls] == [(6, StallCause.CONSUMER)]


def test_a_garbage_collection_is_named():
    def slow(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            time.sleep(0.3)

    def collect() -> None:
        gc.callbacks.append(slow)
        gc.collect()
        gc.callbacks.remove(slow)

    trace = answer(engine_with(during(PREFILL + 5, collect))).trace
    assert [s.cause for s in trace.stalls] == [StallCause.GARBAGE_COLLECTION]
    assert sum(use.collections for use in trace.usage) >= 1
    assert not [callback for callback in gc.callbacks if "Collections" in repr(callback)]


def compute(seconds: float) -> None:
    """Use the processor for so long, as the process counts it."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_cache_that_moves_is_named():
    class Growing(FakeRunner):
        def new_cache(self):
            cache = super().new_cache()
            kind = type("Doubling", (type(cache),), {"nbytes": property(lambda self: 8 << self.length.bit_length())})
            cache.__class__ = kind
            return cache

    engine = engine_with(Growing())
    prompt = engine._model.prompt.encode(request())
    grows = next(n for n in itertools.count(len(prompt) + 3) if n.bit_count() == 1)  # length at which it doubles
    runner = engine._model.runner
    runner._before = lambda ids: compute(0.3) if len(ids) == 1 and runner.computed + 1 == grows else time.sleep(0.001)
    trace = answer(engine, tokens=grows - len(prompt) + 5).trace
    assert [s.cause for s in trace.stalls] == [StallCause.CACHE_GROWTH]
    assert trace.kv.growths >= 1


def test_room_made_on_a_slow_disk_is_named(tmp_path):
    class Slow(KVDisk):
        def write(self, *args) -> bool:
            time.sleep(0.3)
            return super().write(*args)

    engine = engine_with(FakeRunner())
    disk = Slow(tmp_path, "f" * 64, 1 << 30)
    store = KVStore(engine._model.runner, 8 * 60, disk)
    engine._model = dataclasses.replace(engine._model, store=store)
    answer(engine, [Message("user", "Quite another question.")], conversation_id="other")
    store._writer.pause()
    disk.forget("other")
    trace = answer(engine).trace
    store.close()
    assert trace.kv.spilled_bytes > 0 and trace.kv.spill_s >= 0.3
    assert (trace.stalls[0].index, trace.stalls[0].cause) == (0, StallCause.SPILL)


HOG = "import time\nend = time.time() + 20\nwhile time.time() < end: pass"


@pytest.fixture
def one_processor() -> Iterator[None]:
    """Keep this process, and those it starts, on one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what other processes use")
def test_a_cpu_hog_is_named(one_processor):
    hogs: list[subprocess.Popen[bytes]] = []

    def crowded() -> None:
        hogs.extend(subprocess.Popen([sys.executable, "-c", HOG]) for _ in range(12))
        time.sleep(0.5)
        compute(0.1)
        for hog in hogs:
            hog.kill()

    trace = answer(engine_with(during(PREFILL + 5, crowded, usual_s=0.005))).trace
    for hog in hogs:
        hog.wait()
    assert [s.cause for s in trace.stalls] == [StallCause.OTHER_PROCESS]
    assert "Other programs" in trace.stalls[0].detail
    assert verdict(trace).kind is VerdictKind.OTHER_PROCESS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux drops a file from memory on request")
def test_a_cold_start_is_named(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(1 << 20) * 24)
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        weights = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    weights.madvise(mmap.MADV_RANDOM)  # page by page, as on a slow disk

    def read_all() -> None:
        assert sum(weights[n] for n in range(0, len(weights), mmap.PAGESIZE)) > 0

    trace = answer(engine_with(during(0, read_all))).trace
    weights.close()
    prefill = next(use for use in trace.usage if use.phase == "prefill")
    assert prefill.major_faults > 3000
    assert trace.model.turns_before == 0
    quiet = tuple(dataclasses.replace(use, others_cpu_s=0.0) for use in trace.usage)  # of other tests on this machine
    found = verdict(dataclasses.replace(trace, usage=quiet))
    assert found.kind is VerdictKind.COLD_START and "first answer" in found.sentence


def test_a_turn_cancelled_before_its_first_token_has_a_trace():
    handle = RequestHandle("r")
    events = engine_with(FakeRunner(before=lambda ids: time.sleep(0.002))).stream(request(), handle)
    last = None
    for event in events:
        if isinstance(event, PrefillProgress) and event.done:
            handle.cancel()
        last = event
    trace = last.trace
    assert (trace.reason, trace.token_times, trace.generated_tokens) == ("cancelled", (), 0)
    assert 0 < trace.computed_tokens < trace.prompt_tokens
    assert abs(unaccounted(trace)) < 0.03
    assert figures(trace).ttft_ms is None
    assert verdict(trace).sentence


def test_a_reply_of_one_token():
    trace = answer(engine_with(FakeRunner()), tokens=1).trace
    assert len(trace.token_times) == 1 and trace.stalls == ()
    assert figures(trace).engine_rate is None


def test_an_empty_history_is_refused_as_before():
    with pytest.raises(BadRequest):
        list(engine_with(FakeRunner()).stream(request(())))
    assert not [callback for callback in gc.callbacks if "Collections" in repr(callback)]


@pytest.mark.parametrize("jump", [-50.0, 1e6])
@pytest.mark.parametrize("at", range(0, 60, 4))
def test_a_clock_that_jumps_invents_no_number(jump: float, at: int):
    engine = engine_with(FakeRunner())
    reads = itertools.count()
    clock = lambda: time.perf_counter() + (jump if next(reads) >= at else 0.0)  # noqa: E731
    engine._clock = engine._explainer._clock = clock
    *_, last = engine.stream(request(submitted_at=time.perf_counter()))
    trace: TurnTrace = last.trace
    assert all(seconds is None or seconds >= 0 for _, seconds in trace.phases.named())
    assert trace.wall_s is None or trace.wall_s >= 0
    assert verdict(trace).sentence
    if jump < 0:
        assert trace.wall_s is None or at > next(reads) - 2


def test_a_trace_costs_little_a_token():
    """The notes of 2,000 tokens beside none: some 5 us a token, a thousandth of a fast model's step."""
    engine = engine_with(FakeRunner())
    recorder = engine._explainer.begin(engine._model, request())
    with recorder:
        recorder.started()
        recorder.templated()
        recorder.opened(engine._model.store.fresh(), "none", (0, 0.0))
        recorder.prefilled()
        rounds = []
        for _ in range(8):  # other programs may hold some of them up
            began = time.perf_counter()
            for _ in range(250):
                recorder.token(time.perf_counter())
                recorder.resumed()
            rounds.append((time.perf_counter() - began) / 250)
    assert min(rounds) < 40e-6


USAGE = Usage("decode", 0.5, 2, 0.9, 0.0, 0.0, 0, 0)


@pytest.mark.parametrize(
    ("window", "faults", "cause"),
    [
        (dataclasses.replace(USAGE, throttled_s=0.2), 0, StallCause.THROTTLED),
        (dataclasses.replace(USAGE, stolen_s=0.2), 0, StallCause.THROTTLED),
        (dataclasses.replace(USAGE, swapped_in_bytes=1 << 20), 400, StallCause.SWAPPING),
        (USAGE, 400, StallCause.SWAPPING),
        (dataclasses.replace(USAGE, cpu_s=0.5, others_cpu_s=0.5), 0, StallCause.OTHER_PROCESS),
        (dataclasses.replace(USAGE, waited_s=0.3, others_cpu_s=0.5), 0, StallCause.OTHER_PROCESS),
        (USAGE, 0, None),
        (Usage("decode"), None, None),
    ],
)
def test_what_only_some_machines_show_is_told_from_their_counters(window, faults, cause):
    seen = Evidence(4, 0.4, 0.0, 0.35, faults, 0, window)
    stall = explain(seen)
    assert (stall.index, stall.cause, bool(stall.detail)) == (4, cause, cause is not None)


def test_no_phase_is_invented_where_a_turn_never_began():
    assert Phases() == TurnTrace().phases
