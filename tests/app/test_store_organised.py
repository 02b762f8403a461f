"""What a conversation is besides its messages: folders, pins, archive, options, drafts, traces; deleting messages."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from app.records import Attachment, ChatOptions, Conversation, Folder, StoredMessage
from app.store import Store

FILES = (Attachment("a.txt", "one\ntwo"), Attachment("ü.md", "# 三"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "conversations.sqlite3"


@pytest.fixture
def store(path):
    made = Store(path)
    yield made
    made.close()


def chain(store, conversation, *texts, parent=None):
    """Messages below one another, saved."""
    found = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        found.append(StoredMessage(conversation.id, role, text, parent_id=parent))
        parent = found[-1].id
        store.add_message(found[-1])
    return found


def reopened(store, path):
    assert store.close()
    return Store(path)


def test_pin_folder_archive_title_and_options_come_back(store, path):
    plain, talk = store.create("plain"), store.create("talk")
    folder = Folder("Work")
    options = ChatOptions("coder", {"temperature": 0.0, "top_k": 5, "seed": None})
    store.add_folder(folder)
    store.set_pinned(talk.id, True)
    store.set_folder(talk.id, folder.id)
    store.set_options(talk.id, options, "Be brief.")
    store.rename(talk.id, "By the model")
    store.set_archived(plain.id, True)
    store = reopened(store, path)
    changed = replace(talk, pinned=True, folder_id=folder.id, options=options, system_prompt="Be brief.", titled=True)
    assert store.conversations() == [replace(changed, title="By the model")]
    assert store.folders() == [folder]
    (away,) = store.archived()
    assert (away.id, away.title) == (plain.id, "plain")
    assert away.archived_at is not None
    store.set_archived(plain.id, False)
    store.set_options(talk.id, ChatOptions(), "")
    store.rename(talk.id, "From the question", titled=False)
    store = reopened(store, path)
    assert store.archived() == []
    assert {c.id: (c.titled, c.options) for c in store.conversations()} == {
        plain.id: (False, ChatOptions()),
        talk.id: (False, ChatOptions()),
    }
    store.close()


def test_a_folder_that_goes_gives_its_conversations_back(store):
    folder = Folder("Work")
    store.add_folder(folder)
    talk = store.create("talk")
    store.set_folder(talk.id, folder.id)
    store.rename_folder(folder.id, "Play")
    assert store.flush()
    assert [f.name for f in store.folders()] == ["Play"]
    store.delete_folder(folder.id)
    assert store.flush()
    assert store.folders() == []
    assert [c.folder_id for c in store.conversations()] == [None]


def test_attachments_and_thinking_time_come_back(store):
    talk = store.create()
    asked = StoredMessage(talk.id, "user", "see", attachments=FILES)
    answered = StoredMessage(talk.id, "assistant", "<think>a</think>b", parent_id=asked.id, thinking_s=1.25)
    store.add_message(asked)
    store.save_partial(replace(answered, thinking_s=None, status="partial"))
    store.finish_message(answered)
    assert store.flush()
    assert store.tree(talk.id).thread() == [asked, answered]


def test_drafts_are_kept_apart_and_the_latest_wins(store, path):
    talk = store.create()
    store.save_draft("", "for a new chat")
    store.save_draft(talk.id, "first")
    store.save_draft(talk.id, "second", FILES)
    store = reopened(store, path)
    assert store.draft("") == ("for a new chat", ())
    assert store.draft(talk.id) == ("second", FILES)
    assert store.draft("unknown") == ("", ())
    store.save_draft("", "")
    store.delete(talk.id)
    store.purge_deleted()
    store = reopened(store, path)
    assert (store.draft(""), store.draft(talk.id)) == (("", ()), ("", ()))
    store.close()


def test_a_trace_lives_as_long_as_its_message(store, path):
    talk = store.create()
    asked, answered = chain(store, talk, "q", "a")
    store.save_trace(answered.id, '{"steps": 1}')
    store.save_trace(answered.id, '{"steps": 2}')
    store.save_trace("a message that has gone", "{}")
    assert store.flush()
    assert store.trace(answered.id) == '{"steps": 2}'
    assert store.trace(asked.id) is None
    store.delete(talk.id)
    store.purge_deleted()
    assert store.flush()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM turn_trace").fetchone() == (0,)
    db.close()


def test_a_deleted_message_takes_its_branch_along_and_comes_back_in_its_place(store):
    talk = store.create()
    (asked,) = chain(store, talk, "q")
    first = chain(store, talk, "one", "more", parent=asked.id)
    second = chain(store, talk, "two", parent=asked.id)
    assert store.flush()
    before = store.tree(talk.id)
    store.show_branch(talk.id, first[-1].id)
    store.delete_message([first[0].id])
    assert store.flush()
    tree = store.tree(talk.id)
    assert tree.leaf_id == asked.id, "the leaf was in the branch, so its parent is shown"
    assert tree.get(first[0].id) is None
    assert tree.get(first[1].id) is None, "what stands below goes too, even when it is not named"
    assert tree.version(second[0].id).of == 1
    store.restore_message([message.id for message in first])
    store.show_branch(talk.id, second[0].id)
    assert store.flush()
    tree = store.tree(talk.id)
    assert tree.thread() == before.thread()
    assert tree.version(first[0].id).number == 1, "its versions stand in their order"


def test_the_first_message_can_be_deleted_and_what_ends_late_stays_hidden(store, path):
    talk = store.create()
    messages = chain(store, talk, *map(str, range(1200)))
    growing = StoredMessage(talk.id, "assistant", "", parent_id=messages[-1].id, status="partial")
    store.save_partial(growing)
    store.delete_message([messages[0].id])
    store.finish_message(replace(growing, content="ended late", status="cancelled"))
    store.add_message(StoredMessage(talk.id, "assistant", "began late", parent_id=messages[-1].id))
    assert store.flush(30)
    assert store.tree(talk.id).thread() == []
    store.purge_deleted()
    assert store.flush(30)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM message").fetchone() == (0,)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()
    assert len(store.conversations()) == 1


def test_a_tree_is_added_at_once_with_its_traces(store):
    talk = Conversation(title="fork", pinned=True, titled=True)
    asked = StoredMessage(talk.id, "user", "q", attachments=FILES)
    one, two = (StoredMessage(talk.id, "assistant", text, parent_id=asked.id) for text in ("one", "two"))
    talk = replace(talk, leaf_id=one.id)
    store.add_tree(talk, [asked, one, two], {two.id: "{}"})
    assert store.flush()
    assert store.conversations() == [talk]
    tree = store.tree(talk.id)
    assert (tree.thread(), tree.version(two.id).of) == ([asked, one], 2)
    assert store.trace(two.id) == "{}"
