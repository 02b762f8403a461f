"""A hub on the loopback address: repositories with commits, served as the public one does, and faults on request.

Large files are redirected to another host ("localhost" instead of "127.0.0.1"), as the public hub does with its CDN.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = 4096  # bytes from which on a file is kept as the hub keeps large ones


@dataclass
class Fault:
    """What happens to one answer instead of the right one.

    Attributes:
        status: An HTTP error in place of an answer.
        headers: With it.
        cut: Bytes of the body after which the connection is closed.
        wrong: Flip a bit of each byte.
        hang: Say nothing more, until the server closes, after `cut` bytes.
        body: An answer of another kind, with status 200.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    wrong: bool = False
    hang: bool = False
    body: bytes | None = None


@dataclass
class Repo:
    """A repository.

    Attributes:
        commits: Contents of the files by commit.
        main: The commit that "main" means.
        gated: Only for tokens in `may`.
        private: Seen by those tokens alone.
        about: More that the API says of it.
    """

    commits: dict[str, dict[str, bytes]]
    main: str
    gated: bool = False
    private: bool = False
    may: set[str] = field(default_factory=set)
    about: dict[str, Any] = field(default_factory=dict)


@dataclass
class StandIn:
    """The hub, its behaviour, and what was asked of it.

    Attributes:
        repos: By id.
        faults: For the next requests of which the path ends so; each is used up.
        rate: Bytes a second of file contents; 0 for no limit.
        known_tokens: Others are refused as wrong.
        asked: Method, path and headers of every request.
    """

    repos: dict[str, Repo]
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    rate: float = 0
    ranges: bool = True
    known_tokens: set[str] = field(default_factory=set)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    before_file: Callable[[str], None] | None = None
    closing: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    def paths(self, ending: str = "") -> list[str]:
        """What was asked for."""
        return [path for path, _ in self.asked if path.endswith(ending)]


def commit_of(number: int) -> str:
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def single(files: dict[str, bytes], **about: Any) -> Repo:
    """A repository with one commit."""
    return Repo({commit_of(1): files}, commit_of(1), **about)


def blob_of(data: bytes) -> str:
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


@contextmanager
def serve(hub: StandIn) -> Iterator[str]:
    """Run it; its address."""

    class Handler(_Handler):
        stand_in = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="hub")
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub.address
    finally:
        hub.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    stand_in: StandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        self.stand_in.asked.append((path, dict(self.headers.items())))
        fault = self._fault(path)
        if fault.status:
            self._refuse(fault.status, fault.headers)
        elif fault.body is not None:
            self._send(200, fault.body, {"Content-Type": "text/html"})
        elif path == "/api/models":
            self._search(parse_qs(parts.query))
        elif path.startswith("/api/models/"):
            self._describe(path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            self._resolve(path[1:], fault)
        elif path.startswith("/cdn/"):
            _, _, repo, name, commit, file = path.split("/", 5)
            self._file(self.stand_in.repos[f"{repo}/{name}"].commits[commit][file], fault)
        else:
            self._refuse(404)

    def _fault(self, path: str) -> Fault:
        for ending, faults in self.stand_in.faults.items():
            if path.endswith(ending) and faults:
                return faults.pop(0)
        return Fault()

    def _token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _refused(self, repo: Repo | None) -> bool:
        token = self._token()
        if token and token not in self.stand_in.known_tokens:
            self._refuse(401, {"X-Error-Message": "Invalid credentials in Authorization header"})
        elif repo is None or (repo.private and token not in repo.may):
            self._refuse(404 if token else 401, {"X-Error-Code": "RepoNotFound"})
        else:
            return False
        return True

    def _search(self, asked: dict[str, list[str]]) -> None:
        text = asked.get("search", [""])[0].lower()
        hits = [self._about(name, repo) for name, repo in self.stand_in.repos.items() if text in name.lower()]
        self._send_json(hits[: int(asked.get("limit", ["1000"])[0])])

    def _describe(self, rest: str) -> None:
        name, _, revision = rest.partition("/revision/")
        repo = self.stand_in.repos.get(name)
        if self._refused(repo) or repo is None:
            return
        commit = repo.main if revision in ("", "main") else revision
        if commit not in repo.commits:
            self._refuse(404, {"X-Error-Code": "RevisionNotFound"})
            return
        siblings = [_sibling(path, data) for path, data in repo.commits[commit].items()]
        self._send_json({**self._about(name, repo), "sha": commit, "siblings": siblings})

    def _about(self, name: str, repo: Repo) -> dict[str, Any]:
        return {"id": name, "gated": "manual" if repo.gated else False, "tags": ["safetensors"], **repo.about}

    def _resolve(self, path: str, fault: Fault) -> None:
        name, _, rest = path.partition("/resolve/")
        commit, _, file = rest.partition("/")
        repo = self.stand_in.repos.get(name)
        if self._refused(repo) or repo is None:
            return
        if repo.gated and self._token() not in repo.may:
            self._refuse(403 if self._token() else 401, {"X-Error-Code": "GatedRepo"})
            return
        commit = repo.main if commit == "main" else commit
        if self.stand_in.before_file is not None:
            self.stand_in.before_file(file)
        if commit not in repo.commits:
            self._refuse(404, {"X-Error-Code": "RevisionNotFound"})
        elif file not in repo.commits[commit]:
            self._refuse(404, {"X-Error-Code": "EntryNotFound"})
        elif len(repo.commits[commit][file]) >= LARGE and not (fault.wrong or fault.cut or fault.hang):
            elsewhere = self.stand_in.address.replace("127.0.0.1", "localhost")
            self._refuse(302, {"Location": f"{elsewhere}/cdn/{name}/{commit}/{file}"})
        else:
            self._file(repo.commits[commit][file], fault)

    def _file(self, data: bytes, fault: Fault) -> None:
        etag = f'"{hashlib.sha256(data).hexdigest()}"'
        start, total = self._range(etag), len(data)
        if start > total:
            self._refuse(416, {"Content-Range": f"bytes */{total}"})
            return
        body = data[start:]
        if fault.wrong:
            body = bytes(byte ^ 1 for byte in body)
        headers = {"ETag": etag, "Content-Range": f"bytes {start}-{total - 1}/{total}"} if start else {"ETag": etag}
        self._send(206 if start else 200, body, headers, fault)

    def _range(self, etag: str) -> int:
        asked = self.headers.get("Range", "")
        if not asked or not self.stand_in.ranges or self.headers.get("If-Range", etag) != etag:
            return 0
        return int(asked.removeprefix("bytes=").partition("-")[0])

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, headers: dict[str, str] | None = None) -> None:
        self._send(status, b"", headers or {})

    def _send(self, status: int, body: bytes, headers: dict[str, str], fault: Fault | None = None) -> None:
        fault = fault or Fault()
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self._write(body if fault.cut is None else body[: fault.cut])
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client was killed, or has enough
            return
        if fault.hang:
            self.wfile.flush()
            self.stand_in.closing.wait(60)
        if fault.cut is not None:
            self.close_connection = True

    def _write(self, body: bytes) -> None:
        rate = self.stand_in.rate
        piece = max(1024, int(rate / 50)) if rate else max(1, len(body))
        for begin in range(0, len(body), piece):
            self.wfile.write(body[begin : begin + piece])
            if rate and self.stand_in.closing.wait(piece / rate):
                return

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


def _sibling(path: str, data: bytes) -> dict[str, Any]:
    about: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": blob_of(data)}
    if len(data) >= LARGE:
        pointer = f"oid sha256:{hashlib.sha256(data).hexdigest()}".encode()
        about["blobId"] = blob_of(pointer)
        about["lfs"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "pointerSize": len(pointer)}
    return about


def wait_until(condition: Callable[[], bool], patience_s: float = 20.0) -> None:
    """Wait for something that another thread or process brings about."""
    until = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.01)
