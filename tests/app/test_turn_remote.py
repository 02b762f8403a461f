"""A turn on a server as it grows: text without token ids, and figures that are not made up."""

from __future__ import annotations

import csv
import io

from app.records import StoredMessage, stats_from_json, stats_to_json
from app.turn import Turn, after, prompt_messages
from app.turn_log import LoggedTurn, as_csv
from app.views.inspector.history_values import cells, sort_keys, speed_by_context
from engine.events import PrefillProgress, TextDelta
from engine.remote.figures import Usage, remote_stats


def test_a_turn_without_token_ids_answers_with_its_first_text() -> None:
    turn = Turn("c", "q", submitted_at=1.0)
    turn.begin("box/m", frozenset())
    turn.read(PrefillProgress("r", 0, 0, 0, 1.1, "box is busy; asks again in 1 s"))
    assert (turn.live().phase, turn.live().note) == ("prefill", "box is busy; asks again in 1 s")
    turn.grow(TextDelta("r", "Yes", (), 1.5))
    turn.grow(TextDelta("r", ".", (), 1.6))
    live = turn.live()
    assert (live.phase, live.ttft_s, live.tokens_per_s, live.context_used) == ("decode", 0.5, None, None)
    reply = turn.reply("complete")
    assert (reply.content, reply.token_ids, reply.model) == ("Yes.", None, "box/m")
    asked = prompt_messages("", [StoredMessage("c", "user", "Why?"), reply, StoredMessage("c", "user", "So?")], "box/m")
    assert [message.token_ids for message in asked] == [None, None, None]


def test_what_was_not_reported_is_not_known_afterwards() -> None:
    stats = remote_stats("box", Usage(), 1.0, 1.1, [1.5])
    live = after(StoredMessage("c", "assistant", "Yes.", stats=stats))
    assert live.context_used is None and not live.reuse_known and live.ttft_s == 0.5
    stats = remote_stats("box", Usage(30, 20, 4), 1.0, 1.1, [1.5])
    live = after(StoredMessage("c", "assistant", "Yes.", stats=stats))
    assert live.context_used == 34 and live.reuse_known


def test_figures_of_a_server_survive_the_store() -> None:
    stats = remote_stats("box", Usage(30), 1.0, 1.1, [1.5, 1.7])
    assert stats_from_json(stats_to_json(stats)) == stats


def test_the_log_of_turns_says_what_a_server_did_not_report() -> None:
    stats = remote_stats("box", Usage(prompt=30), 1.0, 1.1, [1.5, 1.7])
    turn = LoggedTurn(1_700_000_000.0, "m", "c", "A chat", "box/m", stats)
    assert cells(turn, "now")[4:7] == ("-", "-", "-")
    assert sort_keys(turn)[4:7] == (float("inf"),) * 3
    heading, line = csv.reader(io.StringIO(as_csv([turn])))
    values = dict(zip(heading, line, strict=True))
    assert (values["prompt_tokens"], values["cached_tokens"], values["completion_tokens"]) == ("30", "", "")
    assert speed_by_context([turn]).lines[0].points == ()
