"""Names: of models, as every file system and a command line take them, and of what lies in a file, for a sentence."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Final

from engine.errors import EngineError

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
# Windows gives these names to devices, with any extension.
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_WORD: Final = re.compile("[a-z]{3}")  # by which somebody can tell a model from others
_LONGEST_SHOWN: Final = 60


class NameTaken(EngineError):
    """A model of that name exists."""

    def __init__(self, name: str) -> None:
        super().__init__(f"A model named {name} exists already; choose another name or remove it first.")


def check_name(name: str) -> None:
    """Refuse what cannot be a folder's name everywhere.

    Raises:
        EngineError: It cannot.
    """
    if not _NAME.fullmatch(name) or _DEVICES.fullmatch(name) or name.endswith("."):
        raise EngineError(
            f"{name!r} cannot be a model's name; use up to 64 small letters, digits, dots, dashes and underscores."
        )


def free_name(folder: Path, title: str) -> str:
    """A name made from a title that nothing in `folder` has yet."""
    stem, number = slug(title), 1
    name = stem
    while (folder / name).exists():
        number += 1
        name = f"{stem}-{number}"
    return name


def slug(text: str) -> str:
    """A name that every file system and command line takes, from any text; "model" stands for what cannot be written.

    Of a text in other letters than Latin ones little may be left, a size for example: it comes behind "model".
    """
    spelled = unicodedata.normalize("NFKD", text)
    plain = spelled.encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")[:50].rstrip("-.")
    if any(letter.isalpha() and not letter.isascii() for letter in spelled) and not _WORD.search(name):
        name = f"model-{name}" if name else ""
    return name if name and not _DEVICES.fullmatch(name) else "model"


def shown(text: str) -> str:
    """A name out of somebody's file as a sentence can hold it: short, in one line, without control characters."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in text[: _LONGEST_SHOWN + 1])
    return plain if len(plain) <= _LONGEST_SHOWN else plain[:_LONGEST_SHOWN] + "…"
