"""A branch becomes a chat of its own: what was said, with ids and figures, and nothing of the original changes."""

from __future__ import annotations

import threading
from dataclasses import replace

from app.records import ChatOptions
from engine.config import SamplingParams
from tests.app.fake_worker import Reply


def answered(qtbot, world, text):
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)


def bare(message):
    """A message without what names it."""
    return replace(message, id="", conversation_id="", parent_id=None)


def test_it_holds_the_branch_up_to_the_message_and_is_shown(qtbot, ready_world):
    world = ready_world()
    world.settings.set("system_prompt", "Be brief.")
    for text in ("one", "two", "three"):
        answered(qtbot, world, text)
    original, said = world.session, world.session.messages()
    folder = world.chats.library.add_folder("Work")
    world.chats.library.move(original.conversation.id, folder.id)
    world.store.save_trace(said[1].id, '{"v": 1}')
    assert world.store.flush()
    world.settings.set("system_prompt", "Be long.")
    fork = world.chats.fork(said[3].id)
    assert world.session.conversation == fork
    assert fork.title == "Fork: one"
    assert [bare(m) for m in world.session.messages()] == [bare(m) for m in said[:4]]
    assert {m.id for m in world.session.messages()}.isdisjoint(m.id for m in said)
    assert (fork.system_prompt, fork.folder_id, fork.started_on) == (
        "Be brief.",
        folder.id,
        original.conversation.started_on,
    )
    assert original.messages() == said
    assert [c.title for c in world.chats.conversations()] == ["Fork: one", "one"]
    assert world.store.flush()
    assert world.store.tree(fork.id).thread() == list(world.session.messages())
    assert world.store.trace(world.session.messages()[1].id) == '{"v": 1}'


def test_the_next_prompt_of_the_fork_begins_as_that_of_the_original(qtbot, ready_world):
    world = ready_world()
    answered(qtbot, world, "one")
    world.session.set_options(ChatOptions(sampling={"temperature": 0.1}), "Own words.")
    answered(qtbot, world, "two")
    world.chats.fork(world.session.messages()[-1].id)
    answered(qtbot, world, "more")
    before, after = world.worker.requests[1:]
    assert after.messages[: len(before.messages)] == before.messages
    assert after.messages[len(before.messages)].token_ids == (100, 101, 2)
    assert (after.started_on, after.params) == (before.started_on, before.params)
    assert after.conversation_id != before.conversation_id


def test_it_survives_a_restart_and_is_not_renamed(qtbot, ready_world):
    world = ready_world()
    answered(qtbot, world, "one")
    fork = world.chats.fork(world.session.messages()[1].id)
    said = world.session.messages()
    world.worker.titles = ["Another name"]
    answered(qtbot, world, "two")
    assert world.session.conversation.title == "Fork: one"
    world.close()
    again = ready_world()
    assert again.session.conversation.id == fork.id
    assert again.session.messages()[:2] == said


def test_an_answer_that_is_being_written_is_refused_what_stands_before_it_is_not(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abc"), gate=gate))
    world.session.send("slow")
    asking = world.session
    gate.release(1)
    qtbot.waitUntil(lambda: len(asking.messages()) == 2)
    assert world.chats.fork(asking.messages()[1].id) is None
    assert "still being written" in world.notices[-1].sentence
    assert world.session is asking
    fork = world.chats.fork(asking.messages()[0].id)
    assert [m.content for m in world.session.messages()] == ["slow"]
    gate.release(9)
    qtbot.waitUntil(lambda: not asking.busy)
    assert asking.messages()[1].content == "abc"
    assert [m.content for m in world.session.messages()] == ["slow"]
    assert world.store.flush()
    assert len(world.store.tree(fork.id).thread()) == 1


def test_nothing_is_forked_from_a_message_that_is_not_there(ready_world):
    world = ready_world()
    assert world.chats.fork("nothing") is None
    assert world.chats.conversations() == ()


def test_a_conversations_own_sampling_goes_over_the_settings(qtbot, ready_world):
    world = ready_world()
    world.settings.set("top_p", 0.5)
    world.session.set_options(ChatOptions("poet", {"temperature": 0, "seed": 7, "no_such": 1, "top_k": -5}), "Rhyme.")
    assert world.chats.conversations() == (), "a chat in which nothing was asked is not in the list"
    answered(qtbot, world, "one")
    params = world.worker.requests[0].params
    assert (params.temperature, params.seed, params.top_p, params.top_k) == (0, 7, 0.5, SamplingParams().top_k)
    assert world.worker.requests[0].messages[0].content == "Rhyme."
    world.close()
    again = ready_world()
    assert again.session.conversation.options.assistant == "poet"
    again.session.set_options(ChatOptions())
    assert again.session.conversation.system_prompt == "Rhyme."
    answered(qtbot, again, "two")
    assert again.worker.requests[0].params == again.settings.sampling()
