"""The tokenizer, chat template and end tokens of a Hugging Face folder, brought into one form."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from tokenizers import AddedToken, Tokenizer

from engine.errors import BadModelFile, UnsupportedModel
from engine.models.end_tokens import end_token_ids
from engine.models.model_folder import GENERATION, TEMPLATE, TOKENIZER, TOKENIZER_CONFIG, read_object, write_json
from engine.models.sentencepiece_model import PROBES, convert_sentencepiece

SENTENCEPIECE: Final = "tokenizer.model"
_PANIC: Final = "PanicException"  # of pyo3, which is in no module


def import_tokenizer(source: Path, folder: Path, config: Mapping[str, Any]) -> None:
    """Write tokenizer.json, tokenizer_config.json, generation_config.json and the chat template into `folder`.

    Raises:
        BadModelFile: There is no tokenizer, it is damaged, or it has more tokens than the model.
        UnsupportedModel: A tokenizer that needs code of its own.
    """
    settings = _optional(source, TOKENIZER_CONFIG)
    # Code of its own is left alone; a tokenizer.json says all by itself.
    if settings.pop("auto_map", None) is not None and not (source / TOKENIZER).is_file():
        raise UnsupportedModel(f"The tokenizer of {source.name} needs code of its own, which Loquat does not run.")
    template = _template(source, settings)
    tokenizer = _fitting(source, _tokenizer(source, settings, str(config["model_type"])), config, template)
    tokenizer.save(str(folder / TOKENIZER), pretty=False)
    if template:
        (folder / TEMPLATE).write_text(template, encoding="utf-8", newline="")
    settings.pop("chat_template", None)
    write_json(folder / TOKENIZER_CONFIG, {"tokenizer_class": "PreTrainedTokenizerFast"} | settings)
    write_json(folder / GENERATION, _generation(source, tokenizer, config))


def _optional(source: Path, name: str) -> dict[str, Any]:
    return read_object(source, name) if (source / name).is_file() else {}


def _tokenizer(source: Path, settings: Mapping[str, Any], model_type: str) -> Tokenizer:
    if (source / TOKENIZER).is_file():
        return _ready_made(source / TOKENIZER)
    if not (source / SENTENCEPIECE).is_file():
        raise BadModelFile(f"The folder {source.name} holds no tokenizer ({TOKENIZER} or {SENTENCEPIECE}).")
    tokenizer = convert_sentencepiece(source / SENTENCEPIECE, model_type, settings.get("add_bos_token", True) is True)
    _add_later_tokens(source, tokenizer, settings)
    return tokenizer


def _ready_made(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
        _try_out(tokenizer)
    except BaseException as error:  # the library raises plain Exception for a damaged file, and what is none in a panic
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        raise BadModelFile(f"The tokenizer {path} cannot be read; get it again.", str(error)) from error
    return tokenizer


def _try_out(tokenizer: Tokenizer) -> None:
    """Whatever it cannot do is found now, and not in the middle of an answer."""
    for text in PROBES:
        ids = tokenizer.encode(text).ids
        for part in (ids, *([index] for index in ids)):
            tokenizer.decode(part, skip_special_tokens=False)


def _add_later_tokens(source: Path, tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
    """Tokens that a fine-tune added behind the SentencePiece model's own."""
    added: dict[int, AddedToken] = {}
    for text, index in _optional(source, "added_tokens.json").items():
        added[_token_id(source, index)] = AddedToken(str(text), normalized=False)
    known = settings.get("added_tokens_decoder")
    for index, about in known.items() if isinstance(known, dict) else ():
        if isinstance(about, dict):
            text, special = str(about.get("content", "")), about.get("special") is True
            added[_token_id(source, index)] = AddedToken(text, normalized=False, special=special)
    for index, token in sorted(added.items()):
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
        if tokenizer.token_to_id(token.content) != index:
            raise BadModelFile(f"The added tokens of {source.name} contradict its tokenizer; get it again.", str(index))


def _token_id(source: Path, index: object) -> int:
    try:
        return int(str(index))
    except ValueError as error:
        raise BadModelFile(f"The added tokens of {source.name} cannot be read; get it again.") from error


def _fitting(source: Path, tokenizer: Tokenizer, config: Mapping[str, Any], template: str) -> Tokenizer:
    """The tokenizer, of which each token has a row in the embedding.

    Added tokens without one are left out if the template does not write them: the small models of Gemma 3 came with the
    tokenizer of the large ones, in which there is one more, for pictures.

    Raises:
        BadModelFile: Others have none, or there are no tokens.
    """
    inner = config.get("text_config")
    size = config.get("vocab_size", inner.get("vocab_size") if isinstance(inner, dict) else None)
    if not isinstance(size, int):
        return tokenizer
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    beyond = [text for text, index in vocabulary.items() if index >= size]
    added = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    if not vocabulary or not added.issuperset(beyond) or any(text in template for text in beyond):
        raise BadModelFile(
            f"The tokenizer and the weights in {source.name} do not belong together; get the folder again.",
            f"largest token id {max(vocabulary.values(), default=-1)}, {size} rows",
        )
    return _without(tokenizer, beyond) if beyond else tokenizer


def _without(tokenizer: Tokenizer, texts: Collection[str]) -> Tokenizer:
    """A tokenizer without some of its added tokens; the library can only add to one."""
    said = json.loads(tokenizer.to_str())
    said["added_tokens"] = [token for token in said["added_tokens"] if token["content"] not in texts]
    words = said["model"]["vocab"]
    if isinstance(words, dict):
        said["model"]["vocab"] = {text: index for text, index in words.items() if text not in texts}
    return Tokenizer.from_str(json.dumps(said))


def _template(source: Path, settings: Mapping[str, Any]) -> str:
    """The chat template from wherever the folder keeps it; empty for a base model."""
    path = source / TEMPLATE
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadModelFile(
                f"The file {TEMPLATE} in {source.name} cannot be read; get it again.", str(error)
            ) from error
    value = _optional(source, "chat_template.json").get("chat_template", settings.get("chat_template"))
    if isinstance(value, list):  # several, by name
        named = {item.get("name"): item.get("template") for item in value if isinstance(item, dict)}
        value = named.get("default")
    return value if isinstance(value, str) else ""


def _generation(source: Path, tokenizer: Tokenizer, config: Mapping[str, Any]) -> dict[str, Any]:
    given = _optional(source, GENERATION)
    special = {added.content: index for index, added in tokenizer.get_added_tokens_decoder().items() if added.special}
    named = [*_ids(given.get("eos_token_id")), *_ids(config.get("eos_token_id"))]
    return given | {"eos_token_id": end_token_ids(named, special)}


def _ids(value: object) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return [index for index in values if isinstance(index, int)]
