"""A model folder's tokenizer: text <-> ids, special tokens, and which ids end a turn.

Only the `tokenizers` library is used, so that no `import transformers` stands before the first token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tokenizers

from engine.errors import BadModelFile
from engine.models.end_tokens import KNOWN

if TYPE_CHECKING:
    from engine.grammar import Vocabulary

_LONG: Final = 16_384  # characters, which take about 20 ms


class Tokenizer:
    """The tokenizer of one model folder.

    Attributes:
        size: Number of tokens, added ones among them.
        special: Names such as "bos_token" -> their text, for chat templates.
        end_ids: Ids that end a reply.
        special_ids: Ids that are no text.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, special: Mapping[str, str], end_ids: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self.size = tokenizer.get_vocab_size(with_added_tokens=True)
        self.special = dict(special)
        self.end_ids = end_ids
        self._vocabulary: Vocabulary | None = None
        special_tokens = {
            index: token.content for index, token in tokenizer.get_added_tokens_decoder().items() if token.special
        }
        self.special_ids = frozenset(special_tokens)
        self._special_texts = tuple(special_tokens.values())

    @property
    def largest_id(self) -> int:
        """Of all tokens, -1 if there is none; larger than their number where ids are left out."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`; special tokens written in it become their ids, none is added."""
        return self._ids(text, add_special_tokens=False)

    def encode_literally(self, text: str) -> list[int]:
        """Ids of `text` with special tokens written in it read as ordinary text."""
        self._tokenizer.encode_special_tokens = True
        try:
            return self.encode(text)
        finally:
            self._tokenizer.encode_special_tokens = False

    def encode_raw(self, text: str) -> list[int]:
        """Ids of a text that no chat template was applied to, with the tokens that the model wants in front of it."""
        return self._ids(text, add_special_tokens=True)

    def _ids(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """The same ids either way: `encode` holds the interpreter's lock all the while, a batch of one does not."""
        if len(text) < _LONG:
            return list(self._tokenizer.encode(text, add_special_tokens=add_special_tokens).ids)
        return list(self._tokenizer.encode_batch_fast([text], add_special_tokens=add_special_tokens)[0].ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`, special tokens left out."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def decode_all(self, ids: Sequence[int]) -> str:
        """Text of `ids`, special tokens written out: some models mark a call of a tool with one."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False))

    def vocabulary(self, size: int) -> Vocabulary:
        """The tokens as bytes and for grammars, for logits of this length; made when it is first asked for."""
        if self._vocabulary is None or self._vocabulary.size != size:
            from engine.grammar import Vocabulary  # noqa: PLC0415 - few replies need it

            self._vocabulary = Vocabulary(self._tokenizer.to_str(), size, self.end_ids)
        return self._vocabulary

    def names_special(self, text: str) -> bool:
        """Whether a special token is written in `text`."""
        return any(token in text for token in self._special_texts)


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder.

    Raises:
        BadModelFile: tokenizer.json is missing or damaged.
    """
    try:
        inner = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises plain Exception
        raise BadModelFile(
            f"The model {folder.name} has no readable tokenizer; remove it and add it again.", str(error)
        ) from error
    inner.no_padding()
    inner.no_truncation()
    settings = read_json(folder / "tokenizer_config.json")
    special = {name: text for name, value in settings.items() if (text := _token_text(name, value))}
    return Tokenizer(inner, special, _end_ids(folder, inner, special))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, {} when there is no such file.

    Raises:
        BadModelFile: The file holds something else.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BadModelFile(f"{path.name} cannot be read; remove the model and add it again.", str(error)) from error
    if not isinstance(value, dict):
        raise BadModelFile(f"{path.name} is damaged; remove the model and add it again.")
    return value


def _token_text(name: str, value: object) -> str | None:
    """The text of a special token, which is written as a string or as an object with "content"."""
    if not name.endswith("_token"):
        return None
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _end_ids(folder: Path, inner: tokenizers.Tokenizer, special: Mapping[str, str]) -> frozenset[int]:
    ids: set[int] = set()
    for name in ("generation_config.json", "config.json"):
        listed = read_json(folder / name).get("eos_token_id")
        named = listed if isinstance(listed, list) else [listed]
        ids.update(each for each in named if isinstance(each, int) and each >= 0)  # -1 says that there is none
    added = {token.content for token in inner.get_added_tokens_decoder().values()}
    texts = [special.get("eos_token", ""), *(text for text in KNOWN if text in added)]
    ids.update(found for text in texts if (found := inner.token_to_id(text)) is not None)
    return frozenset(ids)
