"""Sampling against transformers' own logits processors, and its bounds."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig, SamplingParams
from engine.engine import Engine
from engine.errors import BadModelFile, BadRequest
from engine.models.registry import Registry
from engine.sampler import Sampler, candidates

CASES = [
    SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
    SamplingParams(temperature=0.5, top_k=10, top_p=1.0, min_p=0.0),
    SamplingParams(temperature=1.3, top_k=0, top_p=0.7, min_p=0.0),
    SamplingParams(temperature=0.8, top_k=0, top_p=1.0, min_p=0.1),
    SamplingParams(temperature=0.7, top_k=40, top_p=0.9, min_p=0.05),
]


def reference(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """The same distribution by transformers' processors, in generate()'s order."""
    chain = transformers.LogitsProcessorList([transformers.TemperatureLogitsWarper(params.temperature)])
    if params.top_k:
        chain.append(transformers.TopKLogitsWarper(params.top_k))
    if params.top_p < 1:
        chain.append(transformers.TopPLogitsWarper(params.top_p))
    if params.min_p:
        chain.append(transformers.MinPLogitsWarper(params.min_p))
    return chain(None, logits[None])[0].softmax(-1)


@pytest.mark.parametrize("params", CASES)
def test_the_distribution_is_that_of_transformers(params):
    logits = torch.randn(500, generator=torch.Generator().manual_seed(3)) * 3
    ids, probabilities = candidates(logits, params)
    mine = torch.zeros(500).scatter(0, ids, probabilities)
    assert torch.allclose(mine, reference(logits, params), atol=1e-6)


def test_greedy_takes_the_likeliest():
    logits = torch.tensor([0.0, 3.0, 1.0])
    assert Sampler(GREEDY, 3)(logits) == 1


@pytest.mark.parametrize("temperature", [5e-324, 1e-40, 1e-9])
def test_next_to_no_temperature_is_none(temperature):
    logits = torch.tensor([-20.0, 30.0, 29.999])
    assert Sampler(SamplingParams(temperature=temperature), 3)(logits) == 1


def test_repetition_penalty_is_that_of_transformers():
    logits = torch.tensor([2.0, -1.0, 1.9, 0.0])
    params = SamplingParams(temperature=0.0, repetition_penalty=1.5)
    wanted = transformers.RepetitionPenaltyLogitsProcessor(1.5)(torch.tensor([[0, 1]]), logits[None])[0]
    sampler = Sampler(params, 4, seen=[0, 1])
    assert torch.equal(sampler._penalised(logits), wanted)
    assert sampler(logits) == 2
    assert sampler(logits) == 0  # now 2 is penalised as well: 1.9 / 1.5 < 2.0 / 1.5


def test_one_token_always_stays():
    ids, probabilities = candidates(torch.zeros(9), SamplingParams(temperature=1.0, top_k=0, top_p=0.0, min_p=1.0))
    assert probabilities.sum() == 1
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("field", "value", "bound"),
    [("temperature", -1, "0"), ("top_p", 1.5, "1"), ("min_p", 2, "1"), ("top_k", -3, "0"), ("max_tokens", 0, "1")],
)
def test_a_value_out_of_bounds_names_the_bound(field, value, bound):
    with pytest.raises(ValueError, match=rf"{field}.*{bound}"):
        SamplingParams(**{field: value})


def test_an_empty_stop_string_is_refused():
    with pytest.raises(ValueError, match="stop"):
        SamplingParams(stop=("",))


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(), SamplingParams(repetition_penalty=1.3)])
@pytest.mark.parametrize("wrong", [[0.0, torch.nan, 1.0], [0.0, torch.inf, 1.0], [torch.nan] * 3, [-torch.inf] * 3])
def test_logits_that_say_nothing_are_refused_in_a_sentence(params, wrong):
    with pytest.raises(BadModelFile, match=r"^The model's weights hold values that are no numbers.*\.$"):
        Sampler(params, 3)(torch.tensor(wrong))


@pytest.mark.parametrize("params", [GREEDY, SamplingParams()])
def test_a_token_that_the_model_rules_out_is_never_taken(params):
    assert {Sampler(params, 3)(torch.tensor([-torch.inf, 2.0, -torch.inf])) for _ in range(20)} == {1}


def test_a_model_with_a_weight_that_is_no_number_answers_with_that_sentence(tiny_model, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(tiny_model("llama"), folder)
    weights = load_file(folder / "model.safetensors")
    weights["model.layers.1.mlp.down_proj.weight"][3, 5] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = EngineConfig(device="cpu", dtype="float32", save_caches=False)
    engine = Engine(config, tmp_path / "cache")
    engine.load(Registry(tmp_path).find("broken"))
    with pytest.raises(BadModelFile, match="no numbers"):
        list(engine.stream(ChatRequest("r", (Message("user", "Hello"),), GREEDY, conversation_id="c")))
    engine.unload()


def taken(params: SamplingParams, logits, count: int, **more) -> list[int]:
    sampler = Sampler(params, len(logits), **more)
    return [sampler(torch.tensor(logits)) for _ in range(count)]


def test_a_presence_penalty_counts_once_and_a_frequency_penalty_each_time():
    logits = [3.0, 2.5, 0.0]
    assert taken(dataclasses.replace(GREEDY, presence_penalty=1.0), logits, 4) == [0, 1, 0, 0]
    assert taken(dataclasses.replace(GREEDY, frequency_penalty=1.0), logits, 4) == [0, 1, 0, 1]


def test_the_prompts_tokens_are_not_penalised_for_standing_in_the_reply():
    assert taken(dataclasses.replace(GREEDY, presence_penalty=2.0), [3.0, 2.5], 1, seen=[0]) == [0]


def test_a_bias_is_added_and_one_for_no_token_is_refused():
    assert taken(dataclasses.replace(GREEDY, logit_bias=((2, 4.0), (0, -100.0))), [3.0, 2.5, 0.0], 1) == [2]
    with pytest.raises(BadRequest, match=r"token 3, but the model has tokens 0 to 2"):
        Sampler(dataclasses.replace(GREEDY, logit_bias=((3, 1.0),)), 3)


def test_log_probabilities_are_those_of_the_model_whatever_is_done_to_the_logits():
    params = dataclasses.replace(GREEDY, logprobs=2, logit_bias=((2, 50.0),))
    sampler = Sampler(params, 3)
    logits = torch.tensor([3.0, 2.0, 1.0])
    assert sampler(logits) == 2
    expected = logits.log_softmax(-1).tolist()
    assert sampler.scores.logprob == pytest.approx(expected[2])
    assert [token_id for token_id, _ in sampler.scores.top] == [0, 1]
    assert [value for _, value in sampler.scores.top] == pytest.approx(expected[:2])


@pytest.mark.parametrize(
    ("field", "value"),
    [("presence_penalty", 3), ("frequency_penalty", -3), ("logprobs", 21), ("logit_bias", ((1, 101),))],
)
def test_a_new_value_out_of_bounds_names_the_bound(field, value):
    with pytest.raises(ValueError, match=rf"{field} must be between"):
        SamplingParams(**{field: value})
