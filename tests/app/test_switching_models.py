"""Switching models: cancelled at any time, gone back from, and the one that is loaded at the start."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from app.first_model import FirstModel
from app.views.start_cards import Offer
from engine.errors import DoesNotFit
from engine.events import InstalledModel
from engine.models.catalogue import DEFAULT_MODEL
from tests.app.fake_worker import Load, model_info

LARGE = InstalledModel("large", "Large", 7, 9, False)


def ready(world: Any, name: str) -> bool:
    state = world.chats.model
    return state.phase == "ready" and state.info.name == name


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_switch_that_is_cancelled_leaves_the_model_of_before(make_world: Any, qtbot: Any, steps: int) -> None:
    gate = threading.Semaphore(steps)
    world = make_world(loads=(Load(), Load(model_info("large"), gate)))
    world.chats.load_model("scripted")
    qtbot.waitUntil(lambda: ready(world, "scripted"))
    world.chats.load_model("large")
    qtbot.waitUntil(
        lambda: steps == 0 or (world.chats.model.step is not None and world.chats.model.step.done == steps - 1)
    )
    world.chats.cancel_load()
    qtbot.waitUntil(lambda: ready(world, "scripted"))
    given_up = steps == 2  # only then its memory had gone to the new one
    assert world.worker.loaded == ["scripted", "large"] + ["scripted"] * given_up
    assert world.worker.holds == "scripted"
    assert world.notices == []
    assert world.chats.previous_model is None, "the other one never answered"


def test_a_model_that_cannot_be_loaded_leaves_the_way_back(make_world: Any, qtbot: Any) -> None:
    world = make_world(loads=(Load(), Load(DoesNotFit("It needs more memory."))))
    world.chats.load_model("scripted")
    qtbot.waitUntil(lambda: ready(world, "scripted"))
    world.chats.load_model("large")
    qtbot.waitUntil(lambda: world.chats.model.phase == "failed")
    assert world.notices[-1].sentence == "It needs more memory."
    assert world.notices[-1].action_label == "Back to Scripted scripted"
    world.notices[-1].action()
    qtbot.waitUntil(lambda: ready(world, "scripted"))


@pytest.mark.parametrize(
    ("choice", "last", "loaded"),
    [
        ("last", "large", ["large"]),
        ("last", "gone", [None]),
        ("last", "", [None]),
        ("default", "large", [None]),
        ("none", "large", []),
    ],
)
def test_what_is_loaded_at_the_start(make_world: Any, qtbot: Any, choice: str, last: str, loaded: list[Any]) -> None:
    world = make_world()
    world.worker.models.append(LARGE)
    world.settings.set("load_at_start", choice)
    world.settings.set("last_model", last)
    first = FirstModel(world.chats, world.settings)
    with qtbot.waitSignal(world.chats.models.changed):
        first.begin(None)
    assert world.worker.loaded == loaded
    assert first.offer == (None if loaded else Offer("Scripted scripted")), "it can be loaded then"


def test_with_models_of_servers_alone_nothing_is_fetched_at_the_start(make_world: Any, qtbot: Any) -> None:
    world = make_world()
    world.worker.models = [InstalledModel("lab:big", "big", 0, 0, False, "Lab")]
    first = FirstModel(world.chats, world.settings)
    with qtbot.waitSignal(first.offered):
        first.begin(None)
    assert world.worker.loaded == []
    assert first.offer == Offer(DEFAULT_MODEL.label, DEFAULT_MODEL.nbytes, DEFAULT_MODEL.disk)


def test_in_place_of_the_model_that_is_deleted_the_default_one_is_loaded(make_world: Any, qtbot: Any) -> None:
    world = make_world(loads=(Load(model_info("large")),))
    world.worker.models.append(LARGE)
    first = FirstModel(world.chats, world.settings)
    world.chats.load_model("large")
    qtbot.waitUntil(lambda: ready(world, "large"))
    world.chats.models.remove("large")
    qtbot.waitUntil(lambda: ready(world, "scripted"))
    assert world.worker.loaded == ["large", None]
    world.chats.models.remove("scripted")
    qtbot.waitUntil(lambda: first.offer is not None and first.offer.nbytes > 0)
    assert world.worker.loaded == ["large", None], "there is none left, and none is fetched unasked"


def test_the_last_model_of_this_machine_is_remembered(make_world: Any, qtbot: Any) -> None:
    world = make_world(loads=(Load(model_info("large")),))
    first = FirstModel(world.chats, world.settings)
    world.chats.load_model("large")
    qtbot.waitUntil(lambda: ready(world, "large"))
    assert (world.settings.get("last_model"), first.offer) == ("large", None)
