"""Chats named by the model: once, after the first answer, and never over a title of the person's own."""

from __future__ import annotations

import threading

from app import titler
from engine.chat import Message
from tests.app.fake_worker import Load, Reply, model_info


def answered(qtbot, world, text="Why is the sky blue?"):
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)


def title(world):
    return world.session.conversation.title


def test_after_the_first_answer_the_chat_gets_a_title(qtbot, ready_world):
    world = ready_world()
    world.worker.titles = ["Sky Colours", "Another"]
    answered(qtbot, world)
    qtbot.waitUntil(lambda: title(world) == "Sky Colours")
    request = world.worker.title_requests[0]
    assert request.messages[0] == Message("user", "Why is the sky blue?")
    assert request.messages[1].token_ids == world.session.messages()[1].token_ids
    assert request.conversation_id == world.session.conversation.id
    answered(qtbot, world, "and at night?")
    world.close()
    again = ready_world()
    assert (title(again), again.session.conversation.titled) == ("Sky Colours", True)
    assert len(world.worker.title_requests) == 1


def test_no_title_is_asked_for_where_the_person_made_one_or_does_not_want_any(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(gate=gate))
    world.worker.titles = ["Sky", "Sky"]
    world.session.send("q")
    world.chats.rename(world.session.conversation.id, "Mine")
    gate.release(9)
    qtbot.waitUntil(lambda: not world.session.busy)
    world.settings.set("auto_title", False)
    world.chats.new()
    answered(qtbot, world)
    assert world.worker.title_requests == []
    assert [c.title for c in world.chats.conversations()] == ["Why is the sky blue?", "Mine"]


def test_a_title_that_comes_after_the_person_made_one_is_dropped(qtbot, ready_world):
    world = ready_world()
    answered(qtbot, world)
    world.chats.rename(world.session.conversation.id, "Mine")
    asked = world.chats._titler._asked
    world.chats._name(world.session.conversation.id, "Theirs")
    assert title(world) == "Mine"
    assert asked is None or asked[1].cancelled


def test_where_the_model_finds_none_the_question_stays_the_title_and_it_is_not_asked_again(qtbot, ready_world):
    world = ready_world()
    answered(qtbot, world)
    qtbot.waitUntil(lambda: world.chats._titler._asked is None)
    answered(qtbot, world, "and?")
    assert title(world) == "Why is the sky blue?"
    assert len(world.worker.title_requests) == 1


def test_a_stopped_answer_names_nothing_the_next_good_one_does(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abc"), gate=gate))
    world.worker.titles = ["Sky"]
    world.session.send("q")
    gate.release(1)
    qtbot.waitUntil(lambda: len(world.session.messages()) == 2)
    world.session.stop()
    assert world.worker.title_requests == []
    answered(qtbot, world, "again")
    qtbot.waitUntil(lambda: title(world) == "Sky")


class Bridge:
    """Takes titles down and answers when the test says so."""

    def __init__(self):
        self.handles = []

    def make_title(self, request):
        self.handles.append(titler.RequestHandle(request.id))
        return self.handles[-1]


def test_one_chat_is_named_after_the_other_and_a_deleted_one_not_at_all(qtbot, ready_world):
    world = ready_world()
    world.settings.set("auto_title", False)
    sessions = []
    for text in ("one", "two", "three"):
        world.chats.new()
        answered(qtbot, world, text)
        sessions.append(world.session)
    bridge, named = Bridge(), []
    made = titler.Titler(bridge)
    made.titled.connect(lambda conversation_id, text: named.append((conversation_id, text)))
    for session in sessions:
        made.name(session)
    assert len(bridge.handles) == 1
    made.give_up(sessions[1].conversation.id)
    made.apply(titler.Titled("someone else's", "x"))
    made.apply(titler.Titled(bridge.handles[0].id, "First"))
    assert len(bridge.handles) == 2
    made.give_up(sessions[2].conversation.id)
    assert bridge.handles[1].cancelled
    made.apply(titler.Titled(bridge.handles[1].id, "Third"))
    assert named == [(sessions[0].conversation.id, "First")]
    assert [made.wants(session) for session in sessions] == [False, False, False]


def test_another_model_is_asked_anew(qtbot, ready_world):
    world = ready_world(loads=(Load(), Load(model_info("other"))))
    answered(qtbot, world)
    qtbot.waitUntil(lambda: world.chats._titler._asked is None)
    bridge = Bridge()
    made = titler.Titler(bridge)
    made.name(world.session)
    made.model_changed()
    assert bridge.handles[0].cancelled
    assert made.wants(world.session)
    made.name(world.session)
    assert len(bridge.handles) == 2
