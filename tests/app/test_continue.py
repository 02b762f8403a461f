"""An answer that goes on in its own place: one message, one text, one row of ids."""

from __future__ import annotations

import threading

import pytest

from app.records import StoredMessage
from app.turn import Turn, kept_ids
from engine.chat import Message
from engine.errors import ContextFull
from engine.events import FinishReason, TextDelta
from tests.app.conftest import Recorder
from tests.app.fake_worker import Load, Reply, model_info

CUT = Reply(pieces=("One ", "two "), reason=FinishReason.LENGTH)
REST = Reply(pieces=("three ", "four"), cached=25, prefill=1)


def stored(world):
    assert world.store.flush()
    return world.store.tree(world.session.conversation.id).thread()


def cut_off(qtbot, ready_world, *replies, **values):
    """A world with an answer that was cut by its length, and its message."""
    world = ready_world(CUT, *replies, **values)
    assert world.session.send("Count")
    qtbot.waitUntil(lambda: not world.session.busy)
    return world, world.session.messages()[1]


def test_it_grows_in_place(qtbot, ready_world):
    world, reply = cut_off(qtbot, ready_world, REST)
    told, resumed = Recorder(world.session), []
    world.session.message_resumed.connect(resumed.append)
    assert world.session.continue_reply(reply.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    (done,) = told.finished
    assert (done.id, done.content, done.status) == (reply.id, "One two three four", "complete")
    assert done.token_ids == (100, 101, 100, 101, 2)
    assert done.stats.cached_tokens == 25
    assert done.created_at == reply.created_at
    assert (told.added, told.text) == ([], "three four")
    assert [(m.id, m.content, m.status) for m in resumed] == [(reply.id, "One two ", "partial")]
    assert stored(world) == list(world.session.messages()) == [world.session.messages()[0], done]
    assert world.session.versions() == {}
    request = world.worker.requests[1]
    assert request.continue_reply
    assert request.messages == (Message("user", "Count"), Message("assistant", "One two ", (100, 101)))


def test_the_end_token_is_taken_off_before_it_goes_on(qtbot, ready_world):
    model = model_info(end_ids=frozenset({2}))
    world = ready_world(Reply(pieces=("Yes",)), REST, Reply(), loads=(Load(model),))
    world.session.send("q")
    qtbot.waitUntil(lambda: not world.session.busy)
    reply = world.session.messages()[1]
    assert reply.token_ids == (100, 2)
    world.session.continue_reply(reply.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.worker.requests[1].messages[1].token_ids == (100,)
    assert world.session.messages()[1].token_ids == (100, 100, 101, 2)
    world.session.send("and?")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.worker.requests[2].messages[1].token_ids == (100, 100, 101, 2), "the next prompt begins the same"


def test_stopped_again_it_keeps_all_that_was_said(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world, reply = cut_off(qtbot, ready_world, Reply(pieces=tuple("abc"), gate=gate), REST)
    world.session.continue_reply(reply.id)
    gate.release(2)
    qtbot.waitUntil(lambda: world.session.messages()[1].content == "One two ab")
    assert stored(world)[1].status == "partial"
    world.session.stop()
    done = stored(world)[1]
    assert (done.content, done.status, done.token_ids) == ("One two ab", "cancelled", (100, 101, 100, 101))
    assert world.session.continue_reply(reply.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert stored(world)[1].content == "One two abthree four"
    assert stored(world)[1].token_ids == (100, 101, 100, 101, 100, 101, 2)


def test_late_figures_of_the_stopped_part_do_not_disturb_the_part_that_follows(qtbot, ready_world):
    gate, later = threading.Semaphore(0), threading.Semaphore(0)
    first = Reply(pieces=tuple("abc"), gate=gate, deaf=True)
    world, reply = cut_off(qtbot, ready_world, first, Reply(pieces=tuple("xyz"), gate=later))
    world.session.continue_reply(reply.id)
    gate.release(1)
    qtbot.waitUntil(lambda: world.session.messages()[1].content == "One two a")
    world.session.stop()
    told = Recorder(world.session)
    assert world.session.continue_reply(reply.id)
    gate.release(9)
    later.release(2)
    qtbot.waitUntil(lambda: world.session.messages()[1].content == "One two axy")
    assert told.finished == []
    later.release(9)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert stored(world)[1].content == "One two axyz"


@pytest.mark.parametrize("how", ["stop", "failure"])
def test_before_its_first_new_word_it_stays_as_it_was(qtbot, ready_world, how):
    gate = threading.Semaphore(0)
    next_reply = Reply((), error=ContextFull("Full.")) if how == "failure" else Reply(prefill_gate=gate)
    world, reply = cut_off(qtbot, ready_world, next_reply, REST)
    assert world.session.continue_reply(reply.id)
    if how == "stop":
        world.session.stop()
    qtbot.waitUntil(lambda: not world.session.busy)
    assert stored(world)[1] == world.session.messages()[1] == reply
    if how == "failure":
        world.notices[-1].action()
        qtbot.waitUntil(lambda: not world.session.busy)
        assert stored(world)[1].content == "One two three four", "trying again goes on, it does not begin again"


def test_the_answer_of_another_model_goes_on_from_its_text(qtbot, ready_world):
    world, reply = cut_off(qtbot, ready_world, REST, loads=(Load(), Load(model_info("other"))))
    world.chats.load_model("other")
    assert world.session.continue_reply(reply.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.worker.requests[1].messages[1] == Message("assistant", "One two ", None)
    done = world.session.messages()[1]
    assert (done.content, done.token_ids, done.model) == ("One two three four", None, "other")


def test_only_the_last_answer_can_go_on_and_only_when_nothing_is_being_written(qtbot, ready_world):
    world, reply = cut_off(qtbot, ready_world, Reply(), Reply(gate=threading.Semaphore(0)))
    told = Recorder(world.session)
    world.session.send("and?")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert not world.session.continue_reply(reply.id)
    assert not world.session.continue_reply(world.session.messages()[0].id)
    assert not world.session.continue_reply("nothing")
    assert ["Only the last answer" in sentence for sentence in told.refusals] == [True, True]
    last = world.session.messages()[-1]
    assert world.session.continue_reply(last.id)
    assert not world.session.continue_reply(last.id)
    assert "Stop" in told.refusals[-1]
    world.session.stop()


def test_quitting_in_the_middle_loses_nothing(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world, reply = cut_off(qtbot, ready_world, Reply(pieces=tuple("abc"), gate=gate))
    world.session.continue_reply(reply.id)
    gate.release(2)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 2)
    world.close()
    again = ready_world()
    done = again.session.messages()[1]
    assert (done.content, done.status, done.token_ids) == ("One two ab", "partial", (100, 101, 100, 101))


def test_an_end_without_a_word_makes_it_complete(qtbot, ready_world):
    world, reply = cut_off(qtbot, ready_world, Reply(pieces=()))
    world.session.continue_reply(reply.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    done = stored(world)[1]
    assert (done.content, done.status, done.token_ids) == ("One two ", "complete", (100, 101, 2))


def test_ids_are_kept_only_for_the_model_that_made_them():
    reply = StoredMessage("c", "assistant", "a", token_ids=(5, 2, 7, 2, 2), model="m")
    assert kept_ids(reply, "m", {2}) == (5, 2, 7)
    assert kept_ids(reply, "other", {2}) is None
    assert kept_ids(StoredMessage("c", "assistant", "a", model="m"), "m", {2}) is None


def thought(turn: Turn, *pieces: tuple[str, float]) -> float | None:
    for n, (text, at) in enumerate(pieces):
        turn.grow(TextDelta("r", text, (n,), at))
    return turn.reply("complete").thinking_s


@pytest.mark.parametrize(
    ("pieces", "seconds"),
    [
        ([("Hello", 1.0), (" there", 2.0)], None),
        ([("<think>", 1.0), ("hm", 2.0), ("</think>", 3.5), ("ok", 9.0)], 2.5),
        ([("<th", 1.0), ("ink>hm", 1.5), ("</thi", 3.0), ("nk>ok", 4.0)], 2.5),
        ([("<think>", 1.0), ("hm", 4.0)], 3.0),  # cut off while it thought
        ([("a <think> in the text </think>", 1.0), ("x", 5.0)], None),
    ],
)
def test_thinking_is_measured_by_the_times_of_its_tokens(pieces, seconds):
    assert thought(Turn("c", "q", 0.0), *pieces) == seconds


def test_thinking_that_was_cut_off_goes_on_being_measured():
    turn = Turn("c", "q", 0.0)
    turn.begun = StoredMessage("c", "assistant", "<think>hm", thinking_s=2.0)
    assert thought(turn, (" so", 10.0), ("</think>", 11.0), ("ok", 20.0)) == 3.0
    turn = Turn("c", "q", 0.0)
    turn.begun = StoredMessage("c", "assistant", "<think>hm</think> ok", thinking_s=2.0)
    assert thought(turn, (" so", 10.0), (" on", 11.0)) == 2.0
