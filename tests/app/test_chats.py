"""Conversations: made, opened, renamed, deleted, brought back, asked one beside another, kept when the program ends."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from app import trash
from app.records import StoredMessage
from app.store import Store
from engine.errors import EngineError
from tests.app.conftest import Recorder
from tests.app.fake_worker import Reply


def finish(qtbot, world):
    qtbot.waitUntil(lambda: not world.session.busy)


def titles(world):
    return [c.title for c in world.chats.conversations()]


def ask_in_new(qtbot, world, text):
    world.chats.new()
    assert world.session.send(text)
    finish(qtbot, world)
    return world.session


def test_a_new_chat_is_stored_with_its_first_question(qtbot, ready_world):
    world = ready_world()
    assert titles(world) == []
    empty = world.session
    world.chats.new()
    assert world.session is empty, "one empty chat is enough"
    assert world.session.send("Why is the sky blue and not green?")
    finish(qtbot, world)
    assert titles(world) == ["Why is the sky blue and not green?"]
    assert world.store.flush()
    assert [c.title for c in world.store.conversations()] == titles(world)


def test_the_last_conversation_is_opened_at_the_start(qtbot, ready_world):
    world = ready_world()
    for text in ("first", "second"):
        ask_in_new(qtbot, world, text)
    said = world.session.messages()
    world.close()

    again = ready_world()
    assert again.session.conversation.title == "second"
    assert again.session.messages() == said
    assert again.session.live.completion_tokens == said[-1].stats.completion_tokens
    assert titles(again) == ["second", "first"]
    again.close()
    assert ready_world(new=True).session.messages() == ()


def test_a_reply_goes_on_in_its_own_chat(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abcd"), gate=gate), Reply(pieces=("other",)))
    assert world.session.send("slow")
    slow = world.session
    told = Recorder(slow)
    gate.release(2)
    qtbot.waitUntil(lambda: told.text == "ab")
    world.chats.new()
    assert world.session.send("quick")
    quick = world.session
    assert slow.conversation.id in world.chats.busy
    gate.release(10)
    finish(qtbot, world)
    assert slow.messages()[-1].content == "abcd"
    assert quick.messages()[-1].content == "other"
    world.chats.open(slow.conversation.id)
    assert world.session is slow
    assert titles(world) == ["quick", "slow"]


def test_switching_back_in_mid_reply_shows_each_piece_once(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abcdef"), gate=gate))
    world.session.send("slow")
    slow = world.session
    gate.release(3)
    qtbot.waitUntil(lambda: slow.messages()[-1].content == "abc")
    world.chats.new()
    gate.release(1)
    qtbot.waitUntil(lambda: slow.messages()[-1].content == "abcd")
    world.chats.open(slow.conversation.id)
    shown = [slow.messages()[-1].content]
    slow.text_appended.connect(lambda _, text: shown.append(text))
    gate.release(2)
    qtbot.waitUntil(lambda: not slow.busy)
    assert "".join(shown) == "abcdef"


def test_renaming_is_kept_and_an_empty_title_refused(qtbot, ready_world):
    world = ready_world()
    session = ask_in_new(qtbot, world, "question")
    world.chats.rename(session.conversation.id, "  Sky   colours ")
    assert titles(world) == ["Sky colours"]
    assert session.conversation.title == "Sky colours"
    world.chats.rename(session.conversation.id, "   ")
    assert titles(world) == ["Sky colours"]
    assert "title" in world.notices[-1].sentence
    assert session.send("again")
    finish(qtbot, world)
    assert titles(world) == ["Sky colours"], "a later question must not bring the old title back"


def test_delete_can_be_undone(qtbot, ready_world):
    world = ready_world()
    kept = ask_in_new(qtbot, world, "kept").conversation.id
    gone = ask_in_new(qtbot, world, "gone")
    world.chats.delete(gone.conversation.id)
    assert titles(world) == ["kept"]
    assert world.session.conversation.id == kept
    notice = world.notices[-1]
    assert (notice.sentence, notice.action_label) == ("Deleted “gone”.", "Undo")
    notice.action()
    assert titles(world) == ["gone", "kept"]
    assert world.session is gone
    assert world.store.flush()
    assert [c.title for c in world.store.conversations()] == ["gone", "kept"]
    notice.action()
    assert titles(world) == ["gone", "kept"]


def test_deleting_in_mid_reply_stops_it_and_the_last_chat_leaves_an_empty_one(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abc"), gate=gate))
    world.session.send("slow")
    slow = world.session
    gate.release(1)
    qtbot.waitUntil(lambda: slow.live.completion_tokens == 1)
    world.chats.delete(slow.conversation.id)
    assert not slow.busy
    assert titles(world) == []
    assert world.session.messages() == ()
    world.notices[-1].action()
    assert [m.content for m in world.session.messages()] == ["slow", "a"]


@pytest.mark.parametrize("how", ["time", "restart"])
def test_what_was_deleted_is_purged_in_the_end(qtbot, ready_world, how, loquat_home, monkeypatch):
    if how == "time":
        monkeypatch.setattr(trash, "UNDO_MS", 20)
    world = ready_world()
    session = ask_in_new(qtbot, world, "gone")
    world.chats.delete(session.conversation.id)
    undo = world.notices[-1].action
    if how == "restart":
        world.close()
        world = ready_world()
    else:
        qtbot.waitUntil(lambda: not world.chats._trash._timer.isActive())
        undo()
        assert "no longer" in world.notices[-1].sentence
    assert world.worker.forgotten == [session.conversation.id], "its caches go too"
    assert world.store.flush()
    db = sqlite3.connect(loquat_home.database)
    assert db.execute("SELECT count(*) FROM message").fetchone() == (0,)
    db.close()


def test_a_chat_that_is_asked_again_comes_to_the_top_of_the_list(qtbot, ready_world):
    world = ready_world(Reply(pieces=(), error=EngineError("It broke.")))
    for question in ("old", "young"):
        world.chats.new()
        world.session.send(question)
        finish(qtbot, world)
    young, old = world.chats.conversations()
    for again in (world.chats.retry, lambda: world.session.regenerate(world.session.messages()[-1].id)):
        world.chats.open(old.id)
        changes = []
        world.chats.list_changed.connect(lambda changes=changes: changes.append(world.chats.conversations()[0].id))
        again()
        assert changes[-1] == old.id
        finish(qtbot, world)
        old, young = young, old


def test_what_is_refused_in_a_chat_is_said_there_alone(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(gate=gate))
    for text in ("one", "two", "three"):
        world.session.send(text)
    (notice,) = world.notices
    assert notice.sentence.startswith("One message waits already.")
    assert (notice.only_in, notice.until) == (world.session.conversation.id, "turn")
    ended = []
    world.chats.turn_ended.connect(ended.append)
    world.session.take_back_queued()
    assert ended == [notice.only_in]
    gate.release(9)
    finish(qtbot, world)


def test_a_failure_in_a_chat_that_is_not_on_view_names_it(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=("a", "b"), gate=gate, error=EngineError("It broke.")))
    world.session.send("slow")
    slow = world.session
    world.chats.new()
    gate.release(5)
    qtbot.waitUntil(lambda: bool(world.notices))
    assert world.notices[0].sentence == "In “slow”: It broke."
    world.notices[0].action()
    assert world.session is slow
    finish(qtbot, world)


@pytest.mark.parametrize("how", ["deleted", "purged", "imported again"])
def test_a_question_whose_chat_was_deleted_is_not_asked_again(qtbot, ready_world, how):
    world = ready_world(Reply(pieces=("half",), error=EngineError("It broke.")))
    world.session.send("q")
    qtbot.waitUntil(lambda: bool(world.notices))
    again, asked = world.notices[0].action, world.session
    world.chats.delete(asked.conversation.id)
    if how != "deleted":
        with qtbot.waitSignal(asked.destroyed):
            world.chats._trash.empty()
    if how == "imported again":
        world.store.add_conversation(asked.conversation)
        assert world.store.flush()
        world.chats.reread()
    again()
    assert len(world.worker.requests) == 1
    assert world.session is not asked


def test_a_bug_in_the_engine_is_told_as_one(qtbot, ready_world):
    error = EngineError("Something went wrong.", "Traceback ...")
    world = ready_world(Reply(pieces=("half",), error=error, bug=True))
    bugs = []
    world.chats.bug_found.connect(bugs.append)
    world.session.send("q")
    qtbot.waitUntil(lambda: bool(bugs))
    assert bugs == [error]
    assert world.session.messages()[-1].content == "half"


@pytest.mark.expects_log("a save failed")
def test_trouble_with_the_disk_reaches_the_notice_bar(qtbot, ready_world):
    world = ready_world()
    world.store.add_message(StoredMessage("nowhere", "user", "lost"))
    qtbot.waitUntil(lambda: bool(world.notices))
    assert "could not be saved" in world.notices[0].sentence


def test_messages_that_do_not_fit_are_named_when_there_are_more_of_them(qtbot, ready_world):
    world = ready_world(Reply(left_out=(1,)), Reply(left_out=(1,)), Reply(left_out=(1, 2, 3)), Reply())
    for _ in range(4):
        world.session.send("q")
        finish(qtbot, world)
    assert ["the oldest message was not read" in n.sentence for n in world.notices] == [True, False]
    assert "the 3 oldest messages were not read" in world.notices[1].sentence


def test_quitting_in_mid_reply_keeps_it_as_partial(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abcd"), gate=gate))
    world.session.send("slow")
    gate.release(3)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 3)
    world.close()
    again = ready_world()
    reply = again.session.messages()[-1]
    assert (reply.content, reply.status, reply.token_ids) == ("abc", "partial", (100, 101, 102))
    assert not again.session.busy


KILLED = textwrap.dedent(
    """
    import sys, time
    from PySide6.QtCore import QCoreApplication
    from app.chats import Chats
    from app.engine_bridge import EngineBridge
    from app.settings import Settings
    from app.store import Store
    from engine.paths import default_paths
    from tests.app.fake_worker import FakeWorker, Reply

    core = QCoreApplication([])
    paths = default_paths()
    store = Store(paths.database)
    reply = Reply(pieces=tuple(f"word{n} " for n in range(10_000)), delay_s=0.01)
    chats = Chats(store, EngineBridge(lambda emit: FakeWorker(emit, (reply,))), Settings(paths.config / "s.json"))
    chats.model_changed.connect(lambda state: state.phase == "ready" and chats.current.send("Tell me everything."))
    chats.restore(new=True)
    chats.current.text_appended.connect(lambda _, text: print(time.monotonic(), len(text), flush=True))
    chats.load_model(None)
    core.exec()
    """
)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_killed_program_loses_at_most_the_last_second(loquat_home):
    child = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    shown: list[tuple[float, int]] = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        stamp, length = child.stdout.readline().split()
        shown.append((float(stamp), int(length)))
        if shown[-1][0] - shown[0][0] > 3.4:
            break
    child.send_signal(signal.SIGKILL)
    killed_at = shown[-1][0]
    rest = child.stdout.read().split("\n")
    shown += [(float(a), int(b)) for a, b in (line.split() for line in rest if line)]
    child.stdout.close()
    assert child.wait(5) == -signal.SIGKILL

    db = sqlite3.connect(loquat_home.database)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    store = Store(loquat_home.database)
    (conversation,) = store.conversations()
    question, reply = store.tree(conversation.id).thread()
    store.close()
    # The pieces of text come every 40 ms, so what a save held was on view a moment later.
    safe = sum(length for stamp, length in shown if stamp <= killed_at - 1.1)
    assert question.content == "Tell me everything."
    assert reply.status == "partial"
    assert safe > 500
    assert len(reply.content) >= safe
    assert reply.content == "".join(f"word{n} " for n in range(len(reply.token_ids)))


def test_settings_of_the_moment_go_into_the_request(qtbot, ready_world):
    world = ready_world()
    world.settings.set("temperature", 0)
    world.settings.set("max_tokens", 7)
    world.settings.set("overflow", "stop")
    world.session.send("q")
    finish(qtbot, world)
    params = world.worker.requests[0].params
    assert params.greedy
    assert world.worker.requests[0].overflow == "stop"
    assert params.max_tokens == 7
    world.close()
    assert json.loads((world.settings._path).read_text())["max_tokens"] == 7
