"""The catalogue that ships, all of it, and how strictly it is read."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from typing import Any

import pytest

from engine.config import SamplingParams
from engine.models.catalogue import DEFAULT_MODEL, CatalogueEntry, catalogue, find, read_catalogue
from engine.models.gguf_config import ARCHITECTURES

TEXT = files("engine.models").joinpath("catalogue.json").read_text(encoding="utf-8")
GGUF_NAMES = {"gemma3_text": "gemma3"}


def parameters_of(config: dict[str, Any]) -> int:
    """Weights of a decoder of these sizes, counted by hand; biases and norms of its family included."""
    kind, layers, hidden = config["model_type"], config["num_hidden_layers"], config["hidden_size"]
    heads, kv, head = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    qkv = (heads + 2 * kv) * head
    layer = hidden * (qkv + heads * head + 3 * config["intermediate_size"] + 2)
    layer += 2 * hidden if kind.startswith("gemma") else 0
    layer += {"qwen2": qkv, "qwen3": 2 * head, "gemma3_text": 2 * head}.get(kind, 0)
    words = hidden * config["vocab_size"] * (1 if config["tie_word_embeddings"] else 2)
    return layers * layer + words + hidden


def test_there_are_about_twenty_five_from_135_m_to_14_b() -> None:
    sizes = sorted(entry.parameters for entry in catalogue())
    assert 25 <= len(sizes) <= 32
    assert sizes[0] < 140e6
    assert 14e9 < sizes[-1] < 15e9


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_each_entry_agrees_with_itself(entry: CatalogueEntry) -> None:
    assert entry.parameters == parameters_of(dict(entry.config))
    assert GGUF_NAMES.get(entry.config["model_type"], entry.config["model_type"]) in ARCHITECTURES
    assert entry.good_at.endswith(".") and len(entry.good_at) < 100
    assert entry.licence.url.startswith("https://")
    SamplingParams(**dict(entry.sampling))  # type: ignore[arg-type]
    assert entry.name == entry.name.lower()
    # Between four bits and eight, with the vocabulary's eight and the tokenizer.
    assert entry.nbytes is not None
    assert 4.7 < 8 * entry.nbytes / entry.parameters < 8.8


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_a_draft_is_smaller_and_has_the_same_words(entry: CatalogueEntry) -> None:
    if entry.draft:
        draft = find(entry.draft)
        assert draft is not None
        assert draft.parameters < entry.parameters
        # Qwen2.5 of 7 B and more pads its embedding further; the words are the same.
        assert abs(draft.config["vocab_size"] - entry.config["vocab_size"]) <= 128


def test_the_default_model_is_one_of_them_and_comes_as_a_package() -> None:
    entry = find(DEFAULT_MODEL.name)
    assert entry is not None
    assert entry.wheel == DEFAULT_MODEL
    assert entry.nbytes == DEFAULT_MODEL.nbytes
    assert entry.sources[0].files[0].sha256 == DEFAULT_MODEL.sha256
    assert find("no-such-model") is None


def changed(**changes: object) -> str:
    """The catalogue with keys of its first model changed; None takes one away."""
    data = json.loads(TEXT)
    first = data["models"][0]
    for key, value in changes.items():
        if value is None:
            del first[key]
        else:
            first[key] = value
    return json.dumps(data)


SOURCE = json.loads(TEXT)["models"][0]["sources"][0]


@pytest.mark.parametrize(
    "changes",
    [
        {"label": None},
        {"surprise": 1},
        {"parameters": "135 M"},
        {"parameters": True},
        {"languages": []},
        {"licence": "none"},
        {"draft": "no-such-model"},
        {"draft": "smollm2-135m-instruct"},
        {"sampling": {"heat": 1.0}},
        {"name": "qwen3-4b"},
        {"sources": []},
        {"sources": [{**SOURCE, "repo": "https://example.org/x"}]},
        {"sources": [{**SOURCE, "revision": "main"}]},
        {"sources": [{**SOURCE, "format": "pickle"}]},
        {"sources": [{**SOURCE, "files": []}]},
        {"sources": [{**SOURCE, "files": [{"path": "../x.gguf"}]}]},
        {"sources": [{**SOURCE, "files": [{"path": "x.gguf", "nbytes": 0}]}]},
        {"sources": [{**SOURCE, "files": [{"path": "x.gguf", "sha256": "abc"}]}]},
    ],
    ids=lambda changes: str(changes)[:50],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises((ValueError, LookupError)):
        read_catalogue(changed(**copy.deepcopy(changes)))


def test_unknown_sizes_and_checksums_are_allowed() -> None:
    entries = read_catalogue(changed(sources=[{**SOURCE, "files": [{"path": "x.gguf"}]}], wheel=None))
    assert entries[0].nbytes is None
    assert entries[0].file == "x.gguf"
