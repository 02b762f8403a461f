"""What is foretold of a model that is not here, beside what real files and imported models take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import BadModelFile
from engine.formats import choose_format
from engine.models.catalogue import CatalogueEntry, catalogue, find
from engine.models.foretold import file_type, foretold_file, foretold_shape
from engine.models.shape import read_shape
from tests.tiny_models import FAMILIES

INT4 = choose_format("cpu", "int4")[0]


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_the_sizes_of_real_files_are_foretold_up_to_their_tokenizer(entry: CatalogueEntry) -> None:
    """29 files by four makers: it holds only if shape, format and the mix of formats in the file are right."""
    assert entry.nbytes is not None
    tokenizer = entry.nbytes - foretold_file(entry.config, file_type(entry.file))
    assert 20 < tokenizer / entry.config["vocab_size"] < 65


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_a_models_numbers_are_counted(entry: CatalogueEntry) -> None:
    shape = foretold_shape(entry.config, file_type(entry.file))
    assert shape.matrices + shape.embeddings + shape.vectors == entry.parameters
    assert shape.context_limit == entry.context


def test_what_an_import_packs_is_foretold() -> None:
    """Of the real files; imported, they took so many bytes, with a header of a few kilobytes."""
    default, gemma = find("smollm2-135m-instruct"), find("gemma-3-270m-it")
    assert default is not None
    assert gemma is not None
    assert foretold_shape(default.config, "Q4_1").weights(INT4) == pytest.approx(96_597_952, rel=0.001)
    assert foretold_shape(gemma.config, "Q4_K_M").weights(INT4) == pytest.approx(274_769_856, rel=0.001)


@pytest.mark.parametrize("architecture", FAMILIES)
def test_a_config_foretells_what_its_checkpoint_has(architecture: str, tiny_model: Callable[..., Path]) -> None:
    folder = tiny_model(architecture)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config.setdefault("tie_word_embeddings", architecture.startswith("gemma"))
    real, foretold = read_shape(folder), foretold_shape(config, "F32")
    names = ("layers", "heads", "kv_heads", "head_dim", "hidden", "vocabulary", "context_limit", "softcapped", "ropes")
    assert [getattr(foretold, name) for name in names] == [getattr(real, name) for name in names]
    assert foretold.matrices == real.matrices
    assert foretold.embeddings == real.embeddings
    assert foretold.vectors == real.vectors


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-3b-instruct-q4_k_m-00001-of-00002.gguf", "Q4_K_M"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"),
        ("model-BF16.gguf", "BF16"),
        ("x-IQ4_NL.gguf", "IQ4_NL"),
        ("x.Q6_K.gguf", "Q6_K"),
        ("llama.gguf", ""),
    ],
)
def test_a_files_name_tells_its_format(name: str, kind: str) -> None:
    assert file_type(name) == kind


def test_what_is_around_the_text_model_is_left_out() -> None:
    entry = find("gemma-3-4b-it")
    assert entry is not None
    text = {key: value for key, value in entry.config.items() if key != "model_type"}
    whole = {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 1152}}
    assert foretold_shape(whole, "BF16") == foretold_shape(entry.config, "BF16")


@pytest.mark.parametrize(
    "changes",
    [{"hidden_size": "wide"}, {"num_attention_heads": 0}, {"vocab_size": None}, {"num_hidden_layers": 10**9}],
)
def test_sizes_that_make_no_sense_are_refused(changes: dict[str, object]) -> None:
    entry = find("qwen3-0.6b")
    assert entry is not None
    config = {**entry.config, "head_dim": None, **changes}
    with pytest.raises(BadModelFile):
        foretold_shape(config, "Q8_0")
