"""torch for NVIDIA GPUs is fetched only if asked for, comes whole or not at all, and is taken at the next start."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest

from engine import cuda_pack
from engine.chat import RequestHandle
from engine.cli_cuda import run
from engine.cuda_download import install, remove
from engine.cuda_pack import SOURCE, CudaSource, Wheel, read_source, take, unpacked_version
from engine.errors import BadRequest, Cancelled, EngineError, FetchFailed
from engine.paths import Paths

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def wheel_of(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


BODY = wheel_of({"torch/__init__.py": "VERSION = '2.13.0+cu130'\n" + "# filling\n" * 400_000})


class _Handler(BaseHTTPRequestHandler):
    body: ClassVar[bytes] = BODY
    ends_after: ClassVar[int | None] = None
    ranges: ClassVar[bool] = True
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        begin = 0
        given = self.headers.get("Range")
        self.asked.append(given or "")
        if given and self.ranges:
            begin = int(given.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if given and self.ranges else 200)
        self.send_header("Content-Length", str(len(self.body) - begin))
        self.end_headers()
        end = len(self.body) if self.ends_after is None else begin + self.ends_after
        self.wfile.write(self.body[begin:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, type[_Handler]]]:
    handler = type("Handler", (_Handler,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}/torch.whl", handler
        made.shutdown()
        thread.join()


def source_at(address: str, body: bytes = BODY) -> CudaSource:
    return CudaSource("2.13.0+cu130", PYTHON, (Wheel(address, hashlib.sha256(body).hexdigest(), len(body)),))


def fetch(source: CudaSource, paths: Paths, handle: RequestHandle | None = None) -> list[str]:
    client = httpx2.Client(timeout=10)
    return [step.sentence for step in install(source, paths, handle or RequestHandle("x"), client)]


def test_it_is_fetched_checked_unpacked_and_taken(
    server: tuple[str, type[_Handler]], loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = fetch(source_at(server[0]), loquat_home)
    assert any("Downloading" in sentence for sentence in said)
    assert unpacked_version(loquat_home) == "2.13.0+cu130"
    assert not take(loquat_home), "a checkout takes what is installed in its environment"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert take(loquat_home)
    assert sys.path[0] == str(cuda_pack.pack_folder(loquat_home))
    (loquat_home.data / "torch-cuda-unfinished" / "torch").mkdir(parents=True)  # of an update that was broken off
    remove(loquat_home)
    assert unpacked_version(loquat_home) == ""
    assert list(loquat_home.data.iterdir()) == []


def test_a_connection_that_ends_early_goes_on_where_it_stopped(
    server: tuple[str, type[_Handler]], loquat_home: Paths
) -> None:
    address, handler = server
    handler.ends_after = 1_500_000
    for _ in range(2):
        with pytest.raises(FetchFailed, match="goes on where it stopped"):
            fetch(source_at(address), loquat_home)
        assert unpacked_version(loquat_home) == ""
    handler.ends_after = None
    fetch(source_at(address), loquat_home)
    assert [bool(given) for given in handler.asked] == [False, True, True]
    assert unpacked_version(loquat_home)


@pytest.mark.parametrize("longer", [False, True])
def test_another_file_in_its_place_is_refused_and_not_kept(
    server: tuple[str, type[_Handler]], loquat_home: Paths, longer: bool
) -> None:
    address, handler = server
    handler.body = BODY + b"more" if longer else b"X" * len(BODY)
    with pytest.raises(FetchFailed, match="arrived damaged"):
        fetch(source_at(address), loquat_home)
    assert not list(loquat_home.data.rglob("*.whl"))


def test_a_cancelled_download_leaves_no_torch(server: tuple[str, type[_Handler]], loquat_home: Paths) -> None:
    handle = RequestHandle("x")
    steps = install(source_at(server[0]), loquat_home, handle, httpx2.Client(timeout=10))
    next(steps)
    handle.cancel()
    with pytest.raises(Cancelled):
        list(steps)
    assert unpacked_version(loquat_home) == ""


@pytest.mark.parametrize("name", ["../outside.py", "/outside.py", "C:/outside.py", "a/../../outside.py"])
def test_a_name_that_leads_out_of_the_folder_is_refused(
    server: tuple[str, type[_Handler]], loquat_home: Paths, name: str
) -> None:
    address, handler = server
    handler.body = wheel_of({name: "x"})
    with pytest.raises(EngineError, match="outside of its folder"):
        fetch(source_at(address, handler.body), loquat_home)
    assert not list(loquat_home.data.rglob("outside.py"))


def test_what_another_version_left_there_is_not_unpacked(
    server: tuple[str, type[_Handler]], loquat_home: Paths
) -> None:
    downloads = loquat_home.data / "torch-cuda-downloads"
    downloads.mkdir(parents=True)
    (downloads / "2.whl").write_bytes(wheel_of({"torch/foreign.py": "x"}))  # of more files, and never checked
    fetch(source_at(server[0]), loquat_home)
    assert unpacked_version(loquat_home)
    assert not list(loquat_home.data.rglob("foreign.py"))
    assert not downloads.exists()


def test_what_is_here_already_needs_no_room(
    server: tuple[str, type[_Handler]], loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = []
    monkeypatch.setattr("engine.cuda_download.need_room", lambda _folder, nbytes, _what: wanted.append(nbytes))
    address, handler = server
    handler.ends_after = 1_500_000
    with pytest.raises(FetchFailed, match="goes on where it stopped"):
        fetch(source_at(address), loquat_home)
    here = (loquat_home.data / "torch-cuda-downloads" / "1.whl").stat().st_size
    handler.ends_after = None
    fetch(source_at(address), loquat_home)
    assert here > 0
    assert wanted == [3 * len(BODY), 3 * len(BODY) - here]


def test_no_connection_is_a_sentence(loquat_home: Paths) -> None:
    with pytest.raises(FetchFailed, match="broke off"):
        fetch(source_at("http://127.0.0.1:9/torch.whl"), loquat_home)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"torch": "2"}',
        json.dumps({"torch": "2", "python": "2.7", "wheels": [{"address": "https://x", "sha256": "", "nbytes": 1}]}),
        json.dumps({"torch": "2", "python": PYTHON, "wheels": [{"address": "http://x", "sha256": "", "nbytes": 1}]}),
        json.dumps({"torch": "2", "python": PYTHON, "wheels": []}),
    ],
)
def test_a_note_that_cannot_be_used_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / SOURCE).write_text(text)
    assert read_source(tmp_path) is None


def test_a_note_says_what_is_to_be_had(tmp_path: Path) -> None:
    wheel = {"address": "https://example.org/t.whl", "sha256": "AB" * 32, "nbytes": 5}
    (tmp_path / SOURCE).write_text(json.dumps({"torch": "2", "python": PYTHON, "wheels": [wheel]}))
    source = read_source(tmp_path)
    assert source is not None
    assert (source.nbytes, source.wheels[0].sha256) == (5, "ab" * 32)


def test_the_command_says_that_this_build_has_no_need_of_it(
    loquat_home: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status"], loquat_home) == 0
    assert "CPUs alone" in capsys.readouterr().out
    with pytest.raises(BadRequest, match="CPUs alone"):
        run(["install"], loquat_home)
    assert run(["install", "--json"], loquat_home) == 2
    assert json.loads(capsys.readouterr().out)["event"] == "failed"
