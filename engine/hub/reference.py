"""Reads what a person types to name a model on a hub: "owner/name", "owner/name:Q4_K_M", "owner/name:FILE.gguf"."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from engine.hub.values import HubFailure, Reference

_ADDRESS: Final = re.compile(r"(?:hf:|https?://[^/]+/)(?:models/)?(?P<rest>[^/:?#]+/[^?#]+)(?:[?#].*)?")
_PLACE: Final = re.compile(
    r"(?P<id>[^/:]+/[^/:]+)/(?:tree|blob|resolve)/(?P<revision>[^/]+)(?:/(?P<file>.*\.gguf)|/.*)?", re.IGNORECASE
)
_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}")
_WISH: Final = re.compile(r"[\w./ +-]{1,200}")
_REVISION: Final = re.compile(r"[\w./-]{1,200}")


def is_reference(text: str) -> bool:
    """Whether it can only mean a repository, never the name of a model."""
    return "/" in text


def reference(text: str, revision: str = "") -> Reference:
    """Read a repository id, with the address of its page, or of one of its files, allowed as well.

    Args:
        text: As it was typed.
        revision: A branch, tag or commit.

    Raises:
        HubFailure: It names no repository.
    """
    plain, shown = _plain(text.strip())
    revision = revision or ("" if shown == "main" else shown)
    repository, _, wish = plain.partition(":")
    if not _ID.fullmatch(repository) or (wish and not _WISH.fullmatch(wish)) or ".." in plain:
        raise HubFailure(
            "not_found", f"{text!r} names no model on the hub; write it as OWNER/NAME, or OWNER/NAME:FILE."
        )
    if revision and not _REVISION.fullmatch(revision):
        raise HubFailure("not_found", f"{revision!r} is no revision; give a branch, a tag or a commit.")
    return Reference(repository, wish, revision)


def _plain(text: str) -> tuple[str, str]:
    """What was typed without the address around it, and the revision that the address names."""
    address = _ADDRESS.fullmatch(text)
    if address is None:
        return text, ""
    place = _PLACE.fullmatch(address["rest"])
    if place is None:
        return address["rest"].rstrip("/"), ""
    file = f":{unquote(place['file'])}" if place["file"] else ""
    return place["id"] + file, unquote(place["revision"])
