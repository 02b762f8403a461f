from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import replace

import pytest

from app import db_writer, migrations
from app.migrations import StoreError, StoreTooNew, StoreUnknown, migrate, version
from app.records import ChatOptions, Conversation, StoredMessage, stats_from_json, stats_to_json, title_from
from app.store import Store, open_store
from engine.errors import DiskFull, EngineError
from engine.stats import ItlMs, TurnStats

STATS = TurnStats(30, 10, 20, 5, 0.01, 0.002, 0.3, 0.35, 21.5, ItlMs(40.0, 50.0, 60.0), 4096, 0.6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "conversations.sqlite3"


@pytest.fixture
def store(path):
    made = Store(path)
    yield made
    made.close()


def question(conversation, text="Why is the sky blue?", parent=None):
    return StoredMessage(conversation.id, "user", text, parent_id=parent)


def reply(to, text="Rayleigh scattering.", **values):
    return StoredMessage(to.conversation_id, "assistant", text, parent_id=to.id, **values)


def integrity(path):
    with sqlite3.connect(path) as db:
        found = [db.execute(f"PRAGMA {check}").fetchall() for check in ("integrity_check", "foreign_key_check")]
    db.close()
    return found


SOUND = [[("ok",)], []]


def test_everything_of_a_conversation_comes_back(path):
    store = Store(path)
    talk = Conversation(title="Sky", system_prompt="Be brief.")
    asked = question(talk, "天空为什么是蓝色的?👩‍🚀")
    answered = reply(asked, token_ids=(0, 7, 2**32 - 1), status="length", model="smollm2", stats=STATS)
    store.add_conversation(talk, asked)
    store.finish_message(answered)
    assert store.close()

    again = Store(path)
    (found,) = again.conversations()
    assert found == replace(talk, leaf_id=answered.id, updated_at=max(talk.updated_at, asked.created_at))
    assert again.tree(talk.id).thread() == [asked, answered]
    again.close()
    assert integrity(path) == SOUND


def test_closing_leaves_one_file_without_a_log(path):
    store = Store(path)
    store.create("Notes")
    assert store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_thread_is_the_branch_of_the_leaf(store):
    talk = store.create()
    asked = question(talk)
    first, second = reply(asked, "one"), reply(asked, "two")
    for message in (asked, first, second):
        store.add_message(message)
    assert store.flush()
    assert store.tree(talk.id).thread() == [asked, second]
    store.finish_message(replace(first, content="one, ended late", status="cancelled"))
    assert store.flush()
    assert store.tree(talk.id).thread() == [asked, second], "a reply that ends late must not become the branch on view"


def test_the_latest_conversation_comes_first(store):
    old, new = store.create("old"), store.create("new")
    store.add_message(question(old))
    assert store.flush()
    assert [c.title for c in store.conversations()] == ["old", "new"]
    assert new.title == "new"


def test_deleted_is_hidden_restored_or_purged_even_when_long(store, path):
    kept, gone = store.create("kept"), store.create("gone")
    last = None
    for number in range(1500):  # deeper than SQLite's limit of 1,000 nested cascades
        message = question(gone, str(number), last)
        store.add_message(message)
        last = message.id
    store.delete(gone.id)
    assert store.flush(30)
    assert [c.title for c in store.conversations()] == ["kept"]
    store.restore(gone.id)
    assert store.flush()
    assert len(store.tree(gone.id).thread()) == 1500
    store.delete(gone.id)
    store.purge_deleted()
    assert store.flush()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM message").fetchone() == (0,)
    db.close()
    assert [c.id for c in store.conversations()] == [kept.id]


def test_partial_saves_that_wait_are_replaced_by_the_latest(store, path):
    talk = store.create()
    asked = question(talk)
    store.add_message(asked)
    assert store.flush()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    growing = reply(asked, "", status="partial")
    for number in range(50):
        store.save_partial(replace(growing, content="x" * number, token_ids=tuple(range(number))))
    assert len(store._writer._jobs) <= 2, "the job in progress and the latest"
    holder.execute("ROLLBACK")
    holder.close()
    assert store.flush()
    assert store.tree(talk.id).thread()[-1] == replace(growing, content="x" * 49, token_ids=tuple(range(49)))


@pytest.mark.expects_log("a save failed .SQLITE_FULL.")
def test_a_full_disk_is_told_once_and_the_words_are_kept_until_there_is_room(path, monkeypatch):
    connect = db_writer.connect

    def connect_to_a_small_disk(path):
        db = connect(path)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 40}")
        return db

    first = Store(path)
    filler = first.create("filler")
    first.add_message(question(filler, "f " * 200_000))
    assert first.close()

    reports: list[EngineError | None] = []
    told, well = threading.Event(), threading.Event()

    def report(error):
        reports.append(error)
        (told if error else well).set()

    monkeypatch.setattr(db_writer, "connect", connect_to_a_small_disk)
    store = Store(path, report)
    store._writer._retry_s = 0.05
    talk = store.create("talk")
    words = [question(talk, f"{letter} " * 30_000) for letter in "abcdef"]
    for message in words:
        store.add_message(message)
    assert told.wait(5)
    assert not store.flush(0.3), "what does not fit must wait"
    store.rename(talk.id, "renamed while full")

    room = connect(path)
    room.execute("UPDATE message SET content = '' WHERE conversation_id = ?", (filler.id,))
    room.close()
    assert store.flush(5)
    assert well.wait(5)
    assert isinstance(reports[0], DiskFull)
    assert reports[1:] == [None]
    assert store.tree(talk.id).thread()[-1].content == "f " * 30_000
    assert {c.title for c in store.conversations()} == {"filler", "renamed while full"}
    assert store.close()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM message").fetchone() == (7,)
    db.close()


@pytest.mark.expects_log("a save failed")
def test_closing_on_a_full_disk_ends_in_time_and_says_so(path, monkeypatch):
    connect = db_writer.connect

    def connect_full(path):
        db = connect(path)
        db.execute("PRAGMA max_page_count = 1")
        return db

    Store(path).close()
    monkeypatch.setattr(db_writer, "connect", connect_full)
    store = Store(path)
    store.add_conversation(Conversation(title="x" * 100_000))
    assert store.close(timeout_s=0.4) is False


@pytest.mark.expects_log("a save failed")
def test_a_save_that_can_never_work_is_told_and_does_not_hold_up_the_rest(path):
    reports: list[EngineError | None] = []
    store = Store(path, reports.append)
    store.add_message(StoredMessage("no such conversation", "user", "lost"))
    store.create("after")
    assert store.flush()
    assert [c.title for c in store.conversations()] == ["after"]
    assert [type(error) for error in reports] == [StoreError]
    assert "restart" in reports[0].sentence
    store.close()


def test_the_ladder_is_climbed_a_step_at_a_time_and_a_failed_step_changes_nothing(path):
    Store(path).close()
    db = sqlite3.connect(path, isolation_level=None)
    good = "ALTER TABLE conversation ADD COLUMN mood TEXT;"
    bad = "ALTER TABLE conversation ADD COLUMN colour TEXT; ALTER TABLE nothing ADD COLUMN x TEXT;"
    with pytest.raises(sqlite3.OperationalError):
        migrate(db, [*migrations.STEPS, good, bad])
    columns = {row[1] for row in db.execute("PRAGMA table_info(conversation)")}
    assert version(db) == len(migrations.STEPS) + 1
    assert "mood" in columns
    assert "colour" not in columns
    db.close()


def test_conversations_of_the_first_version_are_read(path):
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path, isolation_level=None)
    migrate(db, migrations.STEPS[:1])
    columns = "conversation_id, role, content, id, status, model, created_at"
    db.execute("INSERT INTO conversation VALUES ('c', 'Old', 1, 2, '2024-01-01', '', NULL, NULL)")
    db.execute(f"INSERT INTO message ({columns}) VALUES ('c', 'user', 'q', 'm', 'complete', '', 1)")  # noqa: S608
    db.execute("UPDATE conversation SET leaf_id = 'm'")
    db.close()
    store = Store(path)
    (found,) = store.tree("c").thread()
    assert (found.content, found.left_out) == ("q", 0)
    (talk,) = store.conversations()
    assert talk.titled, "the person may have named it, so that no model may"
    assert (talk.pinned, talk.options) == (False, ChatOptions())
    store.close()


def test_a_folder_that_cannot_be_written_gives_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be kept"):
        open_store(tmp_path / "file" / "conversations.sqlite3")


@pytest.mark.parametrize("claimed", range(len(migrations.STEPS)))
def test_tables_of_another_version_than_the_database_says_are_told_and_left_alone(path, claimed):
    first = Store(path)
    first.add_conversation(Conversation("kept"))
    first.close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {claimed}")
    before = list(db.iterdump())
    db.close()
    with pytest.raises(StoreUnknown) as caught:
        open_store(path)
    assert caught.value.sentence == (
        f"The chats in {path.parent} were saved by another version of Loquat, or are damaged. Nothing was changed."
    )
    assert not isinstance(caught.value, StoreTooNew)
    db = sqlite3.connect(path)
    assert version(db) == claimed
    assert list(db.iterdump()) == before
    db.close()


def test_stats_of_another_version_read_as_none_and_new_figures_are_passed_over():
    assert stats_from_json(stats_to_json(STATS)) == STATS
    assert stats_from_json('{"prompt_tokens": 3}') is None
    older = json.loads(stats_to_json(replace(STATS, drafted_tokens=9)))
    del older["drafted_tokens"]
    assert stats_from_json(json.dumps(older)) == STATS, "figures that came later have defaults"
    assert stats_from_json(stats_to_json(STATS)[:-1] + ', "energy_j": 4.0}') == STATS
    other = json.loads(stats_to_json(STATS))
    other["itl_ms"]["p99"] = 70.0
    assert stats_from_json(json.dumps(other)) is None
    assert stats_to_json(None) is None


def test_half_a_surrogate_pair_is_stored_as_a_question_mark_and_the_rest_goes_on(store):
    talk = store.create("half \ud83d")
    store.add_message(question(talk, "a \udc00 b"))
    assert store.flush()
    assert [c.title for c in store.conversations()] == ["half ?"]
    assert store.tree(talk.id).thread()[0].content == "a ? b"


@pytest.mark.expects_log("a save failed")
def test_a_number_that_no_column_holds_is_told_and_does_not_end_the_writer(path):
    reports: list[EngineError | None] = []
    store = Store(path, reports.append)
    talk = store.create("talk")
    store.add_message(replace(question(talk), left_out=2**70))
    store.create("after")
    assert store.flush()
    assert {c.title for c in store.conversations()} == {"talk", "after"}
    assert [type(error) for error in reports] == [StoreError]
    store.close()


def test_writing_now_waits_and_raises_what_went_wrong(store):
    store.write_now([("INSERT INTO folder (id, name, created_at) VALUES ('f', 'n', 0)", ())])
    assert [folder.id for folder in store.folders()] == ["f"]
    with pytest.raises(sqlite3.IntegrityError):
        store.write_now([("DELETE FROM folder", ()), ("INSERT INTO message (id) VALUES ('m')", ())])
    assert [folder.id for folder in store.folders()] == ["f"], "one transaction"
    store.close()
    with pytest.raises(StoreError, match="were closed"):
        store.write_now([])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Why is the sky blue?", "Why is the sky blue?"),
        ("  two\n\nlines  ", "two lines"),
        ("Write a poem about the sea, the wind and the long way home", "Write a poem about the sea, the wind and…"),
        ("x" * 60, "x" * 40 + "…"),
        ("天空" * 30, "天空" * 20 + "…"),
    ],
)
def test_a_title_is_the_first_words(text, title):
    assert title_from(text) == title
