"""Which model may draft for which: of one family, whatever their lists of tokens are filled up with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.decoder import load_decoder
from engine.draft_model import DraftModel, ModelDrafts
from engine.errors import BadRequest
from engine.models.draft import check_pair
from engine.models.model_folder import CONFIG, TOKENIZER
from engine.models.registry import ModelEntry, Registry


def padded(folder: Path) -> None:
    """Fill the list of tokens up to the rows of the embedding, as llama.cpp's converter does."""
    path = folder / TOKENIZER
    content, rows = json.loads(path.read_text()), json.loads((folder / CONFIG).read_text())["vocab_size"]
    vocabulary = content["model"]["vocab"]
    vocabulary |= {f"[PAD{index}]": index for index in range(len(vocabulary), rows)}
    path.write_text(json.dumps(content))


@pytest.fixture
def family(tiny_model: Callable[..., Path], tmp_path: Path) -> tuple[ModelEntry, ModelEntry]:
    """A large model and a small one: Qwen2.5 has 151,936 rows in its small sizes, and 152,064 from 7 B on."""
    for name, rows in (("large", 300), ("small", 280)):
        shutil.copytree(tiny_model("qwen2", num_hidden_layers=1, vocab_size=rows), tmp_path / name)
        padded(tmp_path / name)
    return Registry(tmp_path).find("large"), Registry(tmp_path).find("small")


def test_a_larger_model_whose_tokens_are_filled_up_further_is_drafted_for(
    family: tuple[ModelEntry, ModelEntry],
) -> None:
    large, small = family
    check_pair(large, small)
    with pytest.raises(BadRequest, match="cannot draft for"):  # it could guess what is no row of the other
        check_pair(small, large)


def test_nothing_is_guessed_behind_a_token_that_the_draft_model_does_not_have(
    family: tuple[ModelEntry, ModelEntry],
) -> None:
    model = DraftModel("small", load_decoder(family[1].folder))
    drafts = ModelDrafts(model, [5, 290, 7])
    drafts.decoded(10.0)
    assert drafts.guess() == [] and model.cache.ids == []
    drafts = ModelDrafts(model, [5, 6, 7])
    drafts.decoded(10.0)
    drafts.guess()
    assert list(model.cache.ids[:3]) == [5, 6, 7]
    drafts.push(290)
    assert drafts.guess() == []
