"""The program behind the window with the engine's own worker and a tiny model: what is promised of reuse holds."""

from __future__ import annotations

import shutil

import pytest

from app.chats import Chats
from app.draft import Draft
from app.engine_bridge import EngineBridge
from app.gui_probe import GuiProbe
from app.records import Attachment
from app.settings import Settings
from app.store import Store
from engine.config import EngineConfig
from engine.worker import Worker

pytestmark = pytest.mark.timeout(120)

PATIENCE_MS = 60_000
# What a save in the background is about to replace on the disk counts in a preview, and is gone a moment later.
_SETTINGS = {"device": "cpu", "dtype": "float32", "save_caches": False, "max_tokens": 12, "temperature": 0}
TEXT = "The quick brown fox jumps over the lazy dog, again and again. " * 2


@pytest.fixture
def chats(qtbot, tiny_model, loquat_home):
    folder = tiny_model("llama")
    shutil.copytree(folder, loquat_home.models / folder.name)
    settings = Settings(loquat_home.config / "settings.json")
    for name, value in _SETTINGS.items():
        settings.set(name, value)
    store = Store(loquat_home.database)
    bridge = EngineBridge(lambda emit: Worker(emit, EngineConfig(), loquat_home))
    made = Chats(store, bridge, settings)
    made.costs, made.edits, made.notices = [], [], []
    made.preview.connect(made.costs.append)
    made.edit_preview.connect(lambda *what: made.edits.append(what))
    made.notice.connect(made.notices.append)
    made.restore()
    made.load_model(folder.name)
    qtbot.waitUntil(lambda: made.model.phase == "ready", timeout=PATIENCE_MS)
    yield made
    made.shutdown()
    assert bridge.close(30)
    assert store.close()
    settings.save()


def idle(qtbot, chats):
    qtbot.waitUntil(lambda: not chats.current.busy, timeout=PATIENCE_MS)
    assert [notice.sentence for notice in chats.notices] == []
    return chats.current.messages()[-1]


def answered(qtbot, chats, text, *files):
    assert chats.current.send(text, files)
    return idle(qtbot, chats)


def test_a_continued_answer_is_the_one_that_was_never_cut(qtbot, chats):
    chats._settings.set("max_tokens", 24)
    whole = answered(qtbot, chats, TEXT)
    chats.new()
    chats._settings.set("max_tokens", 9)
    cut = answered(qtbot, chats, TEXT)
    assert cut.status == "length"
    chats._settings.set("max_tokens", 15)
    assert chats.current.continue_reply(cut.id)
    grown = idle(qtbot, chats)
    assert (grown.id, grown.token_ids, grown.content) == (cut.id, whole.token_ids, whole.content)
    assert grown.stats.prefill_tokens < 4
    follow_up = answered(qtbot, chats, "And then?")
    assert follow_up.stats.cached_tokens > len(TEXT) // 4


def test_a_fork_reads_nothing_of_what_it_shares(qtbot, chats):
    reply = answered(qtbot, chats, "Look at this.", Attachment("notes.txt", TEXT))
    chats.fork(reply.id)
    stats = answered(qtbot, chats, "And in other words?").stats
    assert stats.cached_tokens > reply.stats.prompt_tokens
    assert stats.prefill_tokens < 60


def test_what_an_edit_costs_is_told_as_it_comes(qtbot, chats):
    answered(qtbot, chats, "one")
    answered(qtbot, chats, TEXT)
    question = chats.current.messages()[2]
    for text in ("Another question altogether", TEXT + "?"):
        chats.edits.clear()
        chats.preview_edit(question.id, Draft(text))
        qtbot.waitUntil(lambda: bool(chats.edits), timeout=PATIENCE_MS)
        message_id, cost = chats.edits[0]
        assert message_id == question.id
        assert chats.current.edit(question.id, Draft(text))
        stats = idle(qtbot, chats).stats
        assert (cost.prompt_tokens, cost.cached_tokens) == (stats.prompt_tokens, stats.cached_tokens)
        assert cost.seconds > 0
        question = chats.current.messages()[2]


def test_a_draft_becomes_cheaper_as_it_is_read_ahead(qtbot, chats, monkeypatch):
    monkeypatch.setattr("engine.ahead.on_battery", lambda: False)
    answered(qtbot, chats, "one")
    chats.draft_changed(TEXT)
    qtbot.waitUntil(
        lambda: bool(chats.costs[-1]) and chats.costs[-1].cached_tokens > chats.costs[-1].prompt_tokens - 32,
        timeout=PATIENCE_MS,
    )
    told = chats.costs[-1]
    stats = answered(qtbot, chats, TEXT).stats
    assert (stats.prompt_tokens, stats.cached_tokens) == (told.prompt_tokens, told.cached_tokens)


def test_naming_a_chat_changes_no_token_of_what_follows(qtbot, chats):
    answered(qtbot, chats, "one")
    qtbot.waitUntil(lambda: chats._titler._asked is None, timeout=PATIENCE_MS)
    named = answered(qtbot, chats, TEXT)
    chats.new()
    chats._settings.set("auto_title", False)
    answered(qtbot, chats, "one")
    assert answered(qtbot, chats, TEXT).token_ids == named.token_ids


def test_a_chat_with_five_megabytes_is_asked_opened_and_gone_on_with_without_a_freeze(qtbot, chats):
    """Tokenised whole, such a text holds the interpreter's lock, and with it the window, for six seconds."""
    huge = Attachment("log.txt", "many words and other things in it 123 " * 130_000)
    probe = GuiProbe()
    probe.start("asked")
    chats.draft_changed("Why?", (huge,))
    assert chats.costs[-1].about
    assert chats.current.send("Why?", (huge,))
    qtbot.waitUntil(lambda: not chats.current.busy, timeout=PATIENCE_MS)
    first = chats.current.conversation.id
    probe.mark("opened")
    chats.new()
    chats.open(first)
    chats.draft_changed(TEXT)
    qtbot.waitUntil(lambda: bool(chats.costs) and chats.costs[-1] is not None, timeout=PATIENCE_MS)
    assert chats.costs[-1].about and chats.costs[-1].prompt_tokens > 1_000_000
    probe.mark("gone on with")
    assert chats.current.send("And then?")
    qtbot.waitUntil(lambda: not chats.current.busy, timeout=PATIENCE_MS)
    qtbot.wait(50)
    probe.stop()
    assert all(" has about 1,2" in notice.sentence for notice in chats.notices) and len(chats.notices) == 2
    assert probe.longest()[1] < 1_000, "milliseconds: on a busy machine a tick may well be late by some hundreds"
