"""Where conversations' saved caches lie, and how they are deleted for good. Torch-free: no model need be loaded."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_log = logging.getLogger(__name__)

FOLDER: Final = "kv"  # below the cache folder: a folder for each model and cache format
STEM_LENGTH: Final = 32  # characters of a conversation's digest that name its file


def file_name(conversation: str) -> str:
    """The name of a conversation's file, in the folder of any model."""
    return f"{hashlib.sha256(conversation.encode('utf-8', 'surrogatepass')).hexdigest()[:STEM_LENGTH]}.safetensors"


def files_of(root: Path, conversation: str) -> Iterator[Path]:
    """A conversation's files below the folder for all models' caches, whichever models they are of."""
    return root.glob(f"*/{file_name(conversation)}")


def forget_everywhere(root: Path, conversation: str) -> None:
    """Remove a conversation's files, whichever models they are of."""
    for path in files_of(root, conversation):
        remove(path)


def remove(path: Path) -> None:
    """Delete a file of the folder, if it is there; what cannot be deleted is said in the log."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("A saved cache could not be removed: %s", error)
