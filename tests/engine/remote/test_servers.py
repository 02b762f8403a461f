"""Addresses are checked before anything is sent, and the list of servers survives whatever is in its file."""

from __future__ import annotations

import json

import pytest

from engine.errors import BadRequest, EngineError
from engine.remote.servers import (
    RemoteServer,
    address_warning,
    check_address,
    find_model,
    is_loopback,
    new_id,
    read_servers,
    servers_json,
)

SERVERS = (
    RemoteServer("box", "GPU box", "https://gpu.example:8000/v1", ("a/b", "c")),
    RemoteServer("two", "Zwei", "http://[::1]:8000/v1"),
)


@pytest.mark.parametrize(
    ("typed", "used"),
    [(" https://GPU.example:8000/v1/ ", "https://gpu.example:8000/v1"),
     ("http://localhost:8000", "http://localhost:8000/v1"),
     ("https://api.example/openai/v1/chat/completions", "https://api.example/openai/v1"),
     ("HTTPS://api.example/v1/models", "https://api.example/v1"),
     ("http://[::1]:8000/v1", "http://[::1]:8000/v1")],
)  # fmt: skip
def test_an_address_is_brought_into_one_form(typed: str, used: str) -> None:
    assert check_address(typed) == used
    assert check_address(used) == used


@pytest.mark.parametrize(
    "typed",
    ["", "gpu.example", "gpu.example:8000/v1", "ftp://gpu.example", "file:///etc/passwd", "https://", "https://:8000",
     "https://gpu.example:99999", "https://gpu.example:0", "https://me:secret@gpu.example/v1", "https://a b/v1",
     "https://gpu.example/v1?x=1", "https://gpu.example/v1#x", "javascript:alert(1)", "https://[::1/v1",
     "https://gpu.example/\nv1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_a_sentence(typed: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_address(typed)
    assert caught.value.sentence.endswith(".")
    assert "secret" not in caught.value.sentence


@pytest.mark.parametrize(
    ("url", "own"),
    [("http://localhost:1/v1", True), ("http://127.0.0.2/v1", True), ("http://[::1]:1/v1", True),
     ("http://a.localhost/v1", True), ("http://192.168.1.4/v1", False), ("http://localhost.example/v1", False),
     ("http://127.0.0.1.example/v1", False)],
)  # fmt: skip
def test_text_in_the_open_is_warned_of_where_it_leaves_the_machine(url: str, own: bool) -> None:
    assert is_loopback(url) is own
    assert bool(address_warning(url)) is not own
    assert address_warning(url.replace("http://", "https://")) == ""


def test_servers_are_read_as_they_were_written(tmp_path) -> None:
    file = tmp_path / "servers.json"
    assert read_servers(file) == ()
    file.write_text(servers_json(SERVERS), encoding="utf-8")
    assert read_servers(file) == SERVERS


@pytest.mark.parametrize("text", ["", "{", "[]", '{"servers": 7}', "7", "\x00", "[" * 100_000])
def test_a_file_that_is_no_list_is_said(tmp_path, text: str) -> None:
    file = tmp_path / "servers.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(EngineError, match="cannot be read"):
        read_servers(file)


@pytest.mark.expects_log(r"an entry of the list of servers is passed over")
def test_entries_that_are_no_servers_are_passed_over(tmp_path) -> None:
    good = json.loads(servers_json(SERVERS))["servers"]
    bad = [
        7,
        {},
        {"id": "a/b", "name": "x", "base_url": "http://x/v1"},
        {"id": "a", "name": "x", "base_url": "file:///"},
    ]
    file = tmp_path / "servers.json"
    odd = {"id": "odd", "name": "Odd", "base_url": "http://odd/v1", "models": ["a", 7, ""]}
    file.write_text(json.dumps({"servers": [*bad, *good, odd]}), encoding="utf-8")
    assert read_servers(file) == (*SERVERS, RemoteServer("odd", "Odd", "http://odd/v1", ("a",)))


def test_a_models_name_says_on_which_server_it_is() -> None:
    assert SERVERS[0].name_of("a/b") == "box/a/b"
    assert find_model(SERVERS, "box/a/b") == (SERVERS[0], "a/b")
    assert find_model(SERVERS, "box/not-chosen-yet") == (SERVERS[0], "not-chosen-yet")
    assert find_model(SERVERS, "gpu BOX/a/b") == find_model(SERVERS, "Box/a/b") == (SERVERS[0], "a/b")
    assert [find_model(SERVERS, name) for name in ("box", "box/", "other/a", "smollm2-135m-instruct")] == [None] * 4


def test_an_id_is_new_and_can_be_part_of_a_name() -> None:
    assert new_id("GPU box / 2", ()) == "gpu-box-2"
    assert new_id("GPU box", ("gpu-box", "gpu-box-2")) == "gpu-box-3"
    assert "/" not in new_id("///", ())
