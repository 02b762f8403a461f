"""Where and why the prompt parted from the cache, turn by turn through the engine."""

from __future__ import annotations

import dataclasses

import pytest

from engine.chat import Message
from engine.engine import Engine
from engine.explain.history import Histories, Past
from engine.explain.prefix import SHOWN
from engine.explain.trace import BreakReason, PrefixBreak
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore
from engine.prompt import PromptBuilder
from tests.engine.explain.test_turns import answer
from tests.engine.fakes import FakeRunner, engine_with, loquat_tokenizer

SYSTEM = Message("system", "You are a helpful assistant who answers in a few plain sentences.")
FIRST, SECOND = Message("user", "Why is the sky blue?"), Message("user", "And why is it red in the evening?")


def reply(engine: Engine, messages: list[Message], **fields: object) -> Message:
    last = answer(engine, messages, **fields)
    return Message("assistant", last.text, last.token_ids)


def broken(engine: Engine, messages: list[Message], **fields: object) -> PrefixBreak:
    return answer(engine, messages, **fields).trace.prefix


@pytest.fixture
def engine() -> Engine:
    return engine_with(FakeRunner())


@pytest.fixture
def talk(engine) -> list[Message]:
    """Two turns that were answered."""
    messages = [SYSTEM, FIRST]
    messages += [reply(engine, messages), SECOND]
    return [*messages, reply(engine, messages)]


def test_the_first_turn_has_nothing_to_break(engine):
    assert broken(engine, [SYSTEM, FIRST]) == PrefixBreak(BreakReason.FIRST_TURN)


def test_a_next_turn_goes_on_where_the_cache_ended(engine, talk):
    found = broken(engine, [*talk, Message("user", "Why?")])
    assert (found.reason, found.lost, found.expected) == (BreakReason.NONE, 0, ())


def test_asking_again_breaks_nothing(engine, talk):
    found = broken(engine, talk[:-1])
    assert (found.reason, found.lost) == (BreakReason.NONE, 0)


def test_an_edited_message_is_named_and_shown_beside_what_was_there(engine, talk):
    edited = dataclasses.replace(FIRST, content="Why is the sea blue?")
    found = broken(engine, [SYSTEM, edited])
    assert (found.reason, found.message) == (BreakReason.EDITED, 1)
    at = found.position - found.start
    assert "".join(piece.text for piece in found.expected).find("ky blue") >= 0
    assert (found.expected[at].text, found.found[at].text) == ("k", "e")
    assert [p.id for p in found.expected[:at]] == [p.id for p in found.found[:at]]
    assert len(found.expected) == SHOWN


def test_another_version_of_a_message_is_another_branch(engine, talk):
    edited = dataclasses.replace(SECOND, content="And at night?")
    asked = [*talk[:3], edited]
    assert broken(engine, asked).reason is BreakReason.EDITED
    back = broken(engine, [*talk, Message("user", "Why?")])
    assert (back.reason, back.message) == (BreakReason.OTHER_BRANCH, 3)
    other = Message("assistant", "Because.", None)
    assert broken(engine, [SYSTEM, FIRST, other, SECOND]).reason is BreakReason.OTHER_BRANCH


def test_a_template_that_rewrites_history_is_named(engine, talk):
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}{{ ' earlier' if not loop.last else '' }}\n{{ m.content }}"
        "<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    )
    engine._model = dataclasses.replace(engine._model, prompt=PromptBuilder(loquat_tokenizer(), template))
    messages = [FIRST]
    messages += [reply(engine, messages, conversation_id="t"), SECOND]
    found = broken(engine, messages, conversation_id="t")
    assert (found.reason, found.message) == (BreakReason.TEMPLATE, 0)
    assert "earlier" in "".join(piece.text for piece in found.found)
    assert found.lost > 20


def test_an_evicted_cache_is_named(engine, talk):
    engine._model.store.drop_memory()
    found = broken(engine, [*talk, Message("user", "Why?")])
    assert (found.reason, found.position) == (BreakReason.EVICTED, None)
    assert found.lost > 100


def test_a_cache_that_went_for_another_chat_is_named():
    engine = engine_with(FakeRunner(), budget=8 * 150)
    messages = [FIRST]
    messages += [reply(engine, messages), SECOND]
    answer(engine, [Message("user", "x" * 90)], conversation_id="other")
    answer(engine, [Message("user", "y" * 90)], conversation_id="third")
    assert broken(engine, messages).reason is BreakReason.EVICTED


def test_old_turns_that_were_left_out_are_named():
    engine = engine_with(FakeRunner(context_limit=400))
    messages = [SYSTEM]
    reasons = []
    for n in range(5):
        messages.append(Message("user", f"Question {n} " + "?" * 40))
        last = answer(engine, messages)
        reasons.append(last.trace.prefix.reason)
        messages.append(Message("assistant", last.text, last.token_ids))
        if last.left_out and BreakReason.LEFT_OUT in reasons:
            break
    assert reasons[-1] is BreakReason.LEFT_OUT
    gone = [segment for segment in last.trace.segments if segment.left_out]
    assert [segment.index for segment in gone] == list(last.left_out)
    assert all(segment.tokens > 0 and segment.computed == segment.reused == 0 for segment in gone)


def test_another_model_is_named(engine, talk):
    engine._model.store.drop_memory()
    engine._model = dataclasses.replace(engine._model, info=dataclasses.replace(engine._model.info, name="another"))
    assert broken(engine, [*talk, Message("user", "Why?")]).reason is BreakReason.MODEL_CHANGED


def test_kernels_that_took_over_in_mid_chat_are_named():
    engine = engine_with(FakeRunner())
    ready = engine._model.info
    engine._model = dataclasses.replace(engine._model, info=dataclasses.replace(ready, compiling=True))
    messages = [FIRST]
    messages += [reply(engine, messages), SECOND]
    kernels = FakeRunner()
    kernels.cache_format = "kernels"
    engine._model = dataclasses.replace(engine_with(kernels)._model, info=ready)
    found = broken(engine, messages)
    assert found.reason is BreakReason.KERNELS
    assert found.lost > 30
    messages += [reply(engine, messages), Message("user", "And again?")]
    assert broken(engine, messages).reason is BreakReason.NONE, "it is said once"


def test_a_model_that_can_only_go_back_to_marks_is_named():
    engine = engine_with(FakeRunner(croppable=False))
    messages = [SYSTEM, FIRST]
    for n in range(8):
        messages += [reply(engine, messages), Message("user", f"Question {n}, somewhat longer than the others?")]
    later = [*messages[:9], dataclasses.replace(messages[9], content="Something else entirely, asked now?")]
    found = broken(engine, later)
    assert found.reason in (BreakReason.MARKS, BreakReason.EDITED)
    assert found.lost > 0


def test_without_reuse_nothing_is_compared(engine, talk):
    assert broken(engine, talk[:-1], reuse=False) == PrefixBreak(BreakReason.NO_REUSE)


def restarted(engine: Engine, tmp_path, fingerprint: str) -> Engine:
    """The same program after a restart, or with another model."""
    engine._model.store.close()
    runner = FakeRunner()
    other = engine_with(runner)
    store = KVStore(runner, 1 << 20, KVDisk(tmp_path, fingerprint, 1 << 30))
    other._model = dataclasses.replace(other._model, store=store)
    return other


def test_after_a_restart_the_disk_has_it(tmp_path):
    engine = restarted(engine_with(FakeRunner()), tmp_path, "a" * 64)
    messages = [SYSTEM, FIRST]
    messages += [reply(engine, messages), SECOND]
    engine = restarted(engine, tmp_path, "a" * 64)
    last = answer(engine, messages)
    assert (last.trace.prefix.reason, last.trace.kv.source) == (BreakReason.NONE, "disk")
    edited = [SYSTEM, dataclasses.replace(FIRST, content="Why is it so?"), *messages[2:]]
    engine = restarted(engine, tmp_path, "a" * 64)
    found = broken(engine, edited)
    assert found.reason is BreakReason.NOT_KNOWN  # whether it was edited or is another branch
    assert found.message == 1 and found.expected
    engine = restarted(engine, tmp_path, "b" * 64)
    assert broken(engine, edited).reason is BreakReason.MODEL_CHANGED
    engine._model.store.close()


def test_histories_keep_the_newest_and_forget_what_was_deleted():
    histories = Histories()
    for n in range(100):
        histories.remember(f"c{n}", Past((FIRST,), (), "m", [1, 2, 3]))
    assert histories.past("c0") is None
    assert list(histories.past("c99").ids) == [1, 2, 3]
    assert histories.seen("c99", 0, FIRST) and not histories.seen("c99", 1, FIRST)
    histories.forget("c99")
    assert histories.past("c99") is None and not histories.seen("c99", 0, FIRST)
