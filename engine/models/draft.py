"""Which model may draft for which: both must have the same tokens. Torch-free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import tokenizers

from engine.errors import BadModelFile, BadRequest
from engine.models.choices import read_choices, write_choices
from engine.models.files import os_errors
from engine.models.model_folder import CONFIG, TOKENIZER, read_object
from engine.models.registry import ModelEntry


def check_pair(entry: ModelEntry, draft: ModelEntry) -> None:
    """Refuse a draft model that cannot serve a model.

    Raises:
        BadRequest: It is the same one, or has other tokens.
        BadModelFile: A tokenizer or a config.json is missing or damaged.
    """
    if entry.name == draft.name:
        raise BadRequest("A model cannot draft for itself; choose a smaller one of the same family.")
    same = _same_tokens(entry.folder / TOKENIZER, draft.folder / TOKENIZER)
    if not same or _rows(draft.folder) > _rows(entry.folder):  # a guess must be a row of the embedding
        raise BadRequest(
            f"{draft.label} cannot draft for {entry.label}, as their tokens differ; "
            "choose a smaller one of the same family."
        )


def set_draft(entry: ModelEntry, draft: ModelEntry | None) -> None:
    """Choose the draft model that is loaded with a model from now on; None for no one.

    Raises:
        BadRequest, BadModelFile: See `check_pair`.
        EngineError: The disk refused.
    """
    if draft is not None:
        check_pair(entry, draft)
    with os_errors("choose the draft model", entry.folder):
        write_choices(entry.folder, replace(read_choices(entry.folder), draft=draft.name if draft else ""))


def _same_tokens(a: Path, b: Path) -> bool:
    """Whether each token has the same id in both; most families ship the same file with every size."""
    try:
        return a.read_bytes() == b.read_bytes() or _vocabulary(a) == _vocabulary(b)
    except OSError as error:
        sentence = f"The tokenizer of {a.parent.name} or {b.parent.name} cannot be read; get the models again."
        raise BadModelFile(sentence, repr(error)) from error


def _rows(folder: Path) -> int:
    """Tokens that the embedding of a model has room for."""
    outer = read_object(folder, CONFIG)
    inner = outer.get("text_config")
    size = (inner if isinstance(inner, dict) else outer).get("vocab_size")
    return size if isinstance(size, int) else 0


def _vocabulary(path: Path) -> dict[str, int]:
    """Text to id, without what only fills a GGUF file's list up: larger models of a family are filled up further."""
    try:
        found: dict[str, int] = tokenizers.Tokenizer.from_file(str(path)).get_vocab(with_added_tokens=True)
    except Exception as error:  # what the library raises is of no narrower type
        sentence = f"The tokenizer of {path.parent.name} is damaged; get the model again."
        raise BadModelFile(sentence, str(error)) from error
    return {text: index for text, index in found.items() if text != f"[PAD{index}]"}
