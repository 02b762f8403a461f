"""Questions while a model loads: they wait for it, whether it comes, fails, is given up or replaced."""

from __future__ import annotations

import threading

from engine.errors import EngineError, ModelNotFound
from engine.events import LoadStage
from tests.app.fake_worker import Load, model_info


def test_loading_is_told_step_by_step(qtbot, ready_world):
    world = ready_world()
    phases = [state.phase for state in world.models]
    assert phases == ["working"] * 4 + ["ready"]
    assert world.models[2].step.total == 3
    assert world.models[2].sentence == "Loading the script"
    assert world.chats.model.info == model_info()


def test_a_load_that_fails_can_be_tried_again_and_all_that_waited_is_answered_then(qtbot, make_world):
    error = EngineError("The model could not be read. Please check the disk.", "timeout")
    gate = threading.Semaphore(0)
    world = make_world(loads=(Load(error, gate), Load()))
    world.chats.load_model(None)
    assert world.session.send("early")
    early = world.session
    world.chats.new()
    assert world.session.send("as early")
    assert world.session.live.phase == "queued"
    gate.release(3)
    qtbot.waitUntil(lambda: bool(world.notices))
    assert world.chats.model.phase == "failed"
    assert [(n.sentence, n.action_label) for n in world.notices] == [(error.sentence, "Try again")]
    assert [m.content for m in early.messages()] == ["early"]
    assert early.busy and world.session.busy
    world.notices[0].action()
    qtbot.waitUntil(lambda: not world.session.busy)
    qtbot.waitUntil(lambda: not early.busy)
    assert early.messages()[-1].content == "You said: early"
    assert world.session.messages()[-1].content == "You said: as early"


def test_a_question_asked_after_a_failed_load_waits_for_the_next_one(qtbot, make_world):
    error = ModelNotFound("The model is gone.")
    world = make_world(loads=(Load(error), Load()))
    world.chats.load_model("gone")
    qtbot.waitUntil(lambda: world.chats.model.phase == "failed")
    assert world.session.send("late")
    assert world.session.live.phase == "queued"
    assert [(n.sentence, n.action_label) for n in world.notices] == [("The model is gone.", "Choose a model…")]
    world.session.stop()
    world.chats.retry()
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.session.messages()[-1].content == "You said: late"
    assert world.worker.loaded == ["gone", "gone"]


def test_asking_again_without_a_model_loads_and_fetches_none(qtbot, make_world):
    world = make_world()
    assert world.session.send("early")
    world.session.stop()
    world.chats.retry()
    assert world.session.live.phase == "queued"
    assert world.worker.loaded == []


def test_a_download_that_fails_leaves_the_question_waiting_and_nothing_is_fetched_again_unasked(qtbot, make_world):
    failed = Load(EngineError("There is no network."), stage=LoadStage.DOWNLOAD)
    world = make_world(loads=(failed,))
    world.chats.load_model("first")
    world.session.send("early")
    qtbot.waitUntil(lambda: bool(world.notices))
    assert (world.chats.model.phase, world.session.live.phase) == ("none", "queued")
    assert [(n.sentence, n.action_label) for n in world.notices] == [("There is no network.", "")]
    world.chats.retry()
    assert world.worker.loaded == ["first"]


def test_a_load_that_is_cancelled_leaves_the_question_waiting(qtbot, make_world):
    world = make_world(loads=(Load(gate=threading.Semaphore(1)),))
    world.chats.load_model("first")
    world.session.send("early")
    world.chats.cancel_load()
    qtbot.waitUntil(lambda: world.chats.model.phase == "none")
    assert world.session.live.phase == "queued"
    assert world.notices == []


def test_a_cancelled_load_is_silent_and_the_former_model_stays(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(loads=(Load(), Load(model_info("other"), gate)))
    world.chats.load_model("other")
    assert world.session.send("while loading")
    gate.release(1)
    qtbot.waitUntil(lambda: world.chats.model.step is not None)
    world.chats.cancel_load()
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
    assert world.chats.model.info.name == "scripted"
    assert world.notices == []
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.session.messages()[-1].model == "scripted"


def test_a_load_that_replaces_another_drops_the_first_ones_events(qtbot, make_world):
    gate = threading.Semaphore(0)
    world = make_world(loads=(Load(model_info("slow"), gate), Load(model_info("quick"))))
    world.chats.load_model("slow")
    world.chats.load_model("quick")
    gate.release(3)
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
    assert world.chats.model.info.name == "quick"
    assert world.notices == []
