"""Prompts that are answered together get the answers that they get alone, in whichever order they end."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from engine.batch import DecodesMany, answer_all, best_size
from engine.batch_values import Answer, Prompt
from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig, SamplingParams
from engine.events import FinishReason
from engine.loader import LoadedModel, load_model
from engine.models.registry import Registry
from tests.engine.fakes import FakeRunner, engine_with

QUESTIONS = [f"Question {n}: " + "and so on " * (n % 5) for n in range(23)]


@pytest.fixture(scope="module")
def model(tiny_model, tmp_path_factory) -> LoadedModel:
    folder = tiny_model("llama", max_position_embeddings=512)
    entry = Registry(folder.parent).find(folder.name)
    config = EngineConfig(device="cpu", dtype="int8", threads=1, save_caches=False)
    return load_model(entry, config, tmp_path_factory.mktemp("cache"))


def prompts(*, params: SamplingParams = GREEDY) -> list[Prompt]:
    return [
        Prompt(n, ChatRequest(str(n), (Message("user", text),), dataclasses.replace(params, max_tokens=3 + n % 10)))
        for n, text in enumerate(QUESTIONS)
    ]


def answers(model: LoadedModel, size: int, asked: list[Prompt]) -> dict[int, Answer]:
    made = list(answer_all(model, asked, size))
    assert len(made) == len(asked)
    return {answer.index: answer for answer in made}


def test_the_compiled_kernels_take_many(model) -> None:
    assert isinstance(model.runner, DecodesMany)
    assert best_size(model, None) > 1 and best_size(model, 3) == 3 and best_size(model, 1000) == 128


@pytest.mark.parametrize("size", [2, 5, 16, 64])
def test_answers_do_not_depend_on_how_many_are_made_at_once(model, size: int) -> None:
    assert answers(model, size, prompts()) == answers(model, 1, prompts())


def test_sampling_with_a_seed_does_not_either(model) -> None:
    params = SamplingParams(seed=7, temperature=1.0)
    together, alone = answers(model, 8, prompts(params=params)), answers(model, 1, prompts(params=params))
    assert together == alone and len({answer.text for answer in together.values()}) > 5


def test_stop_strings_and_lengths_end_answers(model) -> None:
    free = answers(model, 4, prompts())
    assert {answer.reason for answer in free.values()} <= {FinishReason.LENGTH, FinishReason.END}
    text = max((answer.text for answer in free.values()), key=len)
    stop = text[len(text) // 2 :][:3]
    stopped = answers(model, 4, prompts(params=dataclasses.replace(GREEDY, stop=(stop,))))
    assert any(answer.reason is FinishReason.STOP for answer in stopped.values())
    assert not any(stop in answer.text for answer in stopped.values())
    assert stopped == answers(model, 1, prompts(params=dataclasses.replace(GREEDY, stop=(stop,))))


def test_a_prompt_that_cannot_be_answered_holds_up_no_other(model) -> None:
    asked = prompts()[:4]
    long = ChatRequest("long", (Message("user", "word " * 5000),), GREEDY, overflow="stop")
    empty = ChatRequest("empty", (Message("user", " "),), GREEDY)
    asked[1:1] = [Prompt(90, long), Prompt(91, empty)]
    for size in (1, 4):
        made = answers(model, size, asked)
        assert "can hold 512" in made[90].error and "empty" in made[91].error
        assert all(made[prompt.index].reason for prompt in asked if prompt.index < 90)


def test_sequences_wait_for_memory(model, monkeypatch) -> None:
    expected = answers(model, 1, prompts())
    monkeypatch.setattr(model.store, "_budget", 60 * model.runner.kv_bytes_per_token)
    assert answers(model, 16, prompts()) == expected


def test_no_more_prompts_are_taken_than_there_is_room_for(model) -> None:
    taken: list[int] = []

    def asked():
        for prompt in prompts():
            taken.append(prompt.index)
            yield prompt

    made = answer_all(model, asked(), 4)
    next(made)
    assert len(taken) <= 6


def test_a_runner_that_takes_one_at_a_time_is_asked_so() -> None:
    fake = engine_with(FakeRunner())._model
    assert best_size(fake, 8) == 1
    torch.manual_seed(0)
    assert len(answers(fake, 8, prompts()[:3])) == 3
