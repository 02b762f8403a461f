"""Which version of Loquat is the newest: one small signed file, read over HTTPS. Nothing is downloaded but that file.

    {"signed": TEXT, "signature": BASE64}

where TEXT is {"version": "0.2.0", "date": "2026-12-01", "page": "https://...", "files": {NAME: SHA256}} as a string.

The signature is Ed25519 (RFC 8032) over the UTF-8 bytes of "signed", a string, so that no two programs can differ about
what was signed. With it nobody who can change what the address answers, a mirror or a proxy say, can send people to a
page of their own; a checksum beside the file would change with it. `packaging/release_file.py` writes and signs it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import ssl
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from engine.errors import EngineError

MOST_BYTES: Final = 64 * 1024
PATIENCE_S: Final = 20.0
_SILENCE_S: Final = 10.0  # between two pieces of the answer
_PIECE: Final = 4096
_VERSION: Final = re.compile(r"\d{1,6}(?:\.\d{1,6}){1,3}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class NoRelease(EngineError):
    """The file could not be read, or is not to be believed."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a build reads which version is the newest.

    Attributes:
        address: Of the file, https.
        public_key: 32 bytes, Ed25519.
    """

    address: str
    public_key: bytes

    @property
    def host(self) -> str:
        """Who is asked."""
        return urlsplit(self.address).hostname or ""


@dataclass(frozen=True, slots=True)
class Release:
    """A version that was released.

    Attributes:
        version: Numbers with points between.
        date: ISO 8601.
        page: Where people read about it and get it, https.
        files: The SHA-256 of each of its files, by name.
    """

    version: str
    date: str
    page: str
    files: Mapping[str, str]


def read_source(file: Path) -> Source | None:
    """Where this build reads it; None where nobody said: a checkout, or a build of somebody's own."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        source = Source(str(value["address"]), base64.b64decode(value["public_key"], validate=True))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return source if _is_https(source.address) and len(source.public_key) == 32 else None


def newest(source: Source, context: ssl.SSLContext | None = None, patience_s: float = PATIENCE_S) -> Release:
    """Ask which version is the newest.

    Args:
        source: Where.
        context: Which certificates are trusted; None trusts those that the system trusts.
        patience_s: The longest that it may take in all.

    Raises:
        NoRelease: There is no network, or the answer is not to be believed.
    """
    try:
        data = _fetch(source.address, context or _trusted(), time.monotonic() + patience_s)
    except (OSError, HTTPException, ValueError) as error:
        raise NoRelease("The newest version could not be asked for.", repr(error)) from error
    return read_release(data, source.public_key)


def read_release(data: bytes, public_key: bytes) -> Release:
    """The release that a file tells of, if it is signed.

    Raises:
        NoRelease: It is not signed with this key, or is no such file.
    """
    try:
        outer = json.loads(data.decode("utf-8"))
        signed, signature = outer["signed"], base64.b64decode(outer["signature"], validate=True)
        _verify(signed.encode("utf-8"), signature, public_key)
        return _release(json.loads(signed))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        raise NoRelease("The file that tells of the newest version is no such file.", repr(error)) from error


def is_newer(version: str, than: str) -> bool:
    """Whether a version comes after another; one that is no version comes after none."""
    return bool(_VERSION.fullmatch(version)) and _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, without the zeros at their end."""
    match = _VERSION.match(version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _release(value: Mapping[str, Any]) -> Release:
    release = Release(str(value["version"]), str(value["date"]), str(value["page"]), dict(value.get("files", {})))
    if not (_VERSION.fullmatch(release.version) and _DATE.fullmatch(release.date) and _is_https(release.page)):
        raise ValueError(f"unusable: {str(release)[:200]}")
    return release


def _verify(signed: bytes, signature: bytes, public_key: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except InvalidSignature as error:
        raise ValueError("the signature is not that of the key") from error


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows no way out of HTTPS."""

    def redirect_request(  # noqa: PLR0917 - as urllib calls it
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """The request to make instead; refused where it would not be HTTPS."""
        if not _is_https(newurl):
            raise ValueError("redirected out of HTTPS")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(address: str, context: ssl.SSLContext, deadline: float) -> bytes:
    if not _is_https(address):
        raise ValueError("no HTTPS")
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _OnlyHttps)
    request = urllib.request.Request(address, headers={"User-Agent": "Loquat", "Accept": "application/json"})  # noqa: S310
    with opener.open(request, timeout=min(_SILENCE_S, max(0.1, deadline - time.monotonic()))) as answer:
        return _read(answer, deadline)


def _read(answer: HTTPResponse, deadline: float) -> bytes:
    """All of an answer that is small and comes in time.

    Raises:
        ValueError: It is not.
        TimeoutError: It does not.
    """
    data = bytearray()
    while piece := answer.read1(_PIECE):
        data += piece
        if len(data) > MOST_BYTES:
            raise ValueError("too large")
        if time.monotonic() > deadline:
            raise TimeoutError("too slow")
    return bytes(data)


def _trusted() -> ssl.SSLContext:
    """The system's certificates; where a program that brings its own OpenSSL finds none, those that it brings."""
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _is_https(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)
