"""Replies held to a JSON schema: whatever the model likes to say, what it says is JSON of that schema."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch

from engine.config import GREEDY, SamplingParams
from engine.errors import BadRequest
from engine.sampler import Sampler
from tests.engine.fakes import loquat_tokenizer

SIZE = 260  # two more logits than there are tokens
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def reply(schema: object, params: SamplingParams) -> str:
    """What a model without any preference says under this schema."""
    tokenizer = loquat_tokenizer()
    constraint = tokenizer.vocabulary(SIZE).constraint(json.dumps(schema))
    sampler = Sampler(params, SIZE, constraint=constraint)
    generator = torch.Generator().manual_seed(1)
    ids: list[int] = []
    while not ids or ids[-1] not in tokenizer.end_ids:
        ids.append(sampler(torch.randn(SIZE, generator=generator)))
    return tokenizer.decode(ids)


@pytest.mark.parametrize("seed", range(10))
def test_chance_writes_json_of_the_schema(seed):
    said = json.loads(reply(PERSON, SamplingParams(temperature=1.0, seed=seed)))
    assert set(said) == {"name", "age"}
    assert len(said["name"]) <= 8
    assert 0 <= said["age"] <= 150


def test_greedy_decoding_takes_the_likeliest_that_is_allowed():
    assert reply({"enum": ["only this"]}, GREEDY) == '"only this"'


def test_penalties_and_biases_do_not_lead_out_of_the_schema():
    params = dataclasses.replace(GREEDY, logit_bias=((0, 100.0),), presence_penalty=2.0)
    assert reply({"enum": ["aaaaaa"]}, params) == '"aaaaaa"'


@pytest.mark.parametrize(
    "schema",
    ["[]", '{"type": "nonsense"}', '{"type": "string", "pattern": "("}', '{"$ref": "http://example.org/schema"}', "{"],
)
def test_what_is_no_usable_schema_is_refused_in_a_sentence(schema):
    with pytest.raises(BadRequest, match=r"^The JSON schema cannot be used: .+\.$"):
        loquat_tokenizer().vocabulary(SIZE).constraint(schema)


def test_a_model_without_an_end_cannot_follow_a_schema():
    tokenizer = loquat_tokenizer()
    tokenizer.end_ids = frozenset()
    with pytest.raises(BadRequest, match="no token that ends a reply"):
        tokenizer.vocabulary(SIZE).constraint("{}")


def test_a_token_is_known_as_bytes():
    tokenizer = loquat_tokenizer()
    vocabulary = tokenizer.vocabulary(SIZE)
    assert [vocabulary.token_bytes(token_id) for token_id in tokenizer.encode("aé")] == [b"a", b"\xc3", b"\xa9"]
