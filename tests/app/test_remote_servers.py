"""Servers are tried, kept and dropped beside the window's thread; keys go to the keyring and nowhere else."""

from __future__ import annotations

import contextlib

import pytest

from app.remote_servers import RemoteServers
from app.server_entry import ServerEntry, Tried
from engine.keys import NO_KEYRING, Keys
from engine.remote.servers import RemoteServer, read_servers
from tests.engine.remote.scripted import MODEL, Scripted, refuses, running, says
from tests.memory_keyring import MemoryKeyring

KEY = "sk-very-secret"
ADDRESS = "https://gpu.example/v1"


class Refusing(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError("no service")


@pytest.fixture
def make(qtbot, tmp_path):
    made: list[RemoteServers] = []

    def start(backend: MemoryKeyring | None = None) -> RemoteServers:
        made.append(RemoteServers(tmp_path / "config" / "servers.json", Keys(backend or MemoryKeyring())))
        return made[-1]

    yield start
    for servers in made:
        servers.close()


@pytest.fixture
def scripted():
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(running(Scripted([says("Yes.")])))


def entry(**values) -> ServerEntry:
    return ServerEntry(**{"id": "", "name": "GPU box", "address": ADDRESS, "key": KEY, "models": ("m",), **values})


def saved(qtbot, servers: RemoteServers, what: ServerEntry) -> tuple[RemoteServer, bool]:
    with qtbot.waitSignal(servers.saved) as signal:
        assert servers.save(what)
    return signal.args[0], signal.args[1]


def test_a_server_is_kept_over_a_restart_and_its_key_is_in_no_file(qtbot, make, tmp_path) -> None:
    backend = MemoryKeyring()
    server, new = saved(qtbot, make(backend), entry())
    assert (server, new) == (RemoteServer("gpu-box", "GPU box", ADDRESS, ("m",)), True)
    assert make(backend).servers == (server,)
    assert Keys(backend).get("gpu-box") == KEY
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY not in file.read_text(encoding="utf-8", errors="replace")


def test_a_server_is_changed_in_its_place_and_keeps_its_key(qtbot, make) -> None:
    backend = MemoryKeyring()
    servers = make(backend)
    saved(qtbot, servers, entry())
    saved(qtbot, servers, entry())
    assert [server.id for server in servers.servers] == ["gpu-box", "gpu-box-2"]
    changed, new = saved(qtbot, servers, entry(id="gpu-box", name=" New  name ", key=None, models=()))
    assert (changed.name, new) == ("New name", False)
    assert [server.name for server in servers.servers] == ["New name", "GPU box"]
    assert Keys(backend).get("gpu-box") == KEY
    saved(qtbot, servers, entry(id="gpu-box", key=""))
    assert Keys(backend).get("gpu-box") == ""


def test_a_removed_server_leaves_nothing(qtbot, make) -> None:
    backend = MemoryKeyring()
    servers = make(backend)
    saved(qtbot, servers, entry())
    with qtbot.waitSignal(servers.changed) as signal:
        assert servers.remove("gpu-box")
    assert signal.args[0] == () and servers.servers == ()
    qtbot.waitUntil(lambda: backend.held == {})


def test_half_a_surrogate_pair_in_a_name_is_kept_as_what_can_be_written(qtbot, make) -> None:
    server, _ = saved(qtbot, make(), entry(name="GPU \ud83d"))
    assert server.name == "GPU \ufffd"
    assert make().servers == (server,)


def test_an_address_that_is_none_is_refused(qtbot, make, tmp_path) -> None:
    servers = make()
    with qtbot.waitSignal(servers.told) as signal:
        assert not servers.save(entry(address="gpu.example"))
    assert "must begin with https://" in signal.args[0]
    assert not (tmp_path / "config").exists()


def test_a_key_that_no_keyring_keeps_is_said_and_works_until_the_end(qtbot, make) -> None:
    servers = make(Refusing())
    with qtbot.waitSignal(servers.told) as signal:
        saved(qtbot, servers, entry())
    assert signal.args[0] == NO_KEYRING


def test_a_list_that_cannot_be_read_is_left_as_it_is(qtbot, make, tmp_path) -> None:
    file = tmp_path / "config" / "servers.json"
    file.parent.mkdir()
    file.write_text("{", encoding="utf-8")
    servers = make()
    assert "cannot be read" in servers.trouble
    with qtbot.waitSignal(servers.told):
        assert not servers.save(entry())
    assert file.read_text(encoding="utf-8") == "{"


def test_a_list_that_cannot_be_written_is_said_and_nothing_is_changed(qtbot, make, tmp_path) -> None:
    (tmp_path / "config").write_text("a file, no folder", encoding="utf-8")
    servers = RemoteServers(tmp_path / "config" / "servers.json", Keys(MemoryKeyring()))
    servers.trouble = ""
    with qtbot.waitSignal(servers.told) as signal:
        assert not servers.save(entry())
    assert "cannot be written" in signal.args[0] and servers.servers == ()


def tried(qtbot, servers: RemoteServers, what: ServerEntry) -> Tried:
    with qtbot.waitSignal(servers.tried) as signal:
        servers.try_out(what)
    return signal.args[0]


def test_a_try_lists_the_models_with_the_key_that_is_typed_or_kept(qtbot, make, scripted) -> None:
    servers = make()
    address = scripted.server.base_url
    found = tried(qtbot, servers, entry(address=address)).found
    assert found is not None and [model.name for model in found.models] == [MODEL]
    saved(qtbot, servers, entry(address=address))
    tried(qtbot, servers, entry(id="gpu-box", address=address, key=None))
    tried(qtbot, servers, entry(address=address, key=""))
    assert [seen.headers.get("authorization") for seen in scripted.listed] == [f"Bearer {KEY}"] * 2 + [None]


def test_a_try_that_fails_says_why(qtbot, make, scripted) -> None:
    servers = make()
    scripted.listing = refuses(401)
    failed = tried(qtbot, servers, entry(address=scripted.server.base_url))
    assert failed.found is None and "does not accept the key" in failed.sentence
    assert "must begin with" in tried(qtbot, servers, entry(address="nonsense")).sentence


def test_only_the_latest_try_is_told_and_one_that_hangs_holds_nothing_up(qtbot, make, scripted) -> None:
    servers = make()
    scripted.listing = lambda exchange: exchange.ended.wait(20)
    outcomes: list[Tried] = []
    servers.tried.connect(outcomes.append)
    servers.try_out(entry(address=scripted.server.base_url))
    qtbot.waitUntil(lambda: len(scripted.listed) == 1)
    assert "must begin with" in tried(qtbot, servers, entry(address="nonsense")).sentence
    assert len(outcomes) == 1
    servers.try_out(entry(address=scripted.server.base_url))
    servers.give_up()
    saved(qtbot, servers, entry())
    assert len(outcomes) == 1


def test_a_file_as_it_is_written_is_read_by_the_engine(qtbot, make, tmp_path) -> None:
    servers = make()
    saved(qtbot, servers, entry())
    assert read_servers(tmp_path / "config" / "servers.json") == servers.servers
