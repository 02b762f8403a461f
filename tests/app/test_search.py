from __future__ import annotations

import re
import sqlite3
import time
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app import migrations
from app.db_writer import connect
from app.migrations import migrate
from app.records import StoredMessage
from app.search import MOST, MOST_TITLES, Search, search
from app.search_query import QUERY_LENGTH, SNIPPET_LENGTH, parse, snippet
from app.search_result import SearchResult
from app.segment import PIECE, fold, segment
from app.store import Store
from tests.app.many import RARE, fill


@pytest.fixture
def path(tmp_path):
    return tmp_path / "conversations.sqlite3"


@pytest.fixture
def store(path):
    made = Store(path)
    yield made
    made.close()


@pytest.fixture
def reader(store, path):
    db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    yield db
    db.close()


def say(store, *texts, title="", parent=None):
    """A conversation with these messages."""
    talk = store.create(title)
    for text in texts:
        message = StoredMessage(talk.id, "user", text, parent_id=parent)
        store.add_message(message)
        parent = message.id
    assert store.flush()
    return talk


def found(reader, text, within=None):
    return [hit.snippet for hit in search(reader, text, within).hits]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Why is the sky blue?", ["sky", "SKY", "blu", "why blue", "the sk", '"the sky"', "sky  the", "is, the"]),
        ("天空为什么是蓝色的", ["天空", "为什么", "色", "蓝 天", '"空为"', "天空为什么是蓝色的"]),
        ("東京タワーへ行きました。", ["東京", "タワー", "ワー", "きまし"]),
        ("오늘 날씨가 좋습니다", ["날씨", "씨가", "좋습"]),
        ("ภาษาไทยง่าย", ["ไทย", "ภาษา"]),
        ("用Python编程", ["python编程", "Python", "pyth", "编程", "用py"]),
        ("Crème brûlée à la Straße", ["creme", "BRULEE", "crème brû", "strasse", "a la"]),
        ("Cre\u0301me", ["crème", "creme"]),
        ("wide: \uff21\uff22\uff23, half: \uff76\uff9e", ["abc", "ガ"]),
        ("кошка и собака", ["КОШКА", "соб"]),
        ("كِتابٌ", ["كتاب"]),
        ("call foo_bar(baz.qux)", ["foo_bar", "bar", "baz.qux", "foo_ba"]),
        ("don't stop", ["don't", "don stop"]),
    ],
)
def test_what_is_found_and_marked(store, reader, text, queries):
    say(store, text, "another thing altogether")
    for query in queries:
        (hit,) = search(reader, query).hits
        assert (hit.snippet, bool(hit.spans)) == (text, True), query


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Why is the sky blue?", ["ky", "sky red", '"sky the"', '"the sk"', "bluest"]),
        ("天空为什么是蓝色的", ["空天", "天色", "天空 红"]),
        ("用Python编程", ["ython", '"用Pyth"']),
    ],
)
def test_what_is_not_found(store, reader, text, queries):
    say(store, text)
    assert [found(reader, query) for query in queries] == [[] for _ in queries]


@pytest.mark.parametrize("text", ["", " ", '"', '"" ""', "***", "-", "(", ")", "🙂", "\0", "^", "AND:", ":", "'", "+-"])
def test_what_holds_no_word_finds_nothing_or_words_only(store, reader, text):
    say(store, "some and text")
    assert search(reader, text).hits == () or "and" in text.casefold()


def test_the_words_of_the_query_language_are_words(store, reader):
    say(store, "war AND peace", "either OR", "NOT this", "NEAR the sea", "text: column")
    for query in ("AND", "war AND peace", "OR", "NOT", "NEAR", "NEAR(the sea)", "text:", "text : column", "NOT this"):
        assert len(found(reader, query)) == 1, query


@given(st.text(max_size=60) | st.text(alphabet='"*-^():+{}AND ORNT.a天', max_size=30))
def test_nothing_that_is_typed_is_an_error(many_reader, text):
    result = search(many_reader, text)
    assert result.query == text
    for hit in result.hits:
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.spans)


@given(st.text(alphabet="aé ß天ガ\u0301\u200dX.,\n한", min_size=1, max_size=30), st.data())
def test_any_word_and_any_run_of_characters_of_a_text_finds_it(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    part = text[start:end]
    in_a_word = re.search("[aesx]$", fold(text[:start])) and re.match("[aesx]", fold(part))
    assume(parse(part) is not None and not in_a_word)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', prefix='1 2', tokenize='unicode61')")
    db.execute("INSERT INTO t (rowid, text) VALUES (1, ?)", (segment(text),))
    assert db.execute("SELECT rowid FROM t WHERE t MATCH ?", (parse(part).match,)).fetchall() == [(1,)]
    db.close()


@pytest.fixture(scope="module")
def many_reader(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.sqlite3"
    fill(path, 30, 10)
    db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    yield db
    db.close()


def test_titles_first_then_the_newest(store, reader):
    first = say(store, "a blue sky", "a blue sea", title="Colours")
    second = say(store, "blue eyes", title="Blue things")
    hits = search(reader, "blue").hits
    assert [(hit.conversation_id, hit.snippet, bool(hit.message_id)) for hit in hits] == [
        (second.id, "Blue things", False),
        (second.id, "blue eyes", True),
        (first.id, "a blue sea", True),
        (first.id, "a blue sky", True),
    ]
    assert [hit.title for hit in hits] == ["Blue things", "Blue things", "Colours", "Colours"]
    assert hits[0].spans == ((0, 4),)
    assert [hit.snippet for hit in search(reader, "blue", first.id).hits] == ["a blue sea", "a blue sky"]


def test_at_most_so_many_and_the_rest_is_told(store, reader):
    say(store, *(f"common {number}" for number in range(MOST + 1)))
    for number in range(MOST_TITLES + 1):
        store.create(f"title {number}")
    assert store.flush()
    everything = search(reader, "common")
    assert (len(everything.hits), everything.more, everything.hits[0].snippet) == (MOST, True, f"common {MOST}")
    titles = search(reader, "title")
    assert (len(titles.hits), titles.more) == (MOST_TITLES, True)
    assert not search(reader, "common 7").more


def test_the_index_follows_every_change(store, reader):
    talk = say(store, "the first words", title="Old name")
    reply = StoredMessage(talk.id, "assistant", "growing", status="partial")
    store.save_partial(reply)
    store.rename(talk.id, "New name")
    assert store.flush()
    assert (found(reader, "growing"), found(reader, "old"), found(reader, "new")) == ([], [], ["New name"])
    store.finish_message(replace(reply, content="grown", status="complete"))
    assert store.flush()
    assert (found(reader, "growing"), found(reader, "grown")) == ([], ["grown"])
    store.save_partial(replace(reply, content="grown further", status="partial"))
    store.finish_message(replace(reply, content="grown further", status="complete"))
    store.set_archived(talk.id, True)
    assert store.flush()
    assert found(reader, "further") == ["grown further"], "the archive is searched"
    store.delete_message([reply.id])
    assert store.flush()
    assert found(reader, "further") == []
    store.restore_message([reply.id])
    store.delete(talk.id)
    assert store.flush()
    assert (found(reader, "further"), found(reader, "new")) == ([], [])
    store.restore(talk.id)
    assert store.flush()
    assert found(reader, "further") == ["grown further"]


def test_what_is_purged_leaves_the_index_empty(store, reader, path):
    talk = say(store, "天空 one", "two", title="three")
    store.delete(talk.id)
    store.purge_deleted()
    assert store.flush()
    db = connect(path)
    for table in ("message_text", "title_text"):
        db.execute(f"CREATE VIRTUAL TABLE temp.{table}_words USING fts5vocab(main, {table}, instance)")
        assert db.execute(f"SELECT count(*) FROM {table}_words").fetchone() == (0,)  # noqa: S608
    db.close()


def test_a_reply_that_the_end_of_the_program_cut_off_is_found_after_the_next_start(path):
    store = Store(path)
    talk = store.create()
    store.save_partial(StoredMessage(talk.id, "assistant", "interrupted", status="partial"))
    assert store.close()
    store = Store(path)
    assert store.flush()
    db = sqlite3.connect(path)
    assert found(db, "interrupted") == ["interrupted"]
    db.close()
    store.close()


def test_an_old_database_is_indexed_when_it_is_opened(path):
    db = connect(path)
    migrate(db, migrations.STEPS[:2])
    db.execute("INSERT INTO conversation VALUES ('c', 'Alt', 1, 2, '2024-01-01', '', NULL, NULL)")
    db.execute(
        "INSERT INTO message (conversation_id, role, content, id, status, model, created_at)"
        " VALUES ('c', 'user', '天空', 'm', 'partial', '', 1)"
    )
    db.close()
    store = Store(path)
    say(store, "later", title="Alter")
    db = sqlite3.connect(path)
    assert found(db, "空") == ["天空"]
    assert found(db, "alt") == ["Alter", "Alt"]
    db.close()
    store.close()


@pytest.mark.expects_log("the search index is damaged")
@pytest.mark.parametrize("damage", ["SET block = x'ffffffff' WHERE id = 10", "SET block = x'00ff' WHERE id > 10"])
def test_a_damaged_index_is_made_anew_and_no_message_is_lost(path, damage):
    store = Store(path)
    talk = say(store, *(f"before {number}" for number in range(50)), title="Title")
    assert store.close()
    db = connect(path)
    db.execute(f"UPDATE message_text_data {damage}")
    db.close()
    store = Store(path)
    last = store.tree(talk.id).leaf_id
    for number in range(20):
        store.add_message(StoredMessage(talk.id, "user", f"after {number}"))
    store.delete_message([last])
    store.purge_deleted()
    assert store.flush()
    db = connect(path)
    assert len(found(db, "after")) == 20
    assert len(found(db, "before")) == 49
    assert found(db, "title") == ["Title"]
    db.close()
    assert store.close()


def test_a_snippet_is_one_line_around_the_first_match():
    content = "x" * 30 + "\n" + "before " * 100 + "the\n\n needle " + "after " * 100
    shown, (span,) = snippet(content, parse("needle"))
    assert shown[slice(*span)] == "needle"
    assert shown.startswith("…before")
    assert shown.endswith("…")
    assert "\n" not in shown
    assert len(shown) <= SNIPPET_LENGTH + 2
    assert span[0] < 60, "the match must be seen in a narrow row"


def test_spans_are_right_behind_letters_that_fold_to_more_or_less():
    content = "Straße … Cre\u0301me … ½ ﬁn " * 20 + "Nadel"
    shown, ((start, end),) = snippet(content, parse("nadel"))
    assert shown[start:end] == "Nadel"


def test_long_texts_are_cut_without_losing_words():
    text = "é " + "天" * (PIECE + 5) + " end"
    assert segment(text).split() == ["e", *"天" * (PIECE + 5), "end"]
    assert parse("x" * 10_000).match == f'"{"x" * QUERY_LENGTH}" *'


@pytest.fixture
def searching(path, store, qtbot):
    made = Search(path)
    yield made
    assert made.close()


def test_answers_come_as_a_signal_in_the_windows_thread(searching, store, qtbot):
    say(store, "hello world")
    with qtbot.waitSignal(searching.found) as told:
        searching.ask("hello")
    assert [hit.snippet for hit in told.args[0].hits] == ["hello world"]


def test_the_latest_query_wins(searching, store, qtbot):
    say(store, *(f"word {number}" for number in range(300)))
    results: list[SearchResult] = []
    searching.found.connect(results.append)
    for number in range(40):
        searching.ask(f"word {number}")
    qtbot.waitUntil(lambda: bool(results))
    assert [result.query for result in results] == ["word 39"]
    assert results[0].hits[0].snippet == "word 39"


def test_a_query_that_is_overtaken_while_it_runs_is_broken_off(searching, store, qtbot, monkeypatch):
    say(store, "needle")
    with qtbot.waitSignal(searching.found):
        searching.ask("first")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE ? = ?"
    titles = "app.search._TITLES"
    with monkeypatch.context() as patch:
        patch.setattr(titles, endless + " AND i < 0")
        searching.ask("never ends")
        qtbot.waitUntil(lambda: searching._asked is None)
    started = time.monotonic()
    with qtbot.waitSignal(searching.found, timeout=5000) as told:
        searching.ask("needle")
    assert [hit.snippet for hit in told.args[0].hits] == ["needle"]
    assert time.monotonic() - started < 4


@pytest.mark.expects_log("a search failed")
def test_a_database_that_cannot_be_read_gives_a_sentence(tmp_path, qtbot):
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"no database at all" * 100)
    searching = Search(broken)
    with qtbot.waitSignal(searching.failed) as told:
        searching.ask("word")
    assert "cannot be searched" in told.args[0]
    assert searching.close()


@pytest.mark.slow
def test_ten_thousand_conversations_are_listed_and_searched_fast(tmp_path, qtbot):
    path = tmp_path / "many.sqlite3"
    fill(path, 10_000, 20)
    started = time.perf_counter()
    store = Store(path)
    listed = store.conversations()
    opened_s = time.perf_counter() - started
    reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    words = reader.execute("SELECT content FROM message WHERE key = 1").fetchone()[0].split()
    queries = [
        RARE,
        "e",
        "t a",
        words[0],
        f"{words[0]} {words[1]}",
        "一",
        "一丁",
        f'"{words[2]} {words[3]}"',
        "nothing zz",
    ]
    times = {}
    for query in queries:
        started = time.perf_counter()
        search(reader, query)
        times[query] = round(1000 * (time.perf_counter() - started), 1)
    print(f"opened and listed {len(listed)} in {1000 * opened_s:.0f} ms; searches in ms: {times}")
    assert len(listed) == 10_000
    assert len(search(reader, RARE).hits) == 40
    assert opened_s < 0.5
    assert max(times.values()) < 100
    reader.close()
    store.close()
