"""Pins, folders and the archive; also in the middle of an answer."""

from __future__ import annotations

import contextlib
import threading

import pytest

from app.db_writer import connect
from app.draft import Draft
from app.organizing import _folded
from app.records import Attachment, Conversation, Folder
from engine.errors import ContextFull
from tests.app.fake_worker import Reply


def ask_in_new(qtbot, world, text):
    world.chats.new()
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)
    return world.session.conversation.id


def titles(conversations):
    return [c.title for c in conversations]


def test_pins_and_folders_survive_a_restart_and_the_next_question(qtbot, ready_world):
    world = ready_world()
    one, two = (ask_in_new(qtbot, world, text) for text in ("one", "two"))
    work = world.chats.library.add_folder("  My   work ")
    world.chats.library.pin(two, True)
    world.chats.library.move(two, work.id)
    world.chats.library.move(one, "nowhere")
    world.session.send("again")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert (work.name, world.chats.folders()) == ("My work", (work,))
    world.chats.library.rename_folder(work.id, "Home")
    world.close()
    again = ready_world()
    found = {c.title: c for c in again.chats.conversations()}
    assert (found["two"].pinned, found["two"].folder_id) == (True, work.id)
    assert (found["one"].pinned, found["one"].folder_id) == (False, None)
    assert titles_of_folders(again) == ["Home"]
    again.chats.library.delete_folder(work.id)
    assert again.session.conversation.folder_id is None
    assert {c.folder_id for c in again.chats.conversations()} == {None}
    assert again.chats.folders() == ()
    assert again.store.flush()
    assert [c.folder_id for c in again.store.conversations()] == [None, None]


@pytest.mark.parametrize(
    ("kept", "folded"), [('["a", "b"]', {"a", "b"}), ("", set()), ("{", set()), ("7", set()), ("[" * 100_000, set())]
)
def test_what_was_kept_of_folded_folders_is_no_reason_not_to_begin(kept, folded):
    assert _folded(kept) == folded


def titles_of_folders(world):
    return [folder.name for folder in world.chats.folders()]


def test_names_without_a_character_are_refused(qtbot, ready_world):
    world = ready_world()
    assert world.chats.library.add_folder(" \n") is None
    folder = world.chats.library.add_folder("A")
    world.chats.library.rename_folder(folder.id, "")
    assert ["folder needs a name" in notice.sentence for notice in world.notices] == [True, True]
    assert titles_of_folders(world) == ["A"]
    world.chats.library.delete_folder("nothing")
    world.chats.library.rename_folder("nothing", "B")
    world.chats.library.pin("nothing", True)
    world.chats.archive("nothing", True)
    assert titles_of_folders(world) == ["A"]


@pytest.mark.parametrize("how", ["regenerate", "retry"])
def test_a_chat_that_was_asked_again_in_vain_is_still_on_top_after_a_restart(qtbot, ready_world, how):
    vain = Reply((), error=ContextFull("Too long."))
    world = ready_world(Reply() if how == "regenerate" else vain, Reply(), vain)
    one = ask_in_new(qtbot, world, "one")
    ask_in_new(qtbot, world, "two")
    world.chats.open(one)
    if how == "regenerate":
        assert world.session.regenerate(world.session.messages()[1].id)
    else:
        world.session.retry()
    qtbot.waitUntil(lambda: not world.session.busy)
    assert titles(world.chats.conversations()) == ["one", "two"]
    world.close()
    assert titles(ready_world().chats.conversations()) == ["one", "two"]


def test_what_is_imported_comes_into_the_list_and_what_is_not_saved_yet_stays_as_it_is(qtbot, ready_world):
    world = ready_world()
    one, gone = (ask_in_new(qtbot, world, text) for text in ("one", "gone"))
    folder, made = world.chats.library.add_folder("Here"), Folder("Made")
    imported = [Conversation(title=title, folder_id=at.id) for title, at in (("a", folder), ("b", made))]
    world.store.add_folder(made)
    for talk in imported:
        world.store.add_tree(talk, [])
    assert world.store.flush()
    with contextlib.closing(connect(world.store.path)) as another:
        another.execute("BEGIN IMMEDIATE")  # nothing can be written meanwhile
        world.chats.rename(one, "renamed")
        world.chats.delete(gone)
        world.chats.library.delete_folder(folder.id)
        ask_in_new(qtbot, world, "new")
        world.chats.take_imported([talk.id for talk in imported], [made])
        listed = {(c.title, c.folder_id) for c in world.chats.conversations()}
        another.execute("ROLLBACK")
    assert listed == {("renamed", None), ("new", None), ("a", None), ("b", made.id)}
    assert world.chats.folders() == (made,)
    assert world.store.flush()
    assert {(c.title, c.folder_id) for c in world.store.conversations()} == listed


def test_the_list_has_the_times_that_the_disk_has(qtbot, ready_world):
    world = ready_world()
    ahead = Conversation(title="from a clock that is fast", updated_at=1e11)
    world.store.add_tree(ahead, [])
    assert world.store.flush()
    world.chats.take_imported([ahead.id], [])
    world.chats.open(ahead.id)
    for _ in range(2):
        world.session.send("more")
        qtbot.waitUntil(lambda: not world.session.busy)
        ask_in_new(qtbot, world, "one")
    assert world.session.regenerate(world.session.messages()[1].id)
    qtbot.waitUntil(lambda: not world.session.busy)
    times = {c.id: c.updated_at for c in world.chats.conversations()}
    assert world.store.flush()
    assert {c.id: c.updated_at for c in world.store.conversations()} == times


def test_chats_of_the_same_time_keep_their_order_over_a_restart(ready_world):
    world = ready_world()
    talks = [Conversation(title=title, created_at=1.0, updated_at=1.0) for title in "abcdef"]
    for talk in talks:
        world.store.add_tree(talk, [])
    assert world.store.flush()
    world.chats.take_imported([talk.id for talk in talks[::2]], [])
    world.chats.take_imported([talk.id for talk in talks[1::2]], [])
    shown = titles(world.chats.conversations())
    world.close()
    assert titles(ready_world().chats.conversations()) == shown


def test_an_archived_chat_leaves_the_list_and_can_be_opened_and_brought_back(qtbot, ready_world):
    world = ready_world()
    one, two = (ask_in_new(qtbot, world, text) for text in ("one", "two"))
    world.chats.archive(two, True)
    assert titles(world.chats.conversations()) == ["one"]
    assert titles(world.chats.archived()) == ["two"]
    assert world.session.conversation.id == one
    world.chats.open(two)
    assert [m.content for m in world.session.messages()] == ["two", "You said: two"]
    world.session.send("again")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert titles(world.chats.archived()) == ["two"], "it is brought back only on request"
    world.notices[-1].action()
    assert titles(world.chats.conversations()) == ["two", "one"]
    world.close()
    assert ready_world().chats.archived() == ()


def test_archived_in_mid_answer_the_answer_goes_on(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=tuple("abc"), gate=gate))
    world.session.send("slow")
    slow = world.session
    gate.release(1)
    qtbot.waitUntil(lambda: len(slow.messages()) == 2)
    world.chats.archive(slow.conversation.id, True)
    assert world.session is not slow
    gate.release(9)
    qtbot.waitUntil(lambda: not slow.busy)
    assert slow.messages()[1].content == "abc"
    assert titles(world.chats.archived()) == ["slow"]
    assert world.store.flush()
    assert [m.content for m in world.store.tree(slow.conversation.id).thread()] == ["slow", "abc"]


def test_an_archived_chat_is_deleted_and_undone_into_the_archive(qtbot, ready_world):
    world = ready_world()
    one = ask_in_new(qtbot, world, "one")
    world.chats.archive(one, True)
    world.chats.delete(one)
    assert world.chats.archived() == ()
    world.notices[-1].action()
    assert titles(world.chats.archived()) == ["one"]
    assert world.session.conversation.id == one


def test_undone_when_its_folder_is_gone_it_lies_in_the_list(qtbot, ready_world):
    world = ready_world()
    one = ask_in_new(qtbot, world, "one")
    folder = world.chats.library.add_folder("A")
    world.chats.library.move(one, folder.id)
    world.chats.delete(one)
    undo = world.notices[-1].action
    world.chats.library.delete_folder(folder.id)
    undo()
    assert world.chats.conversations()[0].folder_id is None


FILE = Attachment("a.txt", "text of the file")


def test_each_chat_keeps_its_draft_over_switches_and_restarts(qtbot, ready_world):
    world = ready_world()
    one, two = (ask_in_new(qtbot, world, text) for text in ("one", "two"))
    world.chats.draft_changed("for two", (FILE,))
    world.chats.open(one)
    assert world.chats.draft == Draft()
    world.chats.draft_changed("for one")
    world.chats.new()
    world.chats.draft_changed("for the new one")
    world.chats.open(two)
    assert world.chats.draft == Draft("for two", (FILE,))
    world.chats.new()
    assert world.chats.draft == Draft("for the new one")
    world.close()
    again = ready_world()
    assert again.chats.draft == Draft("for two", (FILE,)), "the last conversation is on view"
    again.chats.open(one)
    assert again.chats.draft == Draft("for one")
    again.chats.new()
    assert again.chats.draft == Draft("for the new one")


@pytest.mark.parametrize("cleared", [True, False])
def test_what_was_sent_is_no_draft_of_the_new_chat_any_more(qtbot, ready_world, cleared):
    world = ready_world()
    world.chats.draft_changed("one")
    assert world.session.send("one" if cleared else "an example that was clicked")
    if cleared:
        world.chats.draft_changed("")
    assert world.chats.draft == Draft("" if cleared else "one")
    world.chats.new()
    assert world.chats.draft == Draft()
    qtbot.waitUntil(lambda: world.chats.conversations()[0].id not in world.chats.busy)


def test_a_chat_that_begins_beside_the_one_on_view_takes_no_draft_along(qtbot, ready_world):
    world = ready_world()
    world.chats.draft_changed("half a que")
    aside = world.chats.aside()
    assert aside.send("quick")
    qtbot.waitUntil(lambda: not aside.busy)
    assert world.chats.draft == Draft("half a que")
    world.chats.open(aside.conversation.id)
    assert world.chats.draft == Draft()


def test_a_draft_is_on_the_disk_a_moment_after_the_last_key(qtbot, ready_world):
    world = ready_world()
    one = ask_in_new(qtbot, world, "one")
    world.chats.draft_changed("half a que")

    def saved():
        return world.store.flush() and world.store.draft(one) == ("half a que", ())

    qtbot.waitUntil(saved, timeout=3000)
    world.chats.draft_changed("")
    assert world.chats.save_now()
    assert world.store.draft(one) == ("", ())
