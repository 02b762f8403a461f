from __future__ import annotations

import threading
import time

import pytest

from app.draft import Draft
from app.records import ChatOptions, Conversation, StoredMessage
from app.turn import prompt_messages
from engine.chat import Message
from engine.errors import ContextFull, ServerFailed
from engine.events import FinishReason, TextDelta
from engine.remote.figures import Usage, remote_stats
from tests.app.conftest import Recorder
from tests.app.fake_worker import Load, Reply, model_info

GATED = {"pieces": tuple("abcdefgh")}


def ask(world, text="Why?"):
    recorder = Recorder(world.session)
    assert world.session.send(text)
    return recorder


def stored(world):
    assert world.store.flush()
    return world.store.tree(world.session.conversation.id).thread()


def test_a_question_is_answered_shown_and_stored(qtbot, ready_world):
    world = ready_world(Reply(cached=4, prefill=20))
    told = ask(world, "Why is the sky blue?")
    assert world.session.busy
    assert told.added[0].content == "Why is the sky blue?"
    qtbot.waitUntil(lambda: not world.session.busy)

    question, reply = world.session.messages()
    assert told.phases == ["queued", "prefill", "decode", "idle"]
    assert reply.content == "It is **so**." == told.text
    assert reply.token_ids == (100, 101, 102, 103, 2)
    assert (reply.status, reply.model, reply.parent_id) == ("complete", "scripted", question.id)
    assert reply.stats.cached_tokens == 4
    assert told.finished == [reply]
    assert stored(world) == [question, reply]
    assert world.session.live.context_used == 24 + 5


def test_the_second_request_carries_the_reply_as_generated_ids(qtbot, ready_world):
    world = ready_world()
    world.settings.set("system_prompt", "Be brief.")
    ask(world, "one")
    qtbot.waitUntil(lambda: not world.session.busy)
    world.settings.set("system_prompt", "Something else.")
    ask(world, "two")
    qtbot.waitUntil(lambda: not world.session.busy)
    first, second = world.worker.requests
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[:2] == first.messages, "the prompt must stay byte-stable within a conversation"
    assert second.messages[2].token_ids == (100, 101, 2)
    assert second.conversation_id == first.conversation_id
    assert second.started_on == first.started_on == time.strftime("%Y-%m-%d")


def test_ids_of_another_model_are_left_out():
    asked = StoredMessage("c", "user", "q")
    reply = StoredMessage("c", "assistant", "a", token_ids=(1, 2), model="small")
    assert prompt_messages("", [asked, reply], "small")[1] == Message("assistant", "a", (1, 2))
    assert prompt_messages("", [asked, reply], "large")[1] == Message("assistant", "a", None)


def test_unanswered_questions_are_joined_so_that_roles_take_turns():
    asked = [StoredMessage("c", "user", text) for text in ("one", "two")]
    assert prompt_messages("S", asked, "m") == (Message("system", "S"), Message("user", "one\n\ntwo"))


def test_ttft_counts_from_enter_also_when_the_question_waited_for_the_model(qtbot, make_world):
    gate = threading.Semaphore(0)
    world = make_world(loads=(Load(gate=gate),))
    world.chats.load_model(None)
    before = time.perf_counter()
    told = ask(world)
    after = time.perf_counter()
    qtbot.wait(60)
    waited = time.perf_counter() - after
    assert world.session.live.phase == "queued"
    assert not world.worker.requests
    gate.release(3)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert before <= world.worker.requests[0].submitted_at <= after
    assert told.finished[0].stats.ttft_s >= waited
    assert told.finished[0].model == "scripted"


def test_live_figures_while_it_streams(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(cached=10, prefill=6, gate=gate, delay_s=0.01, **GATED))
    told = ask(world)
    gate.release(5)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 5)
    live = world.session.live
    assert (live.phase, live.cached, live.prefill_done, live.prefill_total) == ("decode", 10, 6, 6)
    assert live.context_used == 21
    assert 5 < live.tokens_per_s < 101, "four gaps of at least 10 ms each"
    assert live.ttft_s > 0.01
    assert live.message_id == told.added[-1].id
    assert world.session.messages()[-1].content == "abcde"


def test_text_is_handed_on_in_few_pieces_not_token_by_token(qtbot, ready_world):
    world = ready_world(Reply(pieces=("x",) * 200, delay_s=0.001))
    told = ask(world)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert told.text == "x" * 200
    assert 2 <= len(told.texts) <= 20


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused_with_a_sentence(ready_world, text):
    world = ready_world()
    told = Recorder(world.session)
    assert not world.session.send(text)
    assert "nothing to send" in told.refusals[0]
    assert world.session.messages() == ()
    assert world.notices[-1].action is None
    assert not world.worker.requests


def test_stop_in_decode_is_at_once_and_keeps_what_was_said(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(gate=gate, deaf=True, **GATED))
    told = ask(world)
    gate.release(3)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 3)
    world.session.stop()
    assert not world.session.busy, "the engine has not even noticed yet"
    reply = world.session.messages()[-1]
    assert (reply.content, reply.status, reply.token_ids) == ("abc", "cancelled", (100, 101, 102))
    gate.release(1)  # the step in progress ends; its token comes too late
    qtbot.waitUntil(lambda: len(told.finished) == 2)
    assert told.finished[1].stats.completion_tokens >= 3
    assert told.finished[1].content == "abc"
    assert stored(world)[-1] == told.finished[1]
    assert told.failures == []


@pytest.mark.parametrize("phase", ["queued", "prefill"])
def test_stop_before_the_first_token_leaves_the_question_alone(qtbot, make_world, phase):
    gate = threading.Semaphore(0)
    world = make_world(Reply(prefill_gate=gate, prefill=64), loads=(Load(gate=gate),))
    world.chats.load_model(None)
    told = ask(world)
    if phase == "prefill":
        gate.release(3 + 2)
        qtbot.waitUntil(lambda: world.session.live.prefill_done == 16)
        assert world.session.live.prefill_total == 64
    world.session.stop()
    assert not world.session.busy
    gate.release(100)
    qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
    assert told.phases[-1] == "idle"
    assert [m.role for m in stored(world)] == ["user"]
    assert told.finished == []
    assert told.failures == []
    assert len(world.worker.requests) == (1 if phase == "prefill" else 0)


def test_after_stop_the_next_question_is_answered(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(gate=gate, **GATED), Reply(pieces=("second",)))
    ask(world, "one")
    gate.release(2)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 2)
    world.session.stop()
    assert world.session.send("two")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [m.content for m in stored(world)] == ["one", "ab", "two", "second"]
    assert world.worker.requests[1].messages[1] == Message("assistant", "ab", (100, 101))


def test_events_of_another_request_are_dropped(qtbot, ready_world):
    world = ready_world(Reply(gate=threading.Semaphore(0)))
    told = ask(world)
    world.session.apply(TextDelta("someone else's", "stray", (1,), 0.0))
    world.session.stop()
    assert told.text == ""
    assert len(world.session.messages()) == 1


def test_a_failure_before_the_first_token_keeps_the_question_and_offers_a_retry(qtbot, ready_world):
    error = ContextFull("This chat is too long; please start a new one.", "8300 > 8192")
    world = ready_world(Reply(pieces=(), error=error), Reply(pieces=("now it works",)))
    told = ask(world, "long")
    qtbot.waitUntil(lambda: bool(told.failures))
    assert told.failures == [(error.sentence, error.detail)]
    assert [m.content for m in stored(world)] == ["long"], "an error is never text in a transcript"
    notice = world.notices[-1]
    assert (notice.sentence, notice.detail, notice.action_label) == (error.sentence, error.detail, "Try again")
    notice.action()
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [m.content for m in stored(world)] == ["long", "now it works"]


def test_a_failure_in_mid_reply_keeps_what_was_said_and_a_retry_stands_beside_it(qtbot, ready_world):
    error = ContextFull("The context is full.")
    world = ready_world(Reply(pieces=("half ", "an"), error=error), Reply(pieces=("whole",)))
    redrawn = []
    world.session.thread_changed.connect(lambda: redrawn.append(world.session.messages()))
    told = ask(world, "q")
    qtbot.waitUntil(lambda: bool(told.failures))
    question, half = stored(world)
    assert (half.content, half.status, half.stats) == ("half an", "partial", None)
    world.session.retry()
    assert redrawn == [(question,)]
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [m.content for m in stored(world)] == ["q", "whole"]
    assert stored(world)[1].parent_id == question.id


def test_the_half_of_an_answer_of_a_server_that_broke_off_has_its_figures(qtbot, ready_world):
    error = ServerFailed("The connection broke off in the middle of the answer.")
    error.stats = remote_stats("GPU box", Usage(), 1.0, 1.1, [1.5, 1.6])
    world = ready_world(Reply(pieces=("whole",)), Reply(pieces=("half ", "an"), error=error))
    ask(world, "q")
    qtbot.waitUntil(lambda: not world.session.busy)
    told = ask(world, "and?")
    qtbot.waitUntil(lambda: bool(told.failures))
    assert (stored(world)[-1].status, stored(world)[-1].stats) == ("partial", error.stats)
    live = world.session.live
    assert (live.ttft_s, live.tokens_per_s, live.pieces_per_s) == (0.5, None, error.stats.pieces_per_s)
    assert not live.reuse_known and live.context_used is None


@pytest.mark.parametrize(
    ("reason", "status"),
    [(FinishReason.STOP, "complete"), (FinishReason.LENGTH, "length"), (FinishReason.END, "complete")],
)
def test_the_reason_of_the_end_is_kept(qtbot, ready_world, reason, status):
    world = ready_world(Reply(reason=reason))
    ask(world)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert stored(world)[-1].status == status


def test_a_reply_without_a_word_is_still_a_reply(qtbot, ready_world):
    world = ready_world(Reply(pieces=()))
    told = ask(world)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [m.content for m in stored(world)] == ["Why?", ""]
    assert [m.role for m in told.added] == ["user", "assistant"]
    assert world.session.messages()[-1].token_ids == (2,)


def test_half_surrogates_from_the_clipboard_do_not_harm(qtbot, ready_world):
    world = ready_world()
    world.session.set_options(ChatOptions(), "Be \ud83d brief.")
    ask(world, "caf\u00e9 \ud83d broken \U0001f600")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.worker.requests[0].messages[0] == Message("system", "Be \ufffd brief.")
    assert stored(world)[0].content == "caf\u00e9 \ufffd broken \U0001f600"


def test_a_partial_reply_is_saved_while_it_streams(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(gate=gate, **GATED))
    ask(world)
    gate.release(1)
    qtbot.waitUntil(lambda: len(stored(world)) == 2)
    gate.release(4)
    qtbot.waitUntil(lambda: stored(world)[1].content == "abcde")
    assert (stored(world)[1].status, stored(world)[1].token_ids) == ("partial", (100, 101, 102, 103, 104))


def test_a_model_of_another_name_gets_text_instead_of_foreign_ids(qtbot, ready_world):
    world = ready_world(loads=(Load(), Load(model_info("other"))))
    ask(world, "one")
    qtbot.waitUntil(lambda: not world.session.busy)
    world.chats.load_model("other")
    ask(world, "two")
    qtbot.waitUntil(lambda: not world.session.busy)
    assert world.worker.requests[1].messages[1].token_ids is None
    assert [m.model for m in stored(world) if m.role == "assistant"] == ["scripted", "other"]


def answered(qtbot, world, text):
    assert world.session.send(text)
    qtbot.waitUntil(lambda: not world.session.busy)


def contents(world):
    return [message.content for message in world.session.messages()]


def numbers(world):
    """Of each message shown that has versions: which it is, and how many there are."""
    versions = world.session.versions()
    return {m.content: (versions[m.id].number, versions[m.id].of) for m in world.session.messages() if m.id in versions}


def test_an_answer_is_made_again_beside_the_first_and_both_can_be_shown(qtbot, ready_world):
    world = ready_world(Reply(pieces=("first",)), Reply(pieces=("second",)), Reply(pieces=("third",)))
    answered(qtbot, world, "q")
    answered(qtbot, world, "and?")
    first = world.session.messages()[1]
    assert world.session.regenerate(first.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world) == ["q", "third"]
    assert numbers(world) == {"third": (2, 2)}
    assert [m.content for m in world.worker.requests[2].messages] == ["q"]
    assert not world.session.show_version(world.session.messages()[1].id, 1), "there is none behind the last"
    assert world.session.show_version(world.session.messages()[1].id, -1)
    assert contents(world) == ["q", "first", "and?", "second"], "what followed it comes back with it"
    assert world.session.live.message_id == world.session.messages()[-1].id
    assert [m.content for m in stored(world)] == contents(world)
    world.close()
    again = ready_world()
    assert contents(again) == ["q", "first", "and?", "second"]
    assert numbers(again) == {"first": (1, 2)}


def test_an_answer_that_begins_a_chat_is_made_again_and_kept(qtbot, ready_world):
    world = ready_world(Reply(pieces=("Welcome.",)))
    talk = Conversation(title="Imported")
    world.store.add_tree(talk, [greeting := StoredMessage(talk.id, "assistant", "Hello!")])
    assert world.store.flush()
    world.chats.reread()
    world.chats.open(talk.id)
    assert world.session.regenerate(greeting.id)
    qtbot.waitUntil(lambda: not world.session.busy)
    assert [m.content for m in stored(world)] == contents(world) == ["Welcome."]
    assert numbers(world) == {"Welcome.": (2, 2)}


def test_a_question_is_edited_and_what_was_said_before_stays(qtbot, ready_world):
    world = ready_world()
    answered(qtbot, world, "one")
    answered(qtbot, world, "two")
    one = world.session.messages()[0]
    assert world.session.edit(one.id, Draft("uno"))
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world) == ["uno", "You said: uno"]
    assert numbers(world) == {"uno": (2, 2)}
    two = world.session
    assert two.show_version(two.messages()[0].id, -1)
    assert contents(world) == ["one", "You said: one", "two", "You said: two"]
    assert world.session.edit(two.messages()[2].id, Draft("due"))
    qtbot.waitUntil(lambda: not world.session.busy)
    assert contents(world) == ["one", "You said: one", "due", "You said: due"]
    assert world.worker.requests[-1].messages[1].token_ids == (100, 101, 2), "the prefix stays byte-stable"


def test_an_edit_is_refused_while_an_answer_is_written_or_without_a_word(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(), Reply(gate=gate))
    answered(qtbot, world, "one")
    question, reply = world.session.messages()
    told = Recorder(world.session)
    assert not world.session.edit(question.id, Draft("  "))
    assert world.session.regenerate(reply.id)
    assert not world.session.edit(question.id, Draft("uno"))
    assert not world.session.regenerate(reply.id)
    assert ["nothing to send" in sentence for sentence in told.refusals] == [True, False]
    assert "Stop" in told.refusals[1]
    world.session.stop()


@pytest.mark.parametrize("how", ["stop", "failure"])
def test_a_new_answer_that_never_began_leaves_the_old_one_on_view(qtbot, ready_world, how):
    gate = threading.Semaphore(0)
    error = ContextFull("Too long.")
    world = ready_world(Reply(), Reply((), error=error) if how == "failure" else Reply(prefill_gate=gate))
    answered(qtbot, world, "q")
    before = world.session.messages()
    told = Recorder(world.session)
    assert world.session.regenerate(before[1].id)
    assert world.session.messages() == before[:1]
    if how == "stop":
        world.session.stop()
    else:
        qtbot.waitUntil(lambda: bool(told.failures))
    assert world.session.messages() == before
    assert stored(world) == list(before)


def test_figures_that_come_late_do_not_bring_their_answer_back_on_view(qtbot, ready_world):
    gate = threading.Semaphore(0)
    world = ready_world(Reply(pieces=("first",)), Reply(gate=gate, deaf=True, **GATED))
    answered(qtbot, world, "q")
    world.session.regenerate(world.session.messages()[1].id)
    gate.release(3)
    qtbot.waitUntil(lambda: world.session.live.completion_tokens == 3)
    world.session.stop()
    told = Recorder(world.session)
    assert world.session.show_version(world.session.messages()[1].id, -1)
    gate.release(1)
    qtbot.waitUntil(lambda: bool(told.finished))
    assert told.finished[0].stats.completion_tokens >= 3
    assert contents(world) == ["q", "first"]
    assert [m.content for m in stored(world)] == ["q", "first"]
    assert world.session.show_version(world.session.messages()[1].id, 1)
    assert world.session.messages()[1] == told.finished[0]


def test_what_was_not_read_is_kept_with_the_answer(qtbot, ready_world):
    error = ContextFull("It broke.")
    world = ready_world(Reply((), error=error), Reply(), Reply(left_out=(1, 2)), Reply())
    world.settings.set("system_prompt", "S")
    for text in ("one", "two", "three"):
        answered(qtbot, world, text)
    assert contents(world) == ["one", "two", "It is **so**.", "three", "It is **so**."]
    assert world.session.left_out_count == 3, "both questions that were joined into one, and the answer to them"
    world.close()
    again = ready_world()
    assert again.session.left_out_count == 3
    assert again.session.send("four")
    assert again.session.left_out_count == 3, "until the next answer is complete"
    qtbot.waitUntil(lambda: not again.session.busy)
    assert again.session.left_out_count == 0


def test_another_answer_differs_from_a_greedy_one_unless_greedy_was_chosen(ready_world, qtbot):
    world = ready_world(*[Reply(("So.",))] * 4)
    world.settings.set_own_sampling({"temperature": 0.0, "repetition_penalty": 1.1})
    session = world.session
    session.send("Why?")
    qtbot.waitUntil(lambda: not session.busy)
    assert world.worker.requests[-1].params.temperature == 0
    session.regenerate(session.messages()[-1].id)
    qtbot.waitUntil(lambda: not session.busy)
    again = world.worker.requests[-1].params
    assert (again.temperature, again.repetition_penalty) == (0.7, 1.1)
    session.edit(session.messages()[0].id, Draft("Why not?"))
    qtbot.waitUntil(lambda: not session.busy)
    assert world.worker.requests[-1].params.temperature == 0, "another question, its first answer"
    world.settings.set("preset", "exact")
    session.regenerate(session.messages()[-1].id)
    qtbot.waitUntil(lambda: not session.busy)
    assert world.worker.requests[-1].params.temperature == 0
