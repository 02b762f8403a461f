"""From what a hub answers to this program's own values; nothing in it is taken for granted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from huggingface_hub import CardData
from huggingface_hub.hf_api import ModelInfo, RepoSibling

from engine.hub.values import Found, HubFile, Repository

_LONGEST: Final = 200
_OTHER: Final = "other"
_CHAT: Final = frozenset({"text-generation", "image-text-to-text", "any-to-any", None, ""})
_READ: Final = frozenset({"safetensors", "gguf"})


def described(answer: Mapping[str, Any]) -> ModelInfo:
    """An answer as huggingface_hub reads it.

    Raises:
        TypeError, ValueError, KeyError, AttributeError: It has another form.
    """
    return ModelInfo(**answer)  # type: ignore[no-untyped-call]


def repository(info: ModelInfo) -> Repository:
    """A repository with its files.

    Raises:
        ValueError: The answer lacks what every hub tells.
    """
    if not info.sha or info.siblings is None:
        raise ValueError("no commit, or no files")
    about = _card(info)
    return Repository(
        id=_text(info.id),
        revision=_text(info.sha),
        files=tuple(map(_file, info.siblings)),
        licence=_licence(info),
        licence_link=_link(about.get("license_link")),
        gated=bool(info.gated),
        parameters=_parameters(info),
        architecture=_text(_mapping(info.config).get("model_type")),
        gguf_architecture=_text(_mapping(info.gguf).get("architecture")),
        context=_count(_mapping(info.gguf).get("context_length")),
        base=_base(about),
        downloads=_count(info.downloads),
        likes=_count(info.likes),
        updated=_day(info),
    )


def is_chat_model(info: ModelInfo) -> bool:
    """Whether it writes text, as far as the hub knows, and holds weights that Loquat reads."""
    readable = bool(_READ & set(info.tags or ())) or info.safetensors is not None or bool(info.gguf)
    return info.pipeline_tag in _CHAT and readable


def found(info: ModelInfo) -> Found:
    """One hit of a search."""
    tags = info.tags or []
    return Found(
        id=_text(info.id),
        licence=_licence(info),
        gated=bool(info.gated),
        downloads=_count(info.downloads),
        likes=_count(info.likes),
        updated=_day(info),
        parameters=_parameters(info),
        gguf=bool(info.gguf) or "gguf" in tags,
    )


def _file(sibling: RepoSibling) -> HubFile:
    if sibling.lfs is not None:
        return HubFile(str(sibling.rfilename), int(sibling.lfs.size), str(sibling.lfs.sha256).lower())
    return HubFile(str(sibling.rfilename), int(sibling.size or 0), blob=str(sibling.blob_id or "").lower())


def _card(info: ModelInfo) -> Mapping[str, Any]:
    card = info.card_data
    return _mapping(vars(card) if isinstance(card, CardData) else card)


def _licence(info: ModelInfo) -> str:
    about = _card(info)
    named = _text(about.get("license"))
    if named in ("", _OTHER):
        named = _text(about.get("license_name")) or named
    tagged = (tag.partition(":")[2] for tag in info.tags or () if isinstance(tag, str) and tag.startswith("license:"))
    return named or _text(next(tagged, ""))


def _parameters(info: ModelInfo) -> int:
    return _count(getattr(info.safetensors, "total", 0)) or _count(_mapping(info.gguf).get("total"))


def _base(about: Mapping[str, Any]) -> str:
    base = about.get("base_model")
    return _text(base[0] if isinstance(base, list) and base else base)


def _day(info: ModelInfo) -> str:
    return info.last_modified.date().isoformat() if info.last_modified else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _link(value: object) -> str:
    """An address that a browser may be sent to; many pages only name a file of theirs."""
    link = _text(value)
    return link if link.startswith(("https://", "http://")) else ""


def _text(value: object) -> str:
    """One line of printable text; a page can hold anything."""
    return "".join(filter(str.isprintable, value))[:_LONGEST].strip() if isinstance(value, str) else ""
