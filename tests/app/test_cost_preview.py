"""What sending costs, told while it is written: of the draft, of an edit, and only of what is there now."""

from __future__ import annotations

import threading

import pytest

from app.cost_preview import AGAIN_MS
from app.draft import LONGEST_DRAFT, Draft
from app.live import DraftCost
from app.records import Attachment
from engine.events import Previewed
from tests.app.fake_worker import Load, Reply

LONG = "word " * 30


@pytest.fixture
def told(ready_world):
    """A world with a list of the costs that were told of the draft, and one of those of edits."""

    def make(*replies, **values):
        world = ready_world(*replies, **values)
        world.costs, world.edits = [], []
        world.chats.preview.connect(world.costs.append)
        world.chats.edit_preview.connect(lambda *what: world.edits.append(what))
        return world

    return make


def answered(qtbot, world, text):
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)


def test_the_cost_of_a_draft_comes_with_its_files_and_goes_with_it(qtbot, told):
    world = told()
    world.chats.draft_changed(LONG, (Attachment("a.txt", "x y z"),))
    qtbot.waitUntil(lambda: bool(world.costs))
    assert world.costs == [DraftCost(36, 0, 36, 8192)]
    assert world.costs[0].characters == len(LONG) + len("x y z")
    assert world.worker.previews[0].messages[-1].content.startswith("a.txt:\n```\nx y z\n```")
    world.chats.draft_changed("")
    assert world.costs[-1] is None


def test_seconds_are_told_once_a_turn_was_measured(qtbot, told):
    world = told(Reply(prefill=200, delay_s=0.001))
    answered(qtbot, world, "q")
    world.worker.held = 5
    world.chats.draft_changed(LONG)
    qtbot.waitUntil(lambda: bool(world.costs) and world.costs[-1] is not None)
    cost = world.costs[-1]
    assert (cost.cached_tokens, cost.draft_tokens) == (5, 30)
    assert cost.seconds > 0


def test_after_a_restart_the_figures_of_the_chat_on_view_are_known(qtbot, told):
    world = told(Reply(prefill=200))
    answered(qtbot, world, "q")
    world.close()
    again = told()
    again.chats.draft_changed(LONG)
    qtbot.waitUntil(lambda: bool(again.costs) and again.costs[-1] is not None)
    assert again.costs[-1].seconds > 0


def test_an_edit_is_told_with_its_message_and_the_files_that_are_left(qtbot, told):
    world = told()
    file = Attachment("a.txt", "x y z")
    assert world.session.send("one", (file,))
    qtbot.waitUntil(lambda: not world.session.busy)
    answered(qtbot, world, "two")
    question = world.session.messages()[0]
    world.chats.preview_edit(question.id, Draft(LONG, (file,)))
    qtbot.waitUntil(lambda: bool(world.edits))
    assert world.edits == [(question.id, DraftCost(36, 0, 36, 8192, seconds=world.edits[0][1].seconds))]
    (request,) = world.worker.previews
    assert len(request.messages) == 1
    assert "x y z" in request.messages[0].content
    world.edits.clear()
    world.chats.preview_edit(question.id, Draft(LONG, (Attachment("b.txt", "x" * LONGEST_DRAFT),)))
    ((_, guessed),) = world.edits
    assert guessed.prompt_tokens > 8192
    assert world.session.edit(question.id, Draft("uno"))
    assert world.session.messages()[0].attachments == ()
    qtbot.waitUntil(lambda: not world.session.busy)


def test_what_is_cheaper_once_it_was_read_ahead_is_told_again(qtbot, told):
    world = told()
    world.chats.draft_changed(LONG + LONG)
    qtbot.waitUntil(lambda: bool(world.costs))
    world.worker.held = 50
    qtbot.waitUntil(lambda: len(world.costs) == 2, timeout=AGAIN_MS + 2000)
    assert [cost.cached_tokens for cost in world.costs] == [0, 50]
    assert len(world.worker.previews) == 2
    assert not world.chats._composing._cost._again.isActive(), "so little is not worth asking for again"


def test_only_the_latest_draft_counts(qtbot, told):
    world = told()
    world.chats.draft_changed(LONG)
    first = world.worker.previews[0]
    world.chats.draft_changed(LONG + LONG)
    world.chats.apply(Previewed(first.id, 1, 1, 1, 1))
    qtbot.waitUntil(lambda: bool(world.costs))
    assert [cost.draft_tokens for cost in world.costs] == [60]


def test_messages_that_would_not_be_read_are_counted_as_the_person_sees_them(qtbot, told):
    world = told(Reply(error=None), Reply())
    world.settings.set("system_prompt", "S")
    answered(qtbot, world, "one")
    answered(qtbot, world, "two")
    world.chats.draft_changed(LONG)
    request = world.worker.previews[-1]
    world.chats.apply(Previewed(request.id, 9, 0, 3, 16, left_out=(1, 2)))
    assert world.costs[-1].left_out == 2


def test_nothing_is_told_while_the_chat_answers_and_it_is_told_afterwards(qtbot, told):
    gate = threading.Semaphore(0)
    world = told(Reply(gate=gate))
    world.session.send("q")
    world.chats.draft_changed(LONG)
    assert world.worker.previews == []
    assert world.costs == [None]
    gate.release(9)
    qtbot.waitUntil(lambda: world.costs[-1] is not None)


def test_without_a_model_nothing_is_told_until_there_is_one(qtbot, make_world):
    gate = threading.Semaphore(0)
    world = make_world(loads=(Load(gate=gate),))
    costs = []
    world.chats.preview.connect(costs.append)
    world.chats.load_model(None)
    world.chats.draft_changed(LONG)
    assert costs == [None]
    gate.release(9)
    qtbot.waitUntil(lambda: costs[-1] is not None)


def test_what_is_too_long_to_be_counted_again_and_again_is_guessed(told):
    world = told()
    world.chats.draft_changed("x" * (LONGEST_DRAFT + 4))
    assert world.worker.previews == []
    assert world.costs[-1] == DraftCost(50_001, 0, 50_001, 8192, about=True)


def test_another_chat_has_another_cost(qtbot, told):
    world = told()
    answered(qtbot, world, "one")
    world.chats.draft_changed(LONG)
    qtbot.waitUntil(lambda: world.costs[-1:] != [None] and bool(world.costs))
    world.chats.new()
    assert world.costs[-1] is None
    world.chats.open(world.chats.conversations()[0].id)
    qtbot.waitUntil(lambda: world.costs[-1] is not None)
    assert world.costs[-1].draft_tokens == 30
