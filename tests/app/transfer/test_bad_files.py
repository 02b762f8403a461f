"""Files of the wrong kind, damaged ones, and imports that are given up: one sentence, and nothing is added."""

from __future__ import annotations

import io
import json
import os
import random
import sqlite3
import threading
import zipfile

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.migrations import StoreError
from app.store import Store
from app.transfer import loquat_json
from app.transfer.importing import import_job, tree_of
from app.transfer.job import Control, TransferJob
from app.transfer.reading import DEEPEST, read_entries
from app.transfer.result import TransferResult
from app.transfer.values import date, moment
from app.transfer.words import export_sentence, import_sentence
from engine.errors import Cancelled
from tests.app.pace import least_s

TALK = {"id": "t", "title": "T", "messages": [{"role": "user", "content": "q", "id": "m"}]}


def zipped(files, **values):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"<!DOCTYPE html><html></html>", "not a JSON file"),
        (bytes(range(256)) * 100, "not a JSON file"),
        (b"\x89PNG\r\n\x1a\n", "not a JSON file"),
        (json.dumps([TALK]).encode("utf-16"), "not a JSON file"),
        (b'"a text"', "not a JSON file"),
        (b"# Markdown", "not a JSON file"),
        (b"[tool.loquat]\nname = 1\n", "not a JSON file"),
        (b"[[bin]]\nname = 1\n", "not a JSON file"),
        (json.dumps([TALK]).encode()[:-5], "damaged or not complete"),
        (json.dumps([TALK, TALK]).encode()[:-30], "damaged or not complete"),
        (json.dumps([TALK]).encode() + b"[]", "damaged or not complete"),
        (b'{"a": 1} {"a": 2}', "damaged or not complete"),
        (b"[{]", "damaged or not complete"),
        (b'[{"title": NaN}]', "damaged or not complete"),
        (b'[{"title": "\xff\xfe"}]', "damaged or not complete"),
        (b"[" + b"9" * 5000 + b"]", "damaged or not complete"),
        (b"[1e999]", "damaged or not complete"),
        (b"[" * 10_000, "damaged or not complete"),
        (b'{"a":' * 10_000, "damaged or not complete"),
        (b"{}", "no chats in"),
        (b"[]", "no chats in"),
        (b'{"format": "loquat", "version": 1, "folders": [], "conversations": []}', "no chats in"),
        (json.dumps({"name": "package", "version": "1.0", "files": ["a"]}).encode(), "no chats in"),
        (b"PK\x03\x04 no archive", "damaged or locked archive"),
        (zipped({"a.txt": "x"}), "no conversations.json in"),
        (zipped({"a.json": "[]", "b.json": "[]"}), "no conversations.json in"),
        (zipped({"conversations.json": "[{"}), "damaged or not complete"),
        (zipped({"conversations.json": json.dumps([TALK]) * 100})[:-60], "damaged or locked archive"),
    ],
)
def test_a_wrong_file_gives_one_sentence(take, store, content, sentence):
    result = take(content, "wrong.json")
    assert sentence in result.problem
    assert result.problem.endswith(".")
    assert import_sentence(result) == result.problem
    assert (result.count, store.conversations()) == (0, [])


def test_a_file_that_is_not_there(store, run, tmp_path):
    assert "cannot be read" in run(import_job(store, tmp_path / "missing.json")).problem
    assert "cannot be read" in run(import_job(store, tmp_path)).problem


def test_a_deep_value_is_cut_and_the_rest_is_read(take, store):
    deep = json.dumps(TALK)[:-1] + ', "meta": ' + "[" * 10_000 + "]" * 10_000 + "}"
    result = take(f"[{deep}, {'[' * 10_000}{']' * 10_000}]".encode())
    assert (result.count, result.skipped_count) == (1, 1)
    assert [c.title for c in store.conversations()] == ["T"]
    assert DEEPEST < 1000, "Python's own functions on nested values are recursive"


def test_what_is_no_conversation_is_told_and_the_rest_is_taken(take, store):
    result = take([TALK, 3, None, [], {"title": "Other"}, {"title": "Empty", "mapping": {}}])
    assert (result.count, result.skipped_count) == (1, 5)
    assert [skipped.title for skipped in result.skipped] == ["", "", "", "Other", "Empty"]
    assert "empty" in result.skipped[-1].reason
    assert import_sentence(result) == "1 chat imported. 5 could not be read."


KEYS = """id title messages mapping chat history currentId current_node message author role content parts parent
children parent_id leaf_id started_on folder_id options sampling stats attachments token_ids metadata create_time
timestamp content_type text files name a b"""
KINDS = "a b user assistant system tool text multimodal_text thoughts"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**63, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS.split()) | st.text(max_size=3), inner | st.sampled_from(KINDS.split()), max_size=8
        )
    ),
    max_leaves=40,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_no_json_makes_the_readers_fail(value):
    for each in (
        value,
        {"messages": value, "id": "i", "leaf_id": value, "started_on": ""},
        {"mapping": value},
        {"chat": value},
    ):
        tree = tree_of(each)
        seen = set()
        for message in tree.messages if tree else ():
            assert message.parent_id is None or message.parent_id in seen
            seen.add(message.id)
        assert not tree or tree.conversation.leaf_id is None or tree.conversation.leaf_id in seen


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(
        st.fixed_dictionaries({"id": st.sampled_from("xyz"), "messages": JSON, "leaf_id": JSON, "started_on": JSON})
    )
)
def test_whatever_is_read_can_be_stored(tmp_path_factory, qapp, value):
    home = tmp_path_factory.mktemp("any")
    (home / "any.json").write_text(json.dumps(value))
    store = Store(home / "store.sqlite3")
    result = import_job(store, home / "any.json")._work(Control(lambda done, total: None)) if value else None
    assert result is None or result.count == len(store.conversations())
    store.close()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 400), st.binary(max_size=3), st.booleans())
def test_a_file_with_a_blow_is_read_or_refused(tmp_path_factory, at, blow, cut):
    content = json.dumps([TALK] * 4).encode()
    path = tmp_path_factory.mktemp("blow") / "file.json"
    path.write_bytes(content[:at] + blow + (b"" if cut else content[at + len(blow) :]))
    result = TransferJob(
        path, lambda control: TransferResult(path, len(list(read_entries(path, control.tick))))
    )._attempt()
    assert result.count or result.problem.endswith(".")


def test_a_long_chat_whose_answers_stand_before_their_questions_is_read_in_no_time():
    count = 40_000
    messages = [{"id": f"m{at}", "parent_id": f"m{at - 1}", "content": "x"} for at in reversed(range(count))]
    value = {"id": "c", "leaf_id": None, "started_on": "", "messages": messages}
    assert len(loquat_json.tree_from(value).messages) == count
    assert least_s(lambda: loquat_json._parents_first({m["id"]: m for m in messages}), 1) < 1


@pytest.mark.parametrize("last", [32_503_679_999, 32_503_679_999_000])
def test_no_time_is_later_than_every_system_knows(last):
    assert moment(last) == 32_503_679_999
    assert moment(2 * last) is None
    assert date(moment(last)).startswith(("2999", "3000"))


def many(path, conversations, size=2000):
    """A file of ChatGPT's format."""
    source = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(conversations):
            nodes = {}
            for at in range(10):
                text = f"{source.random()} " * (size // 20)
                content = {"content_type": "text", "parts": [text]}
                author = {"role": "assistant" if at % 2 else "user"}
                parent = f"n{number}-{at - 1}" if at else None
                message = {
                    "id": "m",
                    "author": author,
                    "content": content,
                    "metadata": {"citations": [{"a": [1, 2.5]}]},
                }
                nodes[f"n{number}-{at}"] = {
                    "id": f"n{number}-{at}",
                    "parent": parent,
                    "children": [],
                    "message": message,
                }
            talk = {"title": f"talk {number}", "create_time": 1e9 + number, "mapping": nodes, "id": f"c{number}"}
            file.write(("," if number else "") + json.dumps(talk))
        file.write("]")


def rows(path):
    db = sqlite3.connect(path)
    tables = ("conversation", "message", "folder")
    found = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]  # noqa: S608
    db.close()
    return found


def test_a_cancelled_import_adds_nothing(store, run, tmp_path):
    many(tmp_path / "many.json", 300)
    job = import_job(store, tmp_path / "many.json")
    job.progress.connect(lambda done, total: job.cancel() if done > total / 2 else None)
    result = run(job)
    assert (result.cancelled, result.count) == (True, 0)
    assert "Nothing was added" in import_sentence(result)
    assert rows(store.path) == [0, 0, 0]


def test_a_damaged_end_adds_nothing(store, run, tmp_path):
    many(tmp_path / "many.json", 300)
    os.truncate(tmp_path / "many.json", (tmp_path / "many.json").stat().st_size - 10)
    assert "not complete" in run(import_job(store, tmp_path / "many.json")).problem
    assert rows(store.path) == [0, 0, 0]


def test_nothing_is_seen_until_all_is_there_and_the_next_start_removes_what_was_not(store, run, tmp_path, qtbot):
    many(tmp_path / "many.json", 300)
    seen = []
    job = import_job(store, tmp_path / "many.json")
    job.progress.connect(lambda done, total: seen.append((len(store.conversations()), len(store.deleted()))))
    store.purge_deleted()
    result = run(job)
    assert result.count == 300
    assert set(seen[:-1]) <= {(0, 0)}
    assert len(store.conversations()) == 300
    db = sqlite3.connect(store.path)
    db.execute("UPDATE conversation SET deleted_at = 1e12 + 5 WHERE id = 'c7'")
    db.commit()
    db.close()
    assert store.close()
    again = Store(store.path)
    assert again.flush()
    assert rows(again.path) == [299, 2990, 0], "an import that the end of the program cut off"
    again.close()


@pytest.mark.expects_log("a transfer failed")
def test_a_full_disk_ends_the_import_and_adds_nothing(tmp_path, run, monkeypatch):
    from app import db_writer

    connect = db_writer.connect

    def connect_to_a_small_disk(path):
        db = connect(path)
        db.execute("PRAGMA max_page_count = 300")
        return db

    Store(tmp_path / "small.sqlite3").close()
    monkeypatch.setattr(db_writer, "connect", connect_to_a_small_disk)
    reports = []
    small = Store(tmp_path / "small.sqlite3", reports.append)
    many(tmp_path / "many.json", 300)
    result = run(import_job(small, tmp_path / "many.json"))
    assert "not enough room" in result.problem
    assert (rows(small.path), reports) == ([0, 0, 0], [])
    small.close()


def test_the_store_may_be_closed_in_the_midst_of_an_import(tmp_path, qtbot):
    store = Store(tmp_path / "conversations.sqlite3")
    many(tmp_path / "many.json", 600)
    job = import_job(store, tmp_path / "many.json")
    with qtbot.waitSignal(job.progress):
        job.start()
    assert job.close()
    assert store.close()
    assert rows(store.path) == [0, 0, 0]
    with pytest.raises(StoreError):
        store.write_now([])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_in_the_program_ends_the_job_with_a_sentence(run, tmp_path):
    def work(control):
        raise ZeroDivisionError

    assert "A fault in Loquat" in run(TransferJob(tmp_path, work)).problem


def test_progress_comes_in_the_windows_thread(store, run, tmp_path):
    many(tmp_path / "many.json", 50)
    threads = set()
    job = import_job(store, tmp_path / "many.json")
    job.progress.connect(lambda *_: threads.add(threading.current_thread()))
    result = run(job)
    assert threads == {threading.main_thread()}
    size = (tmp_path / "many.json").stat().st_size
    assert result.steps == sorted(result.steps)
    assert result.steps[-1] == (size, size)


def test_what_is_told_of_an_export():
    assert "cancelled" in export_sentence(TransferResult("p", cancelled=True))
    assert export_sentence(TransferResult("p", problem="It failed.")) == "It failed."


def test_a_control_that_was_cancelled_raises():
    control = Control(lambda done, total: None)
    control.tick(0, 1)
    control.cancel()
    with pytest.raises(Cancelled):
        control.tick(1, 1)


@pytest.mark.slow
def test_two_hundred_megabytes_take_little_memory(tmp_path, store, run):
    path = tmp_path / "large.json"
    many(path, 10_000, 2000)
    size = path.stat().st_size
    assert size > 200e6
    process = psutil.Process()
    before, most = process.memory_info().rss, [0]
    job = import_job(store, path)
    job.progress.connect(lambda *_: most.append(process.memory_info().rss - before))
    result = run(job)
    print(f"{size / 1e6:.0f} MB: {result.count} conversations, at most {max(most) / 1e6:.0f} MB of memory")
    assert result.count == 10_000
    assert max(most) < 60e6
