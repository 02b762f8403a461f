"""Which version is the newest: from a signed file, over real HTTPS with a certificate of the test's own."""

from __future__ import annotations

import base64
import importlib.util
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engine.updates import MOST_BYTES, NoRelease, Source, is_newer, newest, read_release, read_source

ROOT = Path(__file__).parent.parent.parent
PAGE = "https://loquat.example/releases/0.2.0"
Answer = Callable[[BaseHTTPRequestHandler], None]


def release_file() -> ModuleType:
    """The script that the release workflow runs."""
    spec = importlib.util.spec_from_file_location("release_file", ROOT / "packaging" / "release_file.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = release_file()
PRIVATE, PUBLIC = SCRIPT.new_key()
KEY = base64.b64decode(PUBLIC)


def signed(tmp_path: Path, version: str = "0.2.0", page: str = PAGE, private: str = PRIVATE) -> bytes:
    file = tmp_path / "loquat.deb"
    file.write_bytes(b"a package")
    text: str = SCRIPT.signed_release(private, version, page, [file], "2026-12-01")
    return text.encode()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stand-in")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain, pkcs8 = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, pkcs8, plain))
    return folder / "cert.pem", folder / "key.pem"


@contextmanager
def site(certificate: tuple[Path, Path], answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """An HTTPS server that answers everything so; its address, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers['User-Agent']}")
            answer(self)

        def log_message(self, *arguments: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *arguments: Any) -> None:
            pass  # a caller that goes away, or does not trust the certificate, is what some tests are about

    server = Quiet(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sends(data: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def trusting(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate[0]))


def test_a_signed_file_tells_of_the_newest_version(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    with site(certificate, sends(signed(tmp_path))) as (address, asked):
        release = newest(Source(f"{address}/latest.json", KEY), trusting(certificate))
    assert (release.version, release.date, release.page) == ("0.2.0", "2026-12-01", PAGE)
    assert list(release.files) == ["loquat.deb"] and len(release.files["loquat.deb"]) == 64
    assert asked == ["/latest.json Loquat"], "it says nothing about the person or the machine"


def test_a_server_that_is_not_trusted_is_not_read(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    with site(certificate, sends(signed(tmp_path))) as (address, asked):
        with pytest.raises(NoRelease, match="could not be asked for"):
            newest(Source(address, KEY))
        assert asked == []


def other_key(tmp_path: Path) -> bytes:
    return signed(tmp_path, private=SCRIPT.new_key()[0])


def changed(tmp_path: Path) -> bytes:
    return signed(tmp_path).replace(b"0.2.0", b"9.9.9")


def no_https(tmp_path: Path) -> bytes:
    return signed(tmp_path, page="http://loquat.example")


def no_version(tmp_path: Path) -> bytes:
    return signed(tmp_path, version="newest")


@pytest.mark.parametrize("make", [other_key, changed, no_https, no_version])
def test_what_is_signed_otherwise_or_unusable_is_not_believed(make: Callable[[Path], bytes], tmp_path: Path) -> None:
    with pytest.raises(NoRelease, match="is no such file"):
        read_release(make(tmp_path), KEY)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>Not found</html>",
        b"[]",
        b"null",
        b'{"signed": 1, "signature": "AA=="}',
        b'{"signed": "{}", "signature": "no base64"}',
        b'{"signed": "{}", "signature": ""}',
        b"[" * 30_000,
        bytes(range(256)) * 100,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(NoRelease):
        read_release(data, KEY)


def huge(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(10_000):  # 640 MB, if somebody read them
        handler.wfile.write(b" " * MOST_BYTES)


def slow(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (huge, "too large"),
        (slow, "too slow"),
        (sends(b"gone", 404), "404"),
        (sends(b"", 302, Location="http://127.0.0.1:9/latest.json"), "redirected out of HTTPS"),
        (sends(b"", 302, Location="file:///etc/passwd"), "HTTP"),
    ],
)
def test_an_answer_of_any_kind_ends_soon(certificate: tuple[Path, Path], answer: Answer, reason: str) -> None:
    with site(certificate, answer) as (address, _):
        began = time.monotonic()
        with pytest.raises(NoRelease) as caught:
            newest(Source(address, KEY), trusting(certificate), patience_s=1.0)
    assert reason in caught.value.detail
    assert time.monotonic() - began < 6


def test_without_a_network_there_is_no_release() -> None:
    with pytest.raises(NoRelease):
        newest(Source("https://127.0.0.1:9/latest.json", KEY))
    with pytest.raises(NoRelease):
        newest(Source("http://127.0.0.1:9/latest.json", KEY))


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.2.0", "0.1.0", True),
        ("0.10.0", "0.9.9", True),
        ("1.0", "0.99.99", True),
        ("0.1.0", "0.1.0", False),
        ("0.1", "0.1.0", False),
        ("0.0.9", "0.1.0", False),
        ("0.2.0", "0.2.0.dev1+local", False),
        ("newest", "0.1.0", False),
        ("0.1.0", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer


def test_a_build_knows_where_to_ask_or_asks_nobody(tmp_path: Path) -> None:
    file = tmp_path / "updates.json"
    assert read_source(file) is None
    file.write_text(SCRIPT.source("https://loquat.example/latest.json", PUBLIC))
    source = read_source(file)
    assert source == Source("https://loquat.example/latest.json", KEY)
    assert source.host == "loquat.example"
    for address, key in (("http://loquat.example", PUBLIC), ("https://loquat.example", "AA=="), ("https://[", PUBLIC)):
        file.write_text(json.dumps({"address": address, "public_key": key}))
        assert read_source(file) is None
