"""Asks a hub: searches, describes a repository, opens a file from any byte on.

Addresses and the form of answers are huggingface_hub's own. Its downloads are not used: since 2.4 they write
to a file that is named at random and deleted when they break off (`file_download._download_to_tmp_and_move`), so that
a killed one would begin anew, and they obey any `Retry-After`. Requests here have bounds, and resume.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final
from urllib.parse import quote

import httpx2
from huggingface_hub import hf_hub_url

from engine.chat import RequestHandle
from engine.hub.address import named_hub, told
from engine.hub.described import described, found, is_chat_model, repository
from engine.hub.failures import connection_trouble, no_hub, refused
from engine.hub.patience import Patience, Tries, Trouble
from engine.hub.token import Tokens
from engine.hub.values import Found, HubFailure, HubFile, Reference, Repository
from engine.models.progress import Step

_HTTP: Final = re.compile(r"https?://[^/\s]", re.IGNORECASE)
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_ANSWER_MOST: Final = 100_000_000  # bytes of a description; a repository of 10,000 files takes 5 MB
_REFUSED: Final = (401, 403)
_FIELDS: Final = (
    *("cardData", "downloads", "gated", "gguf", "lastModified", "likes", "pipeline_tag", "safetensors", "tags"),
)


@dataclass(frozen=True, slots=True)
class Body:
    """A file's bytes as they come.

    Attributes:
        start: At which byte of the file they begin.
        etag: What names these contents for `If-Range`; empty where the server gives nothing that can.
        chunks: The bytes.
    """

    start: int
    etag: str
    chunks: Iterator[bytes]


class Hub:
    """One hub, with connections that are closed at the end of a `with` block.

    Args:
        tokens: The person's access token.
        patience: The bounds.
        environment: HF_ENDPOINT names another hub or a mirror; proxies are the business of the client's library.

    Attributes:
        endpoint: The hub's address as it is told: without the password that HF_ENDPOINT may hold.

    Raises:
        HubFailure: What HF_ENDPOINT names can be no hub, or the token that was given can be none.
    """

    def __init__(
        self,
        tokens: Tokens | None = None,
        patience: Patience | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.patience = patience or Patience()
        self._base = _endpoint(named_hub(environment))
        self.endpoint = told(self._base)
        self._tokens = tokens or Tokens(environment=environment)
        self._token = self._tokens.given() if self._is_private_line() else ""
        self._asked_keyring = False
        self._client = self._connected()

    def __enter__(self) -> Hub:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its connections."""
        self._client.close()

    def page(self, repository_id: str) -> str:
        """The address of a model's page, where its terms can be read."""
        return f"{self.endpoint}/{repository_id}"

    def may_enter(self) -> bool:
        """Whether there is a token; looks into the keyring if none was given."""
        return bool(self._token) or self._take_from_keyring()

    def search(self, text: str, most: int, handle: RequestHandle) -> Generator[Step, None, tuple[Found, ...]]:
        """Models for chat whose names have something of a text, most downloaded first.

        Raises:
            HubFailure: The hub did not answer, or not as one.
            Cancelled: `handle` was cancelled.
        """
        asked = {"search": text, "sort": "downloads", "limit": most, "expand": _FIELDS}
        answer = yield from self._json("/api/models", asked, Reference(""), handle)
        try:
            infos = [described(one) for one in answer]
            return tuple(found(info) for info in infos if is_chat_model(info))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise no_hub(self.endpoint, repr(error)) from error

    def repository(self, wanted: Reference, handle: RequestHandle) -> Generator[Step, None, Repository]:
        """A repository as it is now, with the sizes and checksums of all its files.

        Raises:
            HubFailure: There is none, it is not given to everybody, or the hub did not answer, or not as one.
            Cancelled: `handle` was cancelled.
        """
        path = f"/api/models/{wanted.repository}/revision/{quote(wanted.revision or 'main', safe='')}"
        answer = yield from self._json(path, {"blobs": True}, wanted, handle)
        try:
            return repository(described(answer))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise no_hub(self.endpoint, repr(error)) from error

    @contextmanager
    def file(self, wanted: Reference, file: HubFile, start: int, etag: str) -> Iterator[Body]:
        """Open a file for reading from a byte on; where that cannot be, from its beginning.

        Args:
            wanted: The repository, and as its revision a commit.
            file: Which file.
            start: How many bytes are here already.
            etag: Of the answer that they came with.

        Raises:
            HubFailure: It is not given.
            Trouble: The connection broke, or the hub asks for patience; also while the chunks are read.
        """
        address = hf_hub_url(wanted.repository, file.path, revision=wanted.revision, endpoint=self._base)
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        if start and etag:
            headers["If-Range"] = etag  # or all of it comes anew, if its contents are others now
        with self._asking(address, {}, headers, wanted) as response:
            yield Body(_start(response, start, file.nbytes), _strong(response), response.iter_bytes())

    def _json(
        self, path: str, asked: Mapping[str, Any], wanted: Reference, handle: RequestHandle
    ) -> Generator[Step, None, Any]:
        tries = Tries(self.patience)
        while True:
            try:
                with self._asking(self._base + path, asked, {}, wanted) as response:
                    return json.loads(_whole(response))
            except Trouble as trouble:
                yield from tries.wait(trouble, 0, handle)
            except (ValueError, RecursionError) as error:
                raise no_hub(self.endpoint, repr(error)) from error

    @contextmanager
    def _asking(
        self, address: str, asked: Mapping[str, Any], headers: Mapping[str, str], wanted: Reference
    ) -> Iterator[httpx2.Response]:
        """One request; with the token from the keyring once more, if it is refused without."""
        try:
            for _ in range(2):
                request = self._client.build_request(
                    "GET", address, params=asked or None, headers={**self._headers(), **headers}
                )
                response = self._client.send(request, stream=True)
                with _closing(response):
                    if response.status_code in _REFUSED and not self._token and self._take_from_keyring():
                        continue
                    if response.status_code not in (200, 206, 416):
                        raise refused(response, self.endpoint, wanted, bool(self._token))
                    yield response
                    return
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise connection_trouble(error, self.endpoint) from error

    def _headers(self) -> dict[str, str]:
        # huggingface_hub's own headers are not taken: making them can ask its hub what kind of program this is.
        named = {"User-Agent": "loquat"}
        return {**named, "Authorization": "Bearer " + self._token} if self._token else named

    def _take_from_keyring(self) -> bool:
        if not self._asked_keyring and self._is_private_line():
            self._asked_keyring = True
            self._token = self._tokens.kept()
        return bool(self._token)

    def _is_private_line(self) -> bool:
        """Whether nobody on the way can read what is sent: a token goes nowhere else."""
        address = self._address()
        return address.scheme == "https" or address.host in _LOOPBACK

    def _address(self) -> httpx2.URL:
        try:
            address = httpx2.URL(self._base)
        except httpx2.InvalidURL as error:
            raise no_hub(self.endpoint, repr(error)) from error
        if address.scheme not in ("http", "https") or not address.host:
            raise no_hub(self.endpoint, self.endpoint)
        return address

    def _connected(self) -> httpx2.Client:
        limits = httpx2.Timeout(self.patience.read_s, connect=self.patience.connect_s)
        try:
            return httpx2.Client(follow_redirects=True, timeout=limits)
        except (ValueError, ImportError, OSError, httpx2.InvalidURL) as error:
            raise HubFailure(
                "network",
                "The proxy or the certificates that the environment names cannot be used; "
                "look at HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE.",
                repr(error),
            ) from error


@contextmanager
def _closing(response: httpx2.Response) -> Iterator[None]:
    try:
        yield
    finally:
        response.close()


def _whole(response: httpx2.Response) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > _ANSWER_MOST:
            raise ValueError("an answer without end")
    return bytes(body)


def _start(response: httpx2.Response, start: int, nbytes: int) -> int:
    """At which byte an answer begins: where it was asked for, or at the beginning; -1 for what is not of this file."""
    span, length = (response.headers.get(name, "") for name in ("Content-Range", "Content-Length"))
    if response.status_code == 200:
        encoded = "Content-Encoding" in response.headers
        return 0 if encoded or length in ("", str(nbytes)) else -1
    return start if span.removeprefix("bytes ") == f"{start}-{nbytes - 1}/{nbytes}" else -1


def _endpoint(address: str) -> str:
    """Where a hub answers, if that can be one."""
    if not _HTTP.match(address):
        raise HubFailure(
            "network", "HF_ENDPOINT is no http address; let it begin with https://, or remove it from the environment."
        )
    return address


def _strong(response: httpx2.Response) -> str:
    etag: str = response.headers.get("ETag", "")
    return etag if etag.startswith('"') and len(etag) < 300 else ""
