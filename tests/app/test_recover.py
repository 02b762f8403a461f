"""Databases that are damaged in every way that disks and programs damage files, and those of a newer version."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import migrations, soundness
from app.db_writer import connect
from app.migrations import StoreError, StoreTooNew, migrate
from app.records import Attachment, ChatOptions, Conversation, Folder, StoredMessage
from app.recover import Recovered, Rescue, recover
from app.search import search
from app.sqlite_pages import Pages
from app.store import Store, open_store
from engine.stats import ItlMs, TurnStats

STATS = TurnStats(30, 10, 20, 5, 0.01, 0.002, 0.3, 0.35, 21.5, ItlMs(40.0, 50.0, 60.0), 4096, 0.6)
FOLDER = Folder("Work")
PAGE = 4096


def make(path, conversations=40):
    """A database with everything that there can be; its contents as `everything` reads them."""
    store = Store(path)
    store.add_folder(FOLDER)
    for number in range(conversations):
        options = ChatOptions("coder", {"temperature": 0.5}) if number % 3 else ChatOptions()
        talk = Conversation(title=f"title {number}", folder_id=FOLDER.id, pinned=number % 7 == 0, options=options)
        asked = StoredMessage(
            talk.id, "user", f"question {number} 天空", attachments=(Attachment("a.txt", "long " * 2000),)
        )
        first = StoredMessage(talk.id, "assistant", "one " * (number * 60), parent_id=asked.id, stats=STATS, model="m")
        second = replace(first, id=f"second{number}", content="two", token_ids=(1, 2, 3), thinking_s=1.5)
        talk = replace(talk, leaf_id=first.id)
        store.add_tree(talk, [asked, first, second], {second.id: '{"n": 1}'})
        store.save_draft(talk.id, f"draft {number}")
    gone = store.create("gone")
    store.delete(gone.id)
    assert store.close()


def everything(store):
    """All that can be read, by conversation."""
    found = {}
    for talk in (*store.conversations(), *store.archived()):
        tree = store.tree(talk.id)
        messages = tuple(tree._messages.values())
        found[talk.id] = (talk, messages, store.draft(talk.id), {m.id: store.trace(m.id) for m in messages})
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "conversations.sqlite3"
    make(path)
    store = Store(path)
    contents = everything(store)
    store.close()
    return path, contents


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "conversations.sqlite3"


def damaged_copy(sound, path, damage):
    path.parent.mkdir(parents=True, exist_ok=True)
    content = bytearray(sound[0].read_bytes())
    content = damage(content) or content
    path.write_bytes(content)
    return bytes(content)


def overwrite(start, length, byte=0xFF):
    def damage(content):
        content[start : start + length] = bytes([byte]) * len(content[start : start + length])

    return damage


def test_all_of_a_sound_file_is_recovered(sound, tmp_path):
    assert recover(sound[0], tmp_path / "fresh.sqlite3") == Rescue(40, 120, 0)
    store = Store(tmp_path / "fresh.sqlite3")
    assert everything(store) == sound[1]
    assert store.folders() == [FOLDER]
    store.close()


@pytest.mark.expects_log("the database is damaged")
@pytest.mark.parametrize(
    ("damage", "least"),
    [
        (overwrite(0, 100, 0), 40),
        (overwrite(0, PAGE), 40),
        (overwrite(PAGE, 2 * PAGE), 40),
        (overwrite(30 * PAGE, PAGE), 30),
        (lambda content: content[: len(content) // 2], 10),
        (lambda content: content[: len(content) - 3 * PAGE], 35),
        (lambda content: content[:50], 0),
        (lambda content: b"<html>no database</html>" * 1000, 0),
    ],
    ids=["header", "first page", "root pages", "page", "half", "end", "rest", "other file"],
)
def test_what_can_be_read_of_a_damaged_database_is_there_again(sound, path, damage, least):
    content = damaged_copy(sound, path, damage)
    store, sentence = open_store(path)
    (aside,) = path.parent.glob("conversations.damaged-*.sqlite3")
    assert aside.read_bytes() == content, "nothing is ever thrown away"
    assert str(aside) in sentence
    found = everything(store)
    assert len(found) >= least
    messages = {message.id for _, held, *_ in found.values() for message in held}
    said = f"{len(found)} chats with {len(messages)} messages could be read and are here"
    assert said in sentence if found else "could not be read" in sentence
    lost = re.search(r"at least (\d+) message", sentence)
    assert lost is None or 0 < int(lost[1]) <= 120 - len(messages)
    store.create("new")
    assert store.close()
    store, sentence = open_store(path)
    assert sentence == ""
    assert len(store.conversations()) == len(found) + 1
    store.close()


@pytest.mark.expects_log("the database is damaged")
def test_messages_that_lay_in_an_overwritten_page_are_said_to_be_lost(path):
    store = Store(path)
    talk = store.create("long")
    chain = [StoredMessage(talk.id, "user", "x" * 1500)]
    for number in range(19):
        chain.append(StoredMessage(talk.id, "assistant", f"{number} " * 500, parent_id=chain[-1].id))
    for message in chain:
        store.add_message(message)
    assert store.close()
    content = bytearray(path.read_bytes())
    place = content.index(b"9 9 9 9") // PAGE * PAGE
    content[place : place + PAGE] = b"\xff" * PAGE
    content[:100] = bytes(100)
    path.write_bytes(content)
    store, sentence = open_store(path)
    (found,) = everything(store).values()
    store.close()
    missing = len(chain) - len(found[1])
    assert missing > 0
    assert f"1 chat with {len(found[1])} messages could be read and are here; at least 1 message" in sentence


@pytest.mark.expects_log("the database is damaged")
def test_what_was_recovered_is_searched(sound, path):
    damaged_copy(sound, path, overwrite(0, 100, 0))
    store, _ = open_store(path)
    reader = sqlite3.connect(path)
    assert len(search(reader, "天空").hits) == 40
    reader.close()
    store.close()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    blows=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5000), st.integers(0, 2**32)), min_size=1, max_size=6),
    keep=st.floats(0.05, 1),
)
def test_whatever_is_damaged_it_is_read_without_a_crash_and_what_comes_back_is_sound(
    sound, tmp_path_factory, blows, keep
):
    work = tmp_path_factory.mktemp("blows")
    content = bytearray(sound[0].read_bytes())
    for place, length, seed in blows:
        start = int(place * (len(content) - 1))
        content[start : start + length] = random.Random(seed).randbytes(len(content[start : start + length]))
    (work / "damaged.sqlite3").write_bytes(content[: int(keep * len(content))])
    rescue = recover(work / "damaged.sqlite3", work / "fresh.sqlite3")
    db = sqlite3.connect(work / "fresh.sqlite3")
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()
    store = Store(work / "fresh.sqlite3")
    found = everything(store)
    store.close()
    assert len(found) == rescue.conversations
    assert sum(len(messages) for _, messages, *_ in found.values()) == rescue.messages
    shutil.rmtree(work)


def test_times_that_a_flipped_bit_made_can_be_shown_again(path, tmp_path):
    make(path, 1)
    db = connect(path)
    db.execute("UPDATE conversation SET created_at = 1e300, updated_at = 1e11, archived_at = -1e200")
    db.execute("UPDATE message SET created_at = 9e999, thinking_s = 9e999")
    db.close()
    recover(path, tmp_path / "fresh.sqlite3")
    store = Store(tmp_path / "fresh.sqlite3")
    (talk,) = store.conversations()
    messages = store.tree(talk.id).thread()
    store.close()
    assert (talk.created_at, talk.updated_at, talk.archived_at) == (0, 0, None)
    assert {(message.created_at, message.thinking_s) for message in messages} == {(0, None)}


def test_what_was_recovered_is_in_the_one_file_that_will_be_renamed(sound, tmp_path, monkeypatch):
    beside = []

    def connect_beside_a_reader(path):
        db = connect(path)
        beside.append(sqlite3.connect(path))
        beside[0].execute("PRAGMA user_version").fetchone()  # a virus scanner, say: with it SQLite leaves its log there
        return db

    monkeypatch.setattr("app.recover.connect", connect_beside_a_reader)
    recover(sound[0], tmp_path / "fresh.sqlite3")
    (tmp_path / "moved.sqlite3").write_bytes((tmp_path / "fresh.sqlite3").read_bytes())
    beside[0].close()
    store = Store(tmp_path / "moved.sqlite3")
    assert everything(store) == sound[1]
    store.close()


def test_messages_are_kept_without_their_conversation_and_without_their_parent(path, tmp_path):
    store = Store(path)
    talk = store.create("lost")
    chain = [StoredMessage(talk.id, "user", "the first question")]
    for number in range(4):
        chain.append(StoredMessage(talk.id, "assistant", f"{number}", parent_id=chain[-1].id))
    for message in chain:
        store.add_message(message)
    assert store.close()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE spare AS SELECT * FROM message WHERE content <> '1'")
    db.close()
    db = connect(path)
    db.execute("PRAGMA foreign_keys = OFF")
    for table in ("message", "conversation"):
        db.execute(f"DELETE FROM {table} WHERE {'content' if table == 'message' else 'title'} IN ('1', 'lost')")  # noqa: S608
    db.execute("DROP TABLE spare")
    db.close()
    assert recover(path, tmp_path / "fresh.sqlite3").conversations == 1
    store = Store(tmp_path / "fresh.sqlite3")
    (found,) = store.conversations()
    assert (found.id, found.title) == (talk.id, "the first question")
    assert [message.content for message in store.tree(talk.id).thread()] == ["the first question", "0", "2", "3"]
    store.close()


def test_rows_of_the_first_version_are_recovered(path, tmp_path):
    path.parent.mkdir(parents=True)
    db = connect(path)
    migrate(db, migrations.STEPS[:1])
    db.execute("INSERT INTO conversation VALUES ('c', 'Old', 1, 2, '2024-01-01', '', NULL, NULL)")
    db.execute(
        "INSERT INTO message (conversation_id, role, content, id, status, model, created_at)"
        " VALUES ('c', 'user', 'q', 'm', 'complete', '', 1)"
    )
    db.close()
    assert recover(path, tmp_path / "fresh.sqlite3").conversations == 1
    store = Store(tmp_path / "fresh.sqlite3")
    (found,) = store.conversations()
    assert (found.title, found.titled, store.tree("c").thread()[0].content) == ("Old", True, "q")
    store.close()


UNFINISHED = """
import os, sys
from pathlib import Path
from app.db_writer import connect
db = connect(Path(sys.argv[1]))
db.execute(sys.argv[2])
os._exit(0)
"""


def killed(path, statement):
    """A program that was killed after a statement: what it wrote is in the log only."""
    subprocess.run([sys.executable, "-c", UNFINISHED, str(path), statement], check=True, env=os.environ)
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


def test_what_was_only_in_the_log_is_recovered(path, tmp_path):
    make(path, 3)
    killed(path, "UPDATE conversation SET title = 'from the log' WHERE title = 'title 1'")
    content = bytearray(path.read_bytes())
    content[:100] = bytes(100)
    path.write_bytes(content)
    assert recover(path, tmp_path / "fresh.sqlite3").conversations == 3
    store = Store(tmp_path / "fresh.sqlite3")
    assert {c.title for c in store.conversations()} == {"title 0", "from the log", "title 2"}
    store.close()


@pytest.fixture(scope="module")
def with_log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "conversations.sqlite3"
    make(path, 5)
    killed(path, "UPDATE message SET content = content || ' and more'")
    return path.read_bytes(), path.with_name(f"{path.name}-wal").read_bytes()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(blows=st.lists(st.tuples(st.integers(0, 40_000), st.binary(min_size=1, max_size=40)), min_size=1, max_size=6))
def test_a_damaged_log_neither_hangs_nor_hides_what_the_file_holds(with_log, tmp_path_factory, blows):
    data, log = with_log[0], bytearray(with_log[1])
    for at, blow in blows:
        log[at : at + len(blow)] = blow
    pages = Pages(data, bytes(log))
    assert pages.count <= (len(data) + len(log)) // PAGE
    found = Recovered()
    for rowid, row in pages.rows():
        found.take(rowid, row)
    assert len(found.trees()) >= 1


def test_a_frame_that_names_a_page_far_away_is_passed_over(with_log):
    log = bytearray(with_log[1])
    log[32:36] = b"\xff\xff\xff\xff"
    assert Pages(with_log[0], bytes(log)).count < 1000


def test_a_newer_database_is_refused_and_not_a_byte_of_it_or_of_its_log_changes(path):
    make(path, 3)
    killed(path, f"PRAGMA user_version = {len(migrations.STEPS) + 1}")
    log = path.with_name(f"{path.name}-wal")
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(StoreTooNew, match="newer version of Loquat"):
        open_store(path)
    assert (path.read_bytes(), log.read_bytes()) == before
    db = connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    content = path.read_bytes()
    files = {file.name for file in path.parent.iterdir()}
    with pytest.raises(StoreTooNew, match="newer version of Loquat"):
        open_store(path)
    assert path.read_bytes() == content
    assert {file.name for file in path.parent.iterdir()} == files


@pytest.mark.expects_log("the database is damaged")
def test_damage_in_a_large_database_is_found_at_the_start_after_it_was_met(sound, path, monkeypatch):
    monkeypatch.setattr(soundness, "CHECKED_BYTES", 0)
    db = sqlite3.connect(sound[0])
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'message'").fetchone()
    db.close()
    damaged_copy(sound, path, overwrite((root - 1) * PAGE, PAGE))
    store, sentence = open_store(path)
    assert sentence == "", "checking every page of a large database would take too long"
    with pytest.raises(StoreError, match="restart Loquat"):
        store.tree(store.conversations()[0].id)
    store.close()
    store, sentence = open_store(path)
    assert "40 chats with 120 messages could be read and are here; others may be missing." in sentence
    assert everything(store) == sound[1]
    store.close()


@pytest.mark.expects_log("the database is damaged")
def test_a_disk_without_room_for_the_recovered_one_leaves_all_as_it_was(sound, path, monkeypatch):
    content = damaged_copy(sound, path, overwrite(0, 100, 0))

    def connect_to_a_small_disk(path):
        db = connect(path)
        db.execute("PRAGMA max_page_count = 60")
        return db

    monkeypatch.setattr("app.recover.connect", connect_to_a_small_disk)
    with pytest.raises(StoreError):
        open_store(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]
