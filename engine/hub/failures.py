"""What a hub's refusals and a broken connection mean, in sentences that say what to do."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import httpx2
from huggingface_hub.utils._http import parse_ratelimit_headers

from engine.hub.address import told
from engine.hub.patience import Trouble
from engine.hub.values import HubFailure, Reference

ADD_TOKEN: Final = "loquat models token"  # noqa: S105 - a command
_RETRIED: Final = frozenset({408, 425})


def refused(response: httpx2.Response, endpoint: str, wanted: Reference, with_token: bool) -> HubFailure | Trouble:
    """Why a hub does not give what was asked for; `Trouble` where it may later."""
    status, address = response.status_code, told(str(response.request.url.copy_with(query=None)))
    detail = f"HTTP-{status} | {address} | {response.headers.get('X-Error-Message', '')}"
    if status == 429:
        return _too_many(response, endpoint, detail)
    if status >= 500 or status in _RETRIED:
        return Trouble(_ill(endpoint, status, detail), _pause(response))
    if status in (401, 403):
        return _forbidden(response, endpoint, wanted, with_token, detail)
    if status in (404, 410):
        return _missing(endpoint, wanted, response.headers.get("X-Error-Code", ""), detail)
    where, what = host(endpoint), wanted.repository or "an answer"
    sentence = f"The hub at {where} refuses to give {what} (HTTP {status}); try again later, or get another model."
    return HubFailure("other", sentence, detail)


def _forbidden(
    response: httpx2.Response, endpoint: str, wanted: Reference, with_token: bool, detail: str
) -> HubFailure:
    """Why a hub does not give it to this person."""
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if code == "GatedRepo":
        return gated(endpoint, wanted, with_token, detail)
    settings = f"{endpoint}/settings/tokens"
    if status == 403 and with_token:
        return HubFailure(
            "token",
            f"Your access token may not read {wanted.repository}; allow it to read gated and private models at "
            f"{settings}, or add another one with: {ADD_TOKEN}",
            detail,
        )
    if with_token and code != "RepoNotFound":
        return HubFailure(
            "token",
            f"The hub does not accept your access token; make a new one at {settings} and add it with: {ADD_TOKEN}",
            detail,
        )
    return _missing(endpoint, wanted, code, detail)


def gated(endpoint: str, wanted: Reference, with_token: bool, detail: str = "") -> HubFailure:
    """The model's owner wants its terms accepted first."""
    page = f"{endpoint}/{wanted.repository}"
    if with_token:
        return HubFailure(
            "gated",
            f"Your account may not download {wanted.repository} yet; accept its terms at {page}, wait until they are "
            "confirmed if its owner looks at each request, and get it again.",
            detail,
        )
    return HubFailure(
        "gated",
        f"{wanted.repository} is only for accounts that accepted its terms; accept them at {page}, make an access "
        f"token at {endpoint}/settings/tokens, add it with `{ADD_TOKEN}`, and get the model again.",
        detail,
    )


def connection_trouble(error: Exception, endpoint: str) -> Trouble | HubFailure:
    """What a failed connection means."""
    where, text = host(endpoint), repr(error)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.TooManyRedirects):
        return no_hub(endpoint, text)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return HubFailure(
            "network",
            f"The certificate of {where} cannot be verified; check this computer's clock, and if your network has a "
            "certificate of its own, name its file in SSL_CERT_FILE.",
            text,
        )
    reached = not isinstance(error, httpx2.ProxyError | httpx2.ConnectError | httpx2.ConnectTimeout)
    if isinstance(error, httpx2.ProxyError):
        sentence = f"The proxy does not lead to {where}; check HTTPS_PROXY and ALL_PROXY, and get the model again."
    elif not reached:
        sentence = (
            f"There is no connection to {where}; check the network, and HTTPS_PROXY if it needs a proxy, "
            "or name a mirror in HF_ENDPOINT."
        )
    elif isinstance(error, httpx2.TimeoutException):
        sentence = f"The hub at {where} does not answer any more; get the model again later, it goes on."
    else:
        sentence = f"The connection to {where} broke off; get the model again, it goes on where it stopped."
    return Trouble(HubFailure("network", sentence, text), reached=reached)


def no_hub(endpoint: str, detail: str) -> HubFailure:
    """Something answers, or is named, that is no hub: a login page of a network, say."""
    return HubFailure(
        "network",
        f"{host(endpoint)} does not answer as a model hub does; check HF_ENDPOINT, and whether your network wants a "
        "login in the browser first.",
        detail,
    )


def host(endpoint: str) -> str:
    """The part of an address that people know it by."""
    try:
        return urlsplit(endpoint).netloc.rpartition("@")[2] or endpoint
    except ValueError:
        return endpoint


def _missing(endpoint: str, wanted: Reference, code: str, detail: str) -> HubFailure:
    forget = f"drop what is here of it with `loquat models forget {wanted.repository}`, and get it again."
    if code == "RevisionNotFound":
        sentence = f"{wanted.repository} has no revision {wanted.revision[:40]} on the hub, or no longer; {forget}"
        return HubFailure("not_found", sentence, detail)
    if code == "EntryNotFound":
        return HubFailure("not_found", f"A file of {wanted.repository} is not on the hub any more; {forget}", detail)
    return HubFailure(
        "not_found",
        f"There is no model {wanted.repository} at {host(endpoint)}, or it is private; check its name, "
        f"or add an access token with: {ADD_TOKEN}",
        detail,
    )


def _too_many(response: httpx2.Response, endpoint: str, detail: str) -> Trouble:
    pause = _pause(response)
    when = f"in {round(pause / 60) or 1} min" if pause else "in some minutes"
    sentence = f"The hub at {host(endpoint)} is asked too often from here; get the model again {when}, it goes on."
    return Trouble(HubFailure("network", sentence, detail), pause)


def _ill(endpoint: str, status: int, detail: str) -> HubFailure:
    sentence = f"The hub at {host(endpoint)} is out of order (HTTP {status}); get the model again later, it goes on."
    return HubFailure("network", sentence, detail)


def _pause(response: httpx2.Response) -> float | None:
    """`Retry-After` in seconds, or what the hub's own header says; a date is left to the usual waits."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isdigit() and len(text) < 9:
        return float(text)
    limit = parse_ratelimit_headers(response.headers)
    return float(limit.reset_in_seconds) if limit is not None and limit.remaining == 0 else None
