"""Reading ahead: when, what, and when not."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtTest import QTest

from app.draft import LONGEST_DRAFT, LONGEST_MS, QUIET_MS, Draft, DraftWatch
from app.records import Attachment
from engine.chat import Message
from tests.app.fake_worker import Load, Reply

LONG = "A text that is pasted, and longer than anything one types between two looks. " * 3


@pytest.fixture
def watch(qtbot):
    made = DraftWatch()
    made.told = []
    made.due.connect(made.told.append)
    yield made
    made.stop()


def test_a_pause_is_waited_for(qtbot, watch):
    for end in range(1, 6):
        watch.edit(Draft("Hello"[:end]))
    assert watch.told == []
    qtbot.waitUntil(lambda: bool(watch.told))
    assert watch.told == [Draft("Hello")]
    watch.edit(Draft("Hello"))
    QTest.qWait(QUIET_MS + 50)
    assert watch.told == [Draft("Hello")], "the same draft is not told twice"


def test_while_keys_go_on_it_is_told_now_and_then(qtbot, watch):
    begun = time.monotonic()
    for end in range(1, 15):
        watch.edit(Draft("x" * end))
        QTest.qWait(LONGEST_MS // 8)
    pauses = 1000 * (time.monotonic() - begun) / QUIET_MS  # a busy machine makes some of them itself
    assert 1 <= len(watch.told) <= pauses
    assert set(watch.told[0].text) == {"x"}


def test_a_paste_is_told_at_once_and_what_is_too_long_never(watch):
    watch.edit(Draft("See this: "))
    watch.edit(Draft("See this: " + LONG))
    assert watch.told == [Draft("See this: " + LONG)]
    watch.edit(Draft("x" * (LONGEST_DRAFT + 1)))
    watch.edit(Draft(""))
    assert len(watch.told) == 1
    assert not watch._quiet.isActive()
    assert not watch._longest.isActive()


def test_a_draft_is_read_with_what_was_said_before_and_never_kept(qtbot, ready_world):
    world = ready_world(Reply(pieces=("a",)))
    world.settings.set("system_prompt", "S")
    world.chats.draft_changed(LONG)
    assert [m.content for m in world.worker.ahead[-1].messages] == ["S", LONG]
    assert world.session.send("q")
    qtbot.waitUntil(lambda: not world.session.busy)
    world.settings.set("system_prompt", "Another")
    world.chats.draft_changed("")
    world.chats.draft_changed(LONG)
    ahead, asked = world.worker.ahead[-1], world.worker.requests[0]
    assert ahead.messages == (*asked.messages, Message("assistant", "a", (100, 2)), Message("user", LONG))
    assert (ahead.conversation_id, ahead.started_on) == (asked.conversation_id, asked.started_on)
    assert [m.content for m in world.session.messages()] == ["q", "a"]
    assert world.store.flush()
    assert [m.content for m in world.store.tree(asked.conversation_id).thread()] == ["q", "a"]


def test_a_draft_is_read_once_a_model_is_ready_and_the_chat_is_not_answering_if_it_is_wanted(qtbot, make_world):
    load, reply = threading.Semaphore(0), threading.Semaphore(0)
    world = make_world(Reply(gate=reply), loads=(Load(gate=load),))
    world.chats.load_model(None)
    world.chats.draft_changed(LONG)
    assert world.worker.ahead == []
    load.release(5)
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
    assert [request.messages[-1].content for request in world.worker.ahead] == [LONG]
    world.session.send("q")
    world.chats.draft_changed(LONG + LONG)
    assert len(world.worker.ahead) == 1, "the engine has other things to do"
    reply.release(9)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [request.messages[-1].content for request in world.worker.ahead] == [LONG, LONG + LONG]
    world.settings.set("read_ahead", False)
    world.chats.draft_changed(LONG)
    assert len(world.worker.ahead) == 2


def test_attached_files_are_read_ahead_too(ready_world):
    world = ready_world()
    world.chats.draft_changed("", (Attachment("notes.txt", LONG),))
    assert LONG in world.worker.ahead[-1].messages[-1].content


def test_a_chat_that_is_opened_is_read_ahead_so_that_its_cache_is_at_hand(qtbot, ready_world):
    world = ready_world()
    world.session.send("q")
    qtbot.waitUntil(lambda: not world.session.busy)
    first = world.session.conversation.id
    world.chats.new()
    assert world.worker.ahead == [], "an empty chat has nothing to read"
    world.chats.open(first)
    assert [m.content for m in world.worker.ahead[-1].messages] == ["q", "You said: q", ""]
    world.close()
    again = ready_world()
    assert again.worker.ahead[-1].conversation_id == first, "after a restart, once the model is ready"
