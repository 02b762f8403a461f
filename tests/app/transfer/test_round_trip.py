from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from app.records import ChatOptions, Conversation, Folder, StoredMessage
from app.store import Store
from app.transfer.exporting import export_job
from app.transfer.importing import import_job
from app.transfer.job import Control
from app.transfer.words import export_sentence, import_sentence
from engine.stats import TurnStats
from tests.app.many import fill
from tests.app.transfer.trees import contents, everything


def work(job):
    """Run a job on this thread."""
    return job._work(Control(lambda done, total: None))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(given_contents=contents())
def test_every_export_imported_again_equals_the_original(tmp_path_factory, qapp, given_contents):
    home = tmp_path_factory.mktemp("trip")
    folders, trees = given_contents
    first, second = Store(home / "first.sqlite3"), Store(home / "second.sqlite3")
    for folder in folders:
        first.add_folder(folder)
    for tree in trees:
        first.add_tree(*tree)
    assert first.flush()
    assert work(export_job(first, home / "all.json", "json")).count == len(trees)
    if trees:
        result = work(import_job(second, home / "all.json"))
        assert (result.count, result.skipped_count, result.already_here) == (len(trees), 0, 0)
        assert sorted(result.ids) == sorted(tree[0].id for tree in trees)
        assert everything(second) == everything(first)
        again = work(import_job(second, home / "all.json"))
        assert (again.count, again.already_here) == (0, len(trees))
        assert everything(second) == everything(first)
    first.close()
    second.close()


def talk_of(*texts, **values):
    talk = Conversation(**{"title": "talk", **values})
    messages = []
    for at, text in enumerate(texts):
        parent = messages[-1].id if messages else None
        messages.append(StoredMessage(talk.id, "assistant" if at % 2 else "user", text, parent_id=parent))
    return replace(talk, leaf_id=messages[-1].id), messages


def test_what_was_said_since_is_kept_when_the_same_file_comes_again(store, run, tmp_path):
    talk, messages = talk_of("q", "a")
    store.add_tree(talk, messages)
    run(export_job(store, tmp_path / "all.json", "json"))
    store.rename(talk.id, "Renamed")
    store.add_message(StoredMessage(talk.id, "user", "later", parent_id=messages[-1].id))
    result = run(import_job(store, tmp_path / "all.json"))
    assert (result.count, result.already_here) == (0, 1)
    assert import_sentence(result) == "0 chats imported. 1 already here."
    assert [c.title for c in store.conversations()] == ["Renamed"]
    assert len(store.tree(talk.id).thread()) == 3


def test_what_has_a_taken_id_and_says_something_else_comes_under_a_new_one(store, run, tmp_path):
    talk, messages = talk_of("q", "a")
    store.add_tree(talk, messages, {messages[1].id: "{}"})
    run(export_job(store, tmp_path / "all.json", "json"))
    file = json.loads((tmp_path / "all.json").read_text())
    file["conversations"][0]["messages"][1]["content"] = "another answer"
    (tmp_path / "all.json").write_text(json.dumps(file))
    (added,) = run(import_job(store, tmp_path / "all.json")).ids
    assert added != talk.id
    assert [m.content for m in store.tree(talk.id).thread()] == ["q", "a"], "nothing is overwritten"
    copied = store.tree(added).thread()
    assert [m.content for m in copied] == ["q", "another answer"]
    assert store.trace(copied[1].id) == "{}"


def test_the_same_message_ids_in_two_conversations_of_one_file_are_no_obstacle(store, run, tmp_path):
    talk, messages = talk_of("q", "a")
    store.add_tree(talk, messages)
    run(export_job(store, tmp_path / "all.json", "json"))
    file = json.loads((tmp_path / "all.json").read_text())
    file["conversations"] *= 2
    file["conversations"].append({**file["conversations"][0], "id": "other"})
    other = Store(tmp_path / "other.sqlite3")
    (tmp_path / "all.json").write_text(json.dumps(file))
    result = run(import_job(other, tmp_path / "all.json"))
    assert (result.count, result.already_here) == (2, 1)
    assert all(len(other.tree(each).thread()) == 2 for each in result.ids)
    other.close()


def test_a_folder_of_the_same_name_is_the_same_folder(store, run, tmp_path):
    store.add_folder(Folder("Work", "w1"))
    talk, messages = talk_of("q", folder_id="w1")
    store.add_tree(talk, messages)
    run(export_job(store, tmp_path / "all.json", "json"))
    other = Store(tmp_path / "other.sqlite3")
    other.add_folder(Folder("Work", "w2"))
    assert run(import_job(other, tmp_path / "all.json")).folders == ()
    assert [folder.id for folder in other.folders()] == ["w2"]
    assert [c.folder_id for c in other.conversations()] == ["w2"]
    other.close()


def test_only_the_chosen_ones_and_what_was_queued_are_exported(store, run, tmp_path):
    one, two = store.create("one"), store.create("two")
    store.delete(store.create("gone").id)
    store.add_message(StoredMessage(one.id, "user", "just said"))
    result = run(export_job(store, tmp_path / "one.json", "json", [one.id, "unknown"]))
    assert result.count == 1
    assert export_sentence(result) == "1 chat exported to one.json."
    file = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert (file["format"], file["version"]) == ("loquat", 1)
    assert [c["messages"][0]["content"] for c in file["conversations"]] == ["just said"]
    result = run(export_job(store, tmp_path / "all.json", "json"))
    assert result.count == 2
    assert result.steps[-1] == (2, 2)
    assert two.id in (tmp_path / "all.json").read_text()


def test_keys_in_another_order_and_a_newer_version(store, run, tmp_path, take):
    store.add_folder(Folder("Work", "w1"))
    talk, messages = talk_of("q", folder_id="w1")
    store.add_tree(talk, messages)
    run(export_job(store, tmp_path / "all.json", "json"))
    file = json.loads((tmp_path / "all.json").read_text())
    other = Store(tmp_path / "other.sqlite3")
    (tmp_path / "sorted.json").write_text(json.dumps(file, sort_keys=True, indent=1))
    assert run(import_job(other, tmp_path / "sorted.json")).folders == tuple(store.folders())
    assert everything(other) == everything(store)
    other.close()
    result = take({**file, "version": 2})
    assert "newer version" in result.problem
    assert len(store.conversations()) == 1


@pytest.mark.parametrize("strange", [None, "", "yesterday", "2026-99-99", 5, ["2026-11-29"]])
def test_a_day_that_is_none_is_that_of_its_beginning(take, store, strange):
    messages = [{"id": "m", "role": "user", "content": "q"}]
    take([{"id": "t", "leaf_id": "m", "started_on": strange, "created_at": 1_700_000_000, "messages": messages}])
    assert store.conversations()[0].started_on.startswith("2023-11-1")


def test_figures_that_json_cannot_hold_do_not_spoil_the_file(store, run, tmp_path):
    talk, (asked, answered) = talk_of("q", "a", options=ChatOptions("", {"top_p": 0.5, "temperature": float("inf")}))
    stats = TurnStats(1, 1, 0, 1, 0.0, 0.0, 0.0, None, float("inf"), None, 0, 0.0)
    store.add_tree(talk, [asked, replace(answered, stats=stats)])
    run(export_job(store, tmp_path / "all.json", "json"))
    other = Store(tmp_path / "other.sqlite3")
    assert run(import_job(other, tmp_path / "all.json")).count == 1
    assert other.tree(talk.id).thread() == [asked, answered]
    assert other.conversations()[0].options == ChatOptions("", {"top_p": 0.5})
    other.close()


@pytest.mark.expects_log("a transfer failed")
def test_an_export_that_cannot_be_written_leaves_nothing(store, run, tmp_path):
    store.create("talk")
    (tmp_path / "folder.json").mkdir()
    result = run(export_job(store, tmp_path / "folder.json", "json"))
    assert "cannot be" in result.problem
    result = run(export_job(store, tmp_path / "missing" / "all.json", "json"))
    assert "cannot be" in result.problem
    assert not list(tmp_path.glob("*.part"))


def test_an_export_that_begins_and_ends_while_another_writes_the_same_file_is_no_harm_to_it(store, tmp_path):
    store.create("talk")
    inner = []

    def tell(done, total):
        if not inner:
            inner.append(None)
            inner[0] = work(export_job(store, tmp_path / "all.json", "json"))

    outer = export_job(store, tmp_path / "all.json", "json")._work(Control(tell))
    assert (inner[0].count, outer.count) == (1, 1)
    assert len(json.loads((tmp_path / "all.json").read_text())["conversations"]) == 1
    assert not list(tmp_path.glob("*.part"))


def test_exports_into_the_same_folder_at_the_same_time_take_no_name_twice(store, run, tmp_path, qtbot):
    for number in range(10):
        store.add_tree(*talk_of(f"question {number}"))
    folder = tmp_path / "texts"
    folder.mkdir()
    jobs = [export_job(store, folder, "markdown") for _ in range(6)]
    counts = []
    for job in jobs:
        job.finished.connect(lambda result: counts.append(result.count))
        job.start()
    qtbot.waitUntil(lambda: len(counts) == len(jobs), timeout=60_000)
    assert [job.close() for job in jobs] == [True] * 6
    files = [file.read_text(encoding="utf-8") for file in folder.iterdir()]
    assert counts == [10] * 6
    assert [sum(f"question {number}" in text for text in files) for number in range(10)] == [6] * 10


def test_imports_of_the_same_file_at_the_same_time_take_each_chat_once(store, run, tmp_path, qtbot):
    for number in range(50):
        store.add_tree(*talk_of(f"question {number}"))
    run(export_job(store, tmp_path / "all.json", "json"))
    other, results = Store(tmp_path / "other.sqlite3"), []
    jobs = [import_job(other, tmp_path / "all.json") for _ in range(4)]
    for job in jobs:
        job.finished.connect(results.append)
        job.start()
    qtbot.waitUntil(lambda: len(results) == len(jobs), timeout=60_000)
    assert [job.close() for job in jobs] == [True] * 4
    assert sorted((result.problem, result.count, result.already_here) for result in results) == [
        *[("", 0, 50)] * 3,
        ("", 50, 0),
    ]
    assert other.close()


def test_a_cancelled_export_leaves_the_old_file(tmp_path, run, qtbot):
    fill(tmp_path / "many.sqlite3", 300, 10)
    store = Store(tmp_path / "many.sqlite3")
    path = tmp_path / "all.json"
    path.write_text("old")
    job = export_job(store, path, "json")
    job.progress.connect(lambda done, total: job.cancel())
    assert run(job).cancelled
    assert path.read_text() == "old"
    folder = tmp_path / "texts"
    folder.mkdir()
    job = export_job(store, folder, "markdown")
    job.progress.connect(lambda done, total: job.cancel())
    assert run(job).cancelled
    assert list(folder.iterdir()) == []
    assert not list(tmp_path.glob("*.part"))
    store.close()
