from __future__ import annotations

import json

import pytest

from engine.errors import BadModelFile
from engine.models.own_sampling import own_sampling


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (
            {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "eos_token_id": 2},
            {"temperature": 0.6, "top_k": 20, "top_p": 0.95},
        ),
        ({"temperature": 0.6}, {"temperature": 0.6}),
        ({"do_sample": False, "temperature": 0.6}, {}),
        ({"temperature": -3}, {}),
        ({"temperature": "hot", "top_k": True, "min_p": None}, {}),
        ({}, {}),
    ],
)
def test_what_the_makers_say_is_read_where_it_can_be_used(tmp_path, given, found):
    (tmp_path / "generation_config.json").write_text(json.dumps(given))
    assert dict(own_sampling(tmp_path)) == found


def test_without_the_file_they_say_nothing(tmp_path):
    assert own_sampling(tmp_path) == ()


def test_a_damaged_file_is_said(tmp_path):
    (tmp_path / "generation_config.json").write_text("[1]")
    with pytest.raises(BadModelFile):
        own_sampling(tmp_path)


def test_the_catalogue_stands_in_for_a_file_that_says_nothing(tmp_path):
    assert dict(own_sampling(tmp_path, "qwen3-4b")) == {"temperature": 0.6, "top_k": 20, "top_p": 0.95}
    (tmp_path / "generation_config.json").write_text(json.dumps({"temperature": 0.3}))
    assert dict(own_sampling(tmp_path, "qwen3-4b")) == {"temperature": 0.3}
