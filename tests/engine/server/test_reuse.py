"""What clients send again is not computed again: whole histories as text, several conversations, forks."""

from __future__ import annotations

import contextlib
from typing import Any

from engine.server.history import _CONVERSATIONS, _REPLIES, History, Message
from engine.server.options import ServerOptions
from tests.engine.server.conftest import Served


def turn(served: Served, history: list[Any], question: str, **more) -> dict[str, Any]:
    """One more turn of a client's conversation; the usage."""
    history.append({"role": "user", "content": question})
    done = served.chat(*history, **more).json()
    history.append(done["choices"][0]["message"])
    return done["usage"]


def cached(usage: dict[str, Any]) -> int:
    return usage["prompt_tokens_details"]["cached_tokens"]


def test_a_second_turn_costs_only_what_is_new(served):
    history: list[Any] = []
    first = turn(served, history, "Hello there")
    assert cached(first) == 0
    second = turn(served, history, "And again?")
    # Every token of the first turn but the last sampled one, which was never read, is held. The fake model's replies
    # are bytes of no text at all: as text they would come back as other tokens.
    assert cached(second) == first["prompt_tokens"] + first["completion_tokens"] - 1
    third = turn(served, history, "Third")
    assert cached(third) == second["prompt_tokens"] + second["completion_tokens"] - 1


def test_two_conversations_in_turns_keep_both_their_caches(served):
    chats: dict[str, list[Any]] = {"ours": [], "theirs": []}
    held = dict.fromkeys(chats, 0)
    for n in range(3):
        for name, history in chats.items():
            usage = turn(served, history, f"{name} {n}")
            assert cached(usage) >= held[name]
            held[name] = usage["prompt_tokens"] + usage["completion_tokens"] - 1


def test_white_space_around_a_reply_does_not_hide_it(served):
    history: list[Any] = []
    first = turn(served, history, "Hello there")
    history[-1] = {"role": "assistant", "content": f"\n {history[-1]['content']} "}
    assert cached(turn(served, history, "Next")) == first["prompt_tokens"] + first["completion_tokens"] - 1


def test_a_reply_that_the_client_changed_is_read_as_it_stands(served):
    history: list[Any] = []
    first = turn(served, history, "Hello there")
    history[-1] = {"role": "assistant", "content": "something else"}
    assert cached(turn(served, history, "Next")) <= first["prompt_tokens"]


def test_asking_again_for_a_reply_keeps_the_first_one_too(served):
    history: list[Any] = []
    turn(served, history, "Hello there")
    before = list(history)
    second = turn(served, history, "Tell me more")
    fork = before
    again = turn(served, fork, "Tell me something else", temperature=0)
    assert cached(again) > 0
    third = turn(served, history, "And then?")
    assert cached(third) == second["prompt_tokens"] + second["completion_tokens"] - 1


def test_a_reply_that_a_stop_string_cut_goes_back_as_the_client_saw_it(served):
    full = served.chat("q", temperature=0).json()["choices"][0]["message"]["content"]
    stop = full[2:4]
    cut = served.chat("q", temperature=0, stop=stop).json()
    assert cut["choices"][0]["finish_reason"] == "stop"
    assert len(served.service.history._replies) == 1  # only the full one


def test_reuse_changes_no_token(served):
    history: list[Any] = []
    for question in ("one", "two", "three"):
        usage = turn(served, history, question, temperature=0)
    assert cached(usage) > 0
    *asked, reply = history
    for name in served.service.history._heads:  # the ids stay known, the caches go
        served.worker.forget(name)
    afresh = served.chat(*asked, temperature=0).json()
    assert cached(afresh["usage"]) == 0
    assert afresh["choices"][0]["message"]["content"] == reply["content"]


def test_the_table_and_the_conversations_are_bounded():
    history = History()
    for n in range(_REPLIES + 50):
        place = history.place([Message("user", str(n))])
        history.answered(place, Message("assistant", "a", (n,)))
    assert len(history._replies) == _REPLIES
    outdated = history.outdated()
    assert len(outdated) == _REPLIES + 50 - _CONVERSATIONS
    assert len(history._heads) == _CONVERSATIONS
    assert history.outdated() == []
    newest = history.place([Message("user", str(_REPLIES + 49)), Message("assistant", "a"), Message("user", "?")])
    assert newest.messages[1].token_ids == (_REPLIES + 49,)
    assert newest.conversation_id not in outdated


def test_a_conversation_that_two_requests_use_is_used_until_both_have_ended():
    history = History()
    oldest, *_ = [history.begin() for _ in range(_CONVERSATIONS + 1)]
    with contextlib.ExitStack() as later:
        with history.in_use(oldest):
            later.enter_context(history.in_use(oldest))
        assert oldest not in history.outdated()
    history.begin()
    assert history.outdated() == [oldest]


def test_a_conversation_is_served_to_one_request_at_a_time():
    history = History()
    first = history.place([Message("user", "q")])
    history.answered(first, Message("assistant", "a", (1,)))
    more = [Message("user", "q"), Message("assistant", "a"), Message("user", "?")]
    going_on, beside = history.place(more), history.place(more)
    assert going_on.conversation_id == first.conversation_id
    assert beside.conversation_id != first.conversation_id
    assert beside.messages == going_on.messages


def test_other_tools_are_another_history():
    history = History()
    place = history.place([Message("user", "q")], "[1]")
    history.answered(place, Message("assistant", "a", (1,)))
    more = [Message("user", "q"), Message("assistant", "a"), Message("user", "?")]
    assert history.place(more, "[1]").messages[1].token_ids == (1,)
    assert history.place(more, "[2]").messages[1].token_ids is None
    assert history.place(more).messages[1].token_ids is None


def test_without_prefix_caching_everything_is_computed_and_the_same_is_said(serve):
    replies = []
    for reuse in (True, False):
        served = serve(options=ServerOptions(port=0, reuse=reuse))
        history: list[Any] = []
        usages = [turn(served, history, question, temperature=0) for question in ("one", "two")]
        replies.append([message["content"] for message in history])
        assert (cached(usages[1]) > 0) is reuse
    assert replies[0] == replies[1]
