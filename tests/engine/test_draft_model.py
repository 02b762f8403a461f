"""A draft model changes how fast a reply comes, never its tokens."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.chat import ChatRequest, Message, RequestHandle
from engine.cli_models import run
from engine.config import EngineConfig, SamplingParams
from engine.draft_model import ModelDrafts
from engine.engine import Engine
from engine.errors import DoesNotFit
from engine.events import Finished
from engine.models.draft import set_draft
from engine.models.model_folder import SOURCE, TOKENIZER
from engine.models.registry import Registry
from engine.paths import Paths
from engine.placing import Placement, place

FLOATS = EngineConfig(device="cpu", dtype="float32", threads=1, save_caches=False)
PARAMS = [
    SamplingParams(temperature=0.0, max_tokens=60),
    SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=5, max_tokens=60),
    SamplingParams(temperature=0.7, seed=11, repetition_penalty=1.2, max_tokens=60),
]
numbers = itertools.count()


@pytest.fixture
def registry(tiny_model: Callable[..., Path], tmp_path: Path) -> Registry:
    """Models "large", "twin" (the same again), "other" (same tokens, other weights)."""
    models = tmp_path / "models"
    for name, source in (
        ("large", tiny_model("llama")),
        ("twin", tiny_model("llama")),
        ("other", tiny_model("qwen2", num_hidden_layers=1)),
    ):
        shutil.copytree(source, models / name)
    return Registry(models)


def loaded(registry: Registry, draft: str | None) -> Engine:
    set_draft(registry.find("large"), registry.find(draft) if draft else None)
    engine = Engine(FLOATS, registry.models_dir.parent / "cache")
    engine.load(registry.find("large"))
    return engine


def ask(engine: Engine, params: SamplingParams, said: str = "hello there") -> Finished:
    request = ChatRequest(f"r{next(numbers)}", (Message("user", said),), params, conversation_id="c")
    last = list(engine.stream(request))[-1]
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize("draft", ["twin", "other"])
@pytest.mark.parametrize("params", PARAMS)
def test_the_tokens_are_those_of_plain_decoding(registry: Registry, params: SamplingParams, draft: str) -> None:
    wanted = ask(loaded(registry, None), params)
    engine = loaded(registry, draft)
    assert engine.info is not None
    assert "drafts by" in engine.info.runner
    for _ in range(2):  # and with what its own cache holds from the first time
        assert ask(engine, params).token_ids == wanted.token_ids


def test_a_draft_that_is_never_right_stops(registry: Registry) -> None:
    engine = loaded(registry, "twin")
    assert engine._model is not None
    assert engine._model.draft is not None
    drafts = ModelDrafts(engine._model.draft, [5, 6, 7])
    assert drafts.guess() == [], "until a plain step was timed, nothing is known of what pays"
    for _ in range(200):
        drafts.push(9)
        if guess := drafts.guess():
            drafts.verified(len(guess), 0, 0.01)
        else:
            drafts.decoded(0.0001)
    assert drafts.accepted == 0
    assert drafts.drafted < 60, "drafting that does not pay pauses, longer each time"


def test_no_token_is_guessed_that_the_large_model_lacks(registry: Registry) -> None:
    engine = loaded(registry, "twin")
    assert engine._model is not None
    assert engine._model.draft is not None
    logits = torch.full((engine._model.runner.vocab_size + 60,), -9.0)
    logits[-1], logits[7] = 9.0, 1.0  # rows behind the last token fill a matrix up, and were never trained
    drafter = engine._model.drafter([5, 6])
    drafter.decoded(10.0)
    engine._model.draft.runner.prefill = lambda *_, **__: logits[None]
    engine._model.draft.runner.decode = lambda *_: logits
    assert set(drafter.guess()) == {7}


def no_memory(*_: object, **__: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


def test_a_draft_that_finds_no_memory_is_left_out(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.draft_loader.choose_runner", no_memory)
    engine = loaded(registry, "twin")
    assert engine.info is not None
    assert "without its draft model: there is no memory for both" in engine.info.runner
    assert ask(engine, PARAMS[0]).token_ids


@pytest.mark.parametrize("moved", [False, True])
def test_a_draft_gives_its_room_to_the_model_it_serves(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    """Where both do not fit, or only with the large one in fewer bits or in part in RAM."""
    asked = []

    def tight(*arguments: Any) -> Placement:
        asked.append(arguments)
        if len(asked) > 1:
            return place(*arguments)
        if moved:
            return dataclasses.replace(place(*arguments), reason="in RAM")
        raise DoesNotFit("There is no room.")

    monkeypatch.setattr("engine.loader.place", tight)
    engine = loaded(registry, "twin")
    assert engine.info is not None
    assert engine._model is not None
    assert engine._model.draft is None
    assert "without its draft model: there is no memory for both" in engine.info.runner
    asked.clear()
    if not moved:
        with pytest.raises(DoesNotFit):  # nothing takes its room
            loaded(registry, None)


def test_a_long_prompt_is_read_a_part_at_a_time(registry: Registry) -> None:
    engine = loaded(registry, "twin")
    assert engine._model is not None
    draft = engine._model.draft
    assert draft is not None
    drafts = ModelDrafts(draft, [n % 250 for n in range(200)])
    drafts.decoded(10.0)
    held = []
    for _ in range(4):
        drafts.guess()
        held.append(len(draft.cache.ids))
    assert held[:3] == [64, 128, 192]
    assert held[3] >= 200


def test_a_model_with_other_tokens_cannot_draft(
    registry: Registry, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    paths = Paths(registry.models_dir.parent, tmp_path / "config", tmp_path / "cache", tmp_path / "logs")
    path = registry.models_dir / "other" / TOKENIZER
    content = json.loads(path.read_text())
    vocabulary = content["model"]["vocab"]
    a, b = list(vocabulary)[40:42]
    vocabulary[a], vocabulary[b] = vocabulary[b], vocabulary[a]
    path.write_text(json.dumps(content))
    assert run(["draft", "large", "other"], paths) == 2
    assert "cannot draft for tiny-llama, as their tokens differ" in capsys.readouterr().err
    assert run(["draft", "large", "large"], paths) == 2
    assert run(["draft", "large", "gone"], paths) == 2
    assert run(["draft", "large", "twin"], paths) == 0
    assert registry.find("large").choices.draft == "twin"
    registry.remove("twin")
    engine = Engine(FLOATS, paths.cache)
    assert "without its draft model: There is no model named twin" in engine.load(registry.find("large")).runner
    assert ask(engine, PARAMS[0]).token_ids
    assert run(["draft", "large", "none"], paths) == 0
    assert registry.find("large").choices.draft == ""


@pytest.mark.model
def test_four_bits_draft_for_the_same_model_in_32(home_with_model: Paths) -> None:
    """The one pair at hand that shares a tokenizer: most guesses of the default model in 4 bits are right."""
    registry = Registry(home_with_model.models)
    small = registry.find(None)
    for _ in registry.add(small.folder / SOURCE, RequestHandle("floats"), name="floats", weights="none"):
        pass
    said = "Write three sentences about the sea."
    params = dataclasses.replace(PARAMS[0], max_tokens=48)
    engine = Engine(EngineConfig(device="cpu", save_caches=False), home_with_model.cache)
    assert engine.load(registry.find("floats")).dtype == "float32"
    wanted = ask(engine, params, said)
    set_draft(registry.find("floats"), small)
    info = engine.load(registry.find("floats"))
    assert f"drafts by {small.label}" in info.runner
    drafted = ask(engine, params, said)
    engine.unload()
    assert drafted.token_ids == wanted.token_ids
    # How many are drafted is a matter of time: beside busy programs drafting may not pay, and pauses.
    assert drafted.stats.accepted_tokens > 0.6 * drafted.stats.drafted_tokens > 0
