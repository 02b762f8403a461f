"""`loquat chat` with a server's model."""

from __future__ import annotations

import pytest

from engine import cli_chat
from engine.errors import ServerFailed
from engine.remote.servers import FILE, servers_json
from tests.engine.remote.scripted import Exchange, says


def cut(exchange: Exchange) -> None:
    exchange.begin_stream()
    exchange.piece("Half an")
    exchange.cut()


def test_an_answer_that_breaks_off_ends_its_line(script, loquat_home, capsys, monkeypatch) -> None:
    monkeypatch.setattr("engine.keys.Keys.get", lambda self, server_id: "")  # whatever the tester's keyring holds
    scripted = script(says("Yes."), cut)
    loquat_home.config.mkdir(parents=True)
    (loquat_home.config / FILE).write_text(servers_json((scripted.server,)), encoding="utf-8")
    with pytest.raises(ServerFailed, match="broke off"):
        cli_chat.run(["--model", "gpu BOX/org/big-model", "--prompt", "q", "--prompt", "and?"], loquat_home)
    assert capsys.readouterr().out == "Yes.\nHalf an\n"
