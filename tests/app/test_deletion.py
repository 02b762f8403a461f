"""Messages are deleted with what follows them, and come back where they were."""

from __future__ import annotations

import threading

import pytest

from app import trash
from tests.app.conftest import Recorder
from tests.app.fake_worker import Reply


def answered(qtbot, world, text):
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)


def contents(world):
    return [message.content for message in world.session.messages()]


def stored(world):
    assert world.store.flush()
    return [m.content for m in world.store.tree(world.session.conversation.id).thread()]


def talk(qtbot, ready_world):
    """Two turns, of which the second was answered twice."""
    world = ready_world(*(Reply(pieces=(text,)) for text in ("a1", "a2", "a2 again")))
    answered(qtbot, world, "q1")
    answered(qtbot, world, "q2")
    assert world.session.regenerate(world.session.messages()[3].id)
    qtbot.waitUntil(lambda: not world.session.busy)
    return world


def ids(world):
    return {message.content: message.id for message in world.session.messages()}


def test_an_answer_gives_way_to_its_nearest_version_and_undo_brings_it_back(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    before, redrawn = world.session.messages(), []
    world.session.thread_changed.connect(lambda: redrawn.append(contents(world)))
    world.chats.delete_message(ids(world)["a2 again"])
    assert redrawn == [["q1", "a1", "q2", "a2"]]
    assert stored(world) == ["q1", "a1", "q2", "a2"]
    assert world.session.versions() == {}
    assert world.session.live.message_id == world.session.messages()[-1].id
    notice = world.notices[-1]
    assert (notice.sentence, notice.action_label) == ("The message was deleted.", "Undo")
    notice.action()
    assert world.session.messages() == before
    assert stored(world) == ["q1", "a1", "q2", "a2 again"]
    assert world.session.versions()[before[-1].id].number == 2
    notice.action()
    assert "no longer" in world.notices[-1].sentence


def test_a_question_takes_along_what_follows_it_on_every_branch(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    world.chats.delete_message(ids(world)["q2"])
    assert contents(world) == stored(world) == ["q1", "a1"]
    assert "3" in world.notices[-1].sentence
    world.close()
    again = ready_world()
    assert contents(again) == ["q1", "a1"]


def test_what_is_deleted_is_not_said_to_the_model_and_the_chat_goes_on(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    world.chats.delete_message(ids(world)["q2"])
    answered(qtbot, world, "q3")
    assert [m.content for m in world.worker.requests[-1].messages] == ["q1", "a1", "q3"]
    world.notices[0].action()
    assert contents(world) == ["q1", "a1", "q2", "a2 again"]
    assert world.session.show_version(world.session.messages()[2].id, 1)
    assert contents(world) == ["q1", "a1", "q3", "You said: q3"]


def test_the_first_question_leaves_an_empty_chat_that_can_be_asked_again(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    world.chats.delete_message(ids(world)["q1"])
    assert contents(world) == stored(world) == []
    answered(qtbot, world, "anew")
    assert [m.content for m in world.worker.requests[-1].messages] == ["anew"]
    world.close()
    assert contents(ready_world()) == ["anew", "You said: anew"]


def test_undone_out_of_order_all_is_as_it_was(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    before = world.session.messages()
    for text in ("a2 again", "q2", "q1"):
        world.chats.delete_message(ids(world)[text])
    first, second, third = (notice.action for notice in world.notices)
    first()
    assert contents(world) == [], "what it hangs from is still deleted"
    third()
    second()
    assert {m.content for m in world.session.messages()} >= {"q1", "a1", "q2"}
    assert world.session.show_version(world.session.messages()[3].id, 1) or contents(world)[-1] == "a2 again"
    assert world.session.messages() == before
    world.close()
    assert ready_world().session.messages() == before


def test_undo_in_another_chat_opens_the_one_it_belongs_to(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    session = world.session
    world.chats.delete_message(ids(world)["a2 again"])
    world.chats.new()
    world.notices[-1].action()
    assert world.session is session
    assert contents(world)[-1] == "a2 again"


def test_while_an_answer_is_written_nothing_is_deleted_and_nothing_undone(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(), Reply(gate=gate))
    answered(qtbot, world, "q1")
    world.chats.delete_message(world.session.messages()[1].id)
    undo = world.notices[-1].action
    world.session.send("q2")
    told = Recorder(world.session)
    world.chats.delete_message(world.session.messages()[0].id)
    undo()
    assert ["still being written" in sentence for sentence in told.refusals] == [True, True]
    assert world.notices[-1].action_label == "Undo", "it is offered again"
    gate.release(9)
    qtbot.waitUntil(lambda: not world.session.busy)
    world.notices[-1].action()
    assert contents(world) == ["q1", "It is **so**."]


def test_after_a_minute_it_is_gone_for_good(qtbot, ready_world, monkeypatch):
    monkeypatch.setattr(trash, "UNDO_MS", 20)
    world = talk(qtbot, ready_world)
    world.chats.delete_message(ids(world)["q2"])
    undo = world.notices[-1].action
    qtbot.waitUntil(lambda: not world.chats._trash._timer.isActive())
    undo()
    assert "no longer" in world.notices[-1].sentence
    assert contents(world) == ["q1", "a1"]


def test_a_message_that_is_not_shown_is_left_alone(qtbot, ready_world):
    world = talk(qtbot, ready_world)
    hidden = ids(world)["a2 again"]
    world.session.show_version(hidden, -1)
    world.chats.delete_message(hidden)
    world.chats.delete_message("nothing")
    assert world.notices == []


@pytest.mark.parametrize("late", [False, True])
def test_figures_of_a_stopped_answer_do_not_bring_it_back(qtbot, ready_world, late):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abc"), gate=gate, deaf=True))
    world.session.send("q")
    gate.release(1)
    qtbot.waitUntil(lambda: len(world.session.messages()) == 2)
    world.session.stop()
    told = Recorder(world.session)
    world.chats.delete_message(world.session.messages()[1].id)
    gate.release(9)
    qtbot.waitUntil(lambda: bool(told.finished))
    assert contents(world) == stored(world) == ["q"]
    if late:
        world.notices[-1].action()
        assert contents(world) == stored(world) == ["q", "a"]
        assert world.session.messages()[1].stats is not None
