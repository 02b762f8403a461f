"""The proof itself must be able to fail, and must leave nothing behind."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY, SamplingParams
from engine.errors import BadRequest, Cancelled
from engine.verify import BUILT_IN, Proof, TurnProof, verify
from tests.engine.fakes import FakeCache, FakeRunner, engine_with


def finish(steps: Generator[TurnProof, None, Proof]) -> Proof:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class ForgetfulCache(FakeCache):
    """Says that it was cropped, but keeps a token too many."""

    def crop(self, length: int) -> bool:
        return super().crop(length + 1)


class ForgetfulRunner(FakeRunner):
    def new_cache(self) -> FakeCache:
        return ForgetfulCache(self.croppable)


EDITED = (
    Message("user", "Hello there"),
    Message("assistant", "An answer that nobody generated"),
    Message("user", "Go on"),
)


def test_the_built_in_conversation_is_equal_turn_by_turn() -> None:
    proof = finish(verify(engine_with(FakeRunner()), reply_tokens=12))
    assert proof.equal
    assert len(proof.turns) == sum(message.role == "user" for message in BUILT_IN)
    assert proof.sentence.startswith("All 4 answers are the same with kept caches and without (48 tokens): ")
    first, *later = proof.turns
    assert first.cached_tokens == 0
    assert all(turn.cached_tokens > 0.5 * turn.prompt_tokens for turn in later)


def test_a_cache_that_is_off_by_one_is_found_out() -> None:
    proof = finish(verify(engine_with(ForgetfulRunner()), EDITED, reply_tokens=12))
    assert [turn.equal for turn in proof.turns] == [True, False]
    wrong = proof.turns[1]
    place = wrong.first_difference
    assert place is not None
    assert wrong.kept[: place - 1] == wrong.fresh[: place - 1]
    assert f"(answer 2 from token {place} on)" in proof.sentence


def test_replies_that_are_there_stay_as_they_are() -> None:
    seen: list[tuple[Message, ...]] = []

    engine = engine_with(FakeRunner())
    stream = engine.stream

    def listen(request: ChatRequest, handle: RequestHandle | None = None):
        seen.append(request.messages)
        return stream(request, handle)

    engine.stream = listen
    finish(verify(engine, EDITED, reply_tokens=4))
    assert seen == [EDITED[:1], EDITED[:1], EDITED, EDITED]


def test_the_open_chats_own_cache_is_read_and_not_changed() -> None:
    engine = engine_with(FakeRunner())
    messages = (Message("user", "A question that is long enough to be worth copying"),)
    request = ChatRequest("r", messages, SamplingParams(temperature=0.0, max_tokens=8), "open")
    *_, answer = engine.stream(request)
    store = engine._model.store
    before = list(store._caches["open"].ids)
    thread = (*messages, Message("assistant", answer.text, answer.token_ids), Message("user", "More"))
    proof = finish(verify(engine, thread, reply_tokens=8))
    assert proof.equal
    assert proof.turns[0].cached_tokens > 0
    assert store._caches["open"].ids == before
    assert list(store._caches) == ["open"]


def test_a_chat_without_a_question_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"no question in this chat yet"):
        finish(verify(engine_with(FakeRunner()), [Message("system", "Be kind.")]))


@pytest.mark.parametrize("after_passes", [0, 5])
def test_cancelling_ends_it_and_leaves_nothing(after_passes: int) -> None:
    handle, passes = RequestHandle("v"), []

    def cancel(ids: Sequence[int]) -> None:
        passes.append(len(ids))
        if len(passes) > after_passes:
            handle.cancel()

    engine = engine_with(FakeRunner(before=cancel))
    with pytest.raises(Cancelled):
        finish(verify(engine, handle=handle))
    assert not engine._model.store._caches


def test_greedy_is_meant_literally() -> None:
    params = []
    engine = engine_with(FakeRunner())
    stream = engine.stream

    def listen(request: ChatRequest, handle: RequestHandle | None = None):
        params.append(request.params)
        return stream(request, handle)

    engine.stream = listen
    finish(verify(engine, EDITED, reply_tokens=3))
    assert {(p.temperature, p.top_k, p.max_tokens) for p in params} == {(GREEDY.temperature, 0, 3)}


@pytest.mark.parametrize(
    ("kept", "fresh", "place"), [((1, 2), (1, 2), None), ((1, 2), (1, 3), 2), ((1,), (1, 2), 2), ((), (4,), 1)]
)
def test_the_first_difference(kept: tuple[int, ...], fresh: tuple[int, ...], place: int | None) -> None:
    turn = TurnProof(1, 10, 5, kept, fresh, 0.1, 0.2, 0.3, 0.4)
    assert turn.first_difference == place
    assert turn.equal == (place is None)
