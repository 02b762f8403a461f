"""Reads what a person types to name a model on a hub: "owner/name", "owner/name:Q4_K_M", "owner/name:FILE.gguf"."""

from __future__ import annotations

import re
from typing import Final

from engine.hub.values import HubFailure, Reference

_ADDRESS: Final = re.compile(r"(?:hf:|https?://[^/]+/)(?:models/)?(?P<rest>[^/:]+/[^/:?#]+.*)")
_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}")
_WISH: Final = re.compile(r"[\w./ +-]{1,200}")
_REVISION: Final = re.compile(r"[\w./-]{1,200}")


def is_reference(text: str) -> bool:
    """Whether it can only mean a repository, never the name of a model."""
    return "/" in text


def reference(text: str, revision: str = "") -> Reference:
    """Read a repository id, with the address of its page allowed as well.

    Args:
        text: As it was typed.
        revision: A branch, tag or commit.

    Raises:
        HubFailure: It names no repository.
    """
    address = _ADDRESS.fullmatch(text.strip())
    plain = address["rest"].split("/tree/")[0].split("/blob/")[0].rstrip("/") if address else text.strip()
    repository, _, wish = plain.partition(":")
    if not _ID.fullmatch(repository) or (wish and not _WISH.fullmatch(wish)) or ".." in plain:
        raise HubFailure(
            "not_found", f"{text!r} names no model on the hub; write it as OWNER/NAME, or OWNER/NAME:FILE."
        )
    if revision and not _REVISION.fullmatch(revision):
        raise HubFailure("not_found", f"{revision!r} is no revision; give a branch, a tag or a commit.")
    return Reference(repository, wish, revision)
