"""The benches of kept caches over tiny models: every promised figure is there and can fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine import cli
from engine.bench.crowd import Crowd, bench_crowd
from engine.bench.paste import Desk, paste_figure
from engine.bench.talk import Talk
from engine.bench.turns import Sizes, bench_turns
from engine.config import EngineConfig
from engine.engine import Engine
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from engine.tokenizer import load_tokenizer
from tests.engine.fakes import FakeRunner, engine_with, loquat_tokenizer

ONE = EngineConfig(device="cpu", threads=1)
SMALL = Sizes(history=350, question=40, reply=8, system=60, cancelled=1600, pasted=300)


@pytest.fixture
def entry(tiny_model: Callable[..., Path], loquat_home: Paths) -> ModelEntry:
    shutil.copytree(tiny_model("llama", max_position_embeddings=2048), loquat_home.models / "tiny-llama")
    return Registry(loquat_home.models).find("tiny-llama")


def test_every_figure_is_there(entry: ModelEntry, loquat_home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.bench.turns.paste_figure", lambda *arguments: paste_figure(*arguments, typing_s=0.3))
    report = bench_turns(entry, loquat_home, ONE, runs=1, sizes=SMALL)
    figures = {figure.name: figure for figure in report.figures}
    assert list(figures) == [
        "turn8", "switched", "restarted", "regenerate", "system", "cancel", "cancel_reused", "paste",
    ]  # fmt: skip
    assert report.about["turn 8"] == "390 tokens, 40 of them new"
    for name in ("turn8", "switched", "restarted", "system", "paste"):
        values = figures[name].values
        assert values["ratio"] == values["reuse"] / values["fresh"]
        assert values["reuse"] > 0
    assert (
        figures["regenerate"].values["ratio"]
        == figures["regenerate"].values["reuse"] / figures["regenerate"].values["step"]
    )
    assert not list(loquat_home.cache.glob("kv/*/*"))  # caches went to a folder of their own


def test_sizes_shrink_with_the_context() -> None:
    assert Sizes().within(8192) == Sizes()
    small = Sizes().within(1064)
    assert small.cancelled == 750
    assert small.history == 1300 * 750 // 4000
    assert small.history + small.question < 1000


def talk_over(runner: FakeRunner) -> Talk:
    return Talk(engine_with(runner, budget=1 << 24), loquat_tokenizer())


def test_a_conversation_keeps_the_ids_of_its_replies() -> None:
    messages = talk_over(FakeRunner()).converse("c", turns=3, question=30, reply=5)
    assert [message.role for message in messages] == ["user", "assistant"] * 3
    assert all(len(message.token_ids) == 5 for message in messages[1::2])
    assert len({message.content for message in messages[::2]}) == 3


def test_cancelling_tells_what_was_read_and_the_next_request_finds_it() -> None:
    pause = []

    def slow(ids: Sequence[int]) -> None:
        pause.append(sum(n * n for n in range(20_000)))  # about a millisecond, as a model would take

    talk = talk_over(FakeRunner(before=slow))
    messages = [talk.question(3000)]
    done = talk.cancel(messages, "c", delay_s=0.0)
    assert done is not None
    assert 750 <= done.read < 3000
    assert done.stop_s < 0.5
    assert talk.ask(messages, "c").stats.cached_tokens == done.read


def test_a_prefill_that_was_over_sooner_is_no_figure() -> None:
    talk = talk_over(FakeRunner())
    assert talk.cancel([talk.question(100)], "c", delay_s=0.5) is None


def test_the_pasted_text_is_read_ahead(entry: ModelEntry, loquat_home: Paths) -> None:
    tokenizer = load_tokenizer(entry.folder)
    figure = paste_figure(Desk(entry, loquat_home, ONE), tokenizer, pasted=1500, runs=1, typing_s=0.5)
    assert figure.values["ratio"] < 0.8


def test_many_conversations_stay_within_their_budget_and_are_right(entry: ModelEntry) -> None:
    report = bench_crowd(entry, ONE, Crowd(conversations=5, tokens=300, budget=1 << 20))
    figures = {figure.name: figure for figure in report.figures}
    assert figures["right"].values == {"measured": 5, "limit": 5}
    assert figures["resident"].values["limit"] == 1.1
    assert figures["reused"].values["measured"] > 0.7


def test_the_crowds_arithmetic_can_fail(entry: ModelEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that answers another question with reuse gets no answer right."""
    stream = Engine.stream

    def confused(engine: Engine, request, handle=None):
        if request.reuse and len(request.messages) > 1:
            request = type(request)(
                **{**{f: getattr(request, f) for f in request.__slots__}, "messages": request.messages[-1:]}
            )
        return stream(engine, request, handle)

    monkeypatch.setattr(Engine, "stream", confused)
    report = bench_crowd(entry, ONE, Crowd(conversations=3, tokens=300, budget=1 << 20))
    right = next(figure for figure in report.figures if figure.name == "right")
    assert right.held is False


def test_the_command_prints_json(entry: ModelEntry, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--memory", "--conversations", "2", "--tokens", "200", "--budget", "1MiB", "--threads", "1", "--json"]
    assert cli.main(["bench", "turns", *arguments]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["load"] == "2 conversations of 200 tokens in 1.00 MiB"
    assert made["figures"]["right"]["held"] is True


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["walk"],
        ["turns", "--runs", "0"],
        ["turns", "--budget", "x"],
        ["prefill", "--tokens", "1"],
        ["start", "--gguf", "no"],
        ["decode", "--text", "/no/such/text"],
        ["prefill", "--text", "/dev/null"],
    ],
    ids=" ".join,
)
def test_bad_values_get_one_sentence(
    entry: ModelEntry, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert cli.main(["bench", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1].endswith(".")
