"""The next message, written while an answer is in progress: sent after it, or back in the composer; never lost."""

from __future__ import annotations

import threading

import pytest

from app.draft import Draft
from app.records import Attachment
from engine.errors import ContextFull
from tests.app.conftest import Recorder
from tests.app.fake_worker import Load, Reply

NOTES = Attachment("notes.txt", "milk, eggs")
PIECES = tuple("abcdef")


def streaming(qtbot, ready_world, *more, **values):
    """A world whose first answer has got as far as two tokens, with a record of what is told."""
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=PIECES, gate=gate, **values), *more)
    world.returned, world.queue, world.gate = [], [], gate
    world.chats.draft_replaced.connect(world.returned.append)
    assert world.session.send("one")
    world.session.queue_changed.connect(world.queue.append)
    gate.release(2)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 2)
    return world


def said(world):
    assert world.store.flush()
    return [m.content for m in world.store.tree(world.session.conversation.id).thread()]


def test_it_waits_for_the_answer_and_is_sent_with_its_files(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    told = Recorder(world.session)
    assert world.session.send("two", (NOTES,))
    assert (world.session.queued, world.queue) == ("two", ["two"])
    assert [m.content for m in world.session.messages()] == ["one", "ab"]
    world.gate.release(9)
    qtbot.waitUntil(lambda: len(told.finished) == 2)
    assert world.queue == ["two", ""]
    assert said(world)[:3] == ["one", "abcdef", "two"]
    assert world.session.messages()[2].attachments == (NOTES,)
    assert world.worker.requests[1].messages[2].content == "notes.txt:\n```\nmilk, eggs\n```\n\ntwo"
    assert world.worker.requests[1].messages[1].token_ids == (100, 101, 102, 103, 104, 105, 2)
    assert (told.refusals, world.returned) == ([], [])


def test_a_second_one_is_refused_and_the_first_can_be_taken_back(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    told = Recorder(world.session)
    assert world.session.send("two", (NOTES,))
    assert not world.session.send("three")
    assert "waits already" in told.refusals[0]
    assert world.session.take_back_queued() == "two"
    assert world.returned == [Draft("two", (NOTES,))]
    assert world.session.queued == ""
    assert world.session.send("three")
    world.gate.release(9)
    qtbot.waitUntil(lambda: len(world.worker.requests) == 2 and not world.session.busy)
    assert said(world)[2] == "three"


@pytest.mark.parametrize("how", ["stop", "failure", "bug"])
def test_when_the_answer_ends_badly_it_goes_back_before_what_is_written(qtbot, ready_world, how):
    error = ContextFull("The context is full.") if how != "stop" else None
    world = streaming(qtbot, ready_world, error=error, bug=how == "bug")
    world.chats.draft_changed("and a third", ())
    assert world.session.send("two", (NOTES,))
    if how == "stop":
        world.session.stop()
    world.gate.release(9)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.returned == [Draft("two\n\nand a third", (NOTES,))]
    assert world.chats.draft == world.returned[0]
    assert world.queue == ["two", ""]
    assert len(world.worker.requests) == 1
    assert said(world) == ["one", "ab" if how == "stop" else "abcdef"]


def test_it_is_sent_also_after_an_answer_that_was_cut_by_its_length(qtbot, ready_world):
    from engine.events import FinishReason

    world = streaming(qtbot, ready_world, Reply(pieces=("second",)), reason=FinishReason.LENGTH)
    world.session.send("two")
    world.gate.release(9)
    qtbot.waitUntil(lambda: len(world.worker.requests) == 2 and not world.session.busy)
    assert said(world) == ["one", "abcdef", "two", "second"]


def test_while_another_chat_is_on_view_it_is_sent_all_the_same(qtbot, ready_world):
    world = streaming(qtbot, ready_world, Reply(pieces=("second",)))
    asking = world.session
    asking.send("two")
    world.chats.new()
    world.gate.release(9)
    qtbot.waitUntil(lambda: len(world.worker.requests) == 2 and not asking.busy)
    assert [m.content for m in asking.messages()] == ["one", "abcdef", "two", "second"]


def test_in_a_chat_that_is_not_on_view_it_goes_back_into_its_own_draft(qtbot, ready_world):
    world = streaming(qtbot, ready_world, error=ContextFull("Full."))
    asking = world.session.conversation.id
    world.session.send("two")
    world.chats.new()
    world.chats.draft_changed("here", ())
    world.gate.release(9)
    qtbot.waitUntil(lambda: asking not in world.chats.busy)
    assert world.returned == []
    assert world.chats.draft == Draft("here")
    world.chats.open(asking)
    assert world.chats.draft == Draft("two")


def test_quitting_keeps_it_as_the_draft(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    world.session.send("two", (NOTES,))
    world.close()
    again = ready_world()
    assert [m.content for m in again.session.messages()] == ["one", "ab"]
    assert again.chats.draft == Draft("two", (NOTES,))
    assert again.session.queued == ""


def test_it_is_on_the_disk_while_it_waits_and_gone_from_there_once_it_is_sent(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    asking = world.session.conversation.id
    world.chats.draft_changed("and a third")
    world.session.send("two", (NOTES,))
    assert world.chats.save_now()
    assert world.store.draft(asking) == ("two\n\nand a third", (NOTES,)), "as it would be found after a kill"
    assert world.chats.draft == Draft("and a third")
    world.gate.release(9)
    qtbot.waitUntil(lambda: len(world.worker.requests) == 2 and not world.session.busy)
    assert world.chats.save_now()
    assert world.store.draft(asking) == ("and a third", ())


def test_deleting_the_chat_and_undoing_that_brings_it_back_as_the_draft(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    world.session.send("two")
    world.chats.delete(world.session.conversation.id)
    assert world.chats.draft == Draft()
    world.notices[-1].action()
    assert [m.content for m in world.session.messages()] == ["one", "ab"]
    assert world.chats.draft == Draft("two")


def test_a_question_that_waits_for_the_model_keeps_it_waiting_when_the_load_fails(qtbot, make_world):
    gate = threading.Semaphore(0)
    world = make_world(loads=(Load(ContextFull("No."), gate),))
    returned = []
    world.chats.draft_replaced.connect(returned.append)
    world.chats.load_model(None)
    world.session.send("one")
    world.session.send("two")
    gate.release(9)
    qtbot.waitUntil(lambda: world.chats.model.phase == "failed")
    assert world.session.queued == "two"
    world.session.stop()
    assert returned == [Draft("two")]
    assert [m.content for m in world.session.messages()] == ["one"]


def test_what_says_nothing_does_not_wait(qtbot, ready_world):
    world = streaming(qtbot, ready_world)
    assert not world.session.send("  \n")
    assert world.session.queued == ""
    assert world.session.take_back_queued() == ""
    assert world.session.send("", (NOTES,))
    assert world.session.queued == "notes.txt"
    world.session.stop()
