"""Which of a repository's files make a model: weights as safetensors or one GGUF variant, tokenizer, configuration.

Pickled weights, code and everything else is never fetched. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from engine.hub.values import HubFailure, HubFile, Repository
from engine.models.safetensors_file import PICKLES

Kind = Literal["gguf", "safetensors", "adapter"]

ADAPTER_CONFIG: Final = "adapter_config.json"
_CONFIG: Final = "config.json"
_INDEX: Final = "model.safetensors.index.json"
_ADAPTER: Final = "adapter_model.safetensors"
# Configuration and tokenizer; what quantised a model says how.
_SMALL: Final = frozenset(
    {
        _CONFIG,
        "generation_config.json",
        "quantize_config.json",
        "quant_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "tokenizer.model",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "chat_template.jinja",
        "chat_template.json",
    }
)
_TOKENIZERS: Final = frozenset({"tokenizer.json", "tokenizer.model", "vocab.json"})
_SMALL_MOST: Final = 200_000_000  # bytes; no configuration or tokenizer is nearly as long
_SHARD: Final = re.compile(r"model-(?P<number>\d{5})-of-(?P<count>\d{5})\.safetensors")
_PART: Final = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_QUANTISATION: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:I?Q[1-8](?:_[A-Z0-9]+)*|TQ[12]_0|MXFP4(?:_MOE)?|B?F16|FP16|F(?:P)?32)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
# What runs well in 4 bits comes first, then what is nearest to it; a whole model in floats comes last.
_PREFERRED: Final = (
    *("Q4_K_M", "Q4_K_S", "Q4_1", "Q4_0", "IQ4_NL", "Q5_K_M", "Q5_K_S", "Q5_1", "Q5_0", "Q6_K", "Q8_0"),
    *("Q3_K_L", "Q3_K_M", "Q3_K_S", "Q2_K", "BF16", "F16", "FP16", "F32", "FP32"),
)
# GGUF files that lie beside a model: what sees pictures for it, and how it was quantised.
_BESIDE: Final = ("mmproj", "imatrix")
_NAME: Final = re.compile(r"[\w][\w. +=,@()-]{0,199}")


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to fetch.

    Attributes:
        kind: What they make.
        files: Small ones first, so that a refusal comes before gigabytes.
        variant: The quantisation of a GGUF file, e.g. "Q4_K_M"; empty for others.
    """

    kind: Kind
    files: tuple[HubFile, ...]
    variant: str = ""

    @property
    def nbytes(self) -> int:
        """Of all files."""
        return sum(file.nbytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Variant:
    """One GGUF model of a repository, in one file or several parts.

    Attributes:
        name: Its quantisation, or its file's name where that tells none.
        stem: Its file's name without suffix and number of the part.
        files: Its parts in order.
    """

    name: str
    stem: str
    files: tuple[HubFile, ...]

    @property
    def nbytes(self) -> int:
        """Of all parts."""
        return sum(file.nbytes for file in self.files)


def choose(repository: Repository, wish: str = "") -> Selection:
    """The files that make the model that is wished for.

    Args:
        repository: With all its files.
        wish: A GGUF file, or a quantisation; empty takes safetensors if there are any, else what suits best.

    Raises:
        HubFailure: There is no such file, or nothing that Loquat could read.
    """
    found = variants(repository)
    if wish:
        return _gguf(repository, _wished(repository, found, wish))
    top = {file.path: file for file in repository.files if "/" not in file.path}
    if ADAPTER_CONFIG in top and _CONFIG not in top:
        return _adapter(repository, top.values())
    weights = _safetensors(repository, top.values())
    if weights and _CONFIG in top:
        return _folder(repository, top.values(), weights)
    if found:
        return _gguf(repository, min(found, key=_rank))
    raise _nothing(repository)


def variants(repository: Repository) -> tuple[Variant, ...]:
    """The GGUF models of a repository, smallest first; one of which a part is missing is left out."""
    groups: dict[str, list[HubFile]] = {}
    for file in repository.files:
        if file.path.lower().endswith(".gguf") and not any(word in file.name.lower() for word in _BESIDE):
            groups.setdefault(_stem(file.path), []).append(file)
    whole = (_variant(stem, files) for stem, files in groups.items() if _complete(files))
    return tuple(sorted(whole, key=lambda variant: (variant.nbytes, variant.stem)))


def has_weights(files: Iterable[HubFile]) -> bool:
    """Whether there is anything among them that could be a model's weights."""
    return any(file.name.lower().endswith((".safetensors", ".gguf")) for file in files)


def _variant(stem: str, files: Sequence[HubFile]) -> Variant:
    name = stem.rpartition("/")[2]
    labels = _QUANTISATION.findall(name) or _QUANTISATION.findall(stem)
    return Variant(labels[-1].upper() if labels else name, name, tuple(sorted(files, key=lambda file: file.path)))


def _stem(path: str) -> str:
    part = _PART.fullmatch(path)
    return part["stem"] if part else path[: -len(".gguf")]


def _complete(files: Sequence[HubFile]) -> bool:
    parts = [_PART.fullmatch(file.path) for file in files]
    if len(parts) == 1 and parts[0] is None:
        return True
    numbers = sorted(int(part["number"]) for part in parts if part)
    counts = {int(part["count"]) for part in parts if part}
    return len(counts) == 1 and numbers == list(range(1, counts.pop() + 1))


def _rank(variant: Variant) -> tuple[int, int]:
    place = _PREFERRED.index(variant.name) if variant.name in _PREFERRED else len(_PREFERRED)
    return place, variant.nbytes


def _wished(repository: Repository, found: Sequence[Variant], wish: str) -> Variant:
    wanted = wish.lower()
    for variant in found:
        names = {file.path.lower() for file in variant.files} | {file.name.lower() for file in variant.files}
        if wanted in names | {variant.stem.lower()}:
            return variant
    for variant in found:
        if wanted == variant.name.lower():
            return variant
    if PurePosixPath(wanted).suffix in PICKLES:
        raise _pickled(wish)
    if not found:
        raise HubFailure("not_found", f"{repository.id} holds no GGUF files; get it without :{wish}.")
    there = ", ".join(dict.fromkeys(variant.name for variant in found))
    raise HubFailure("not_found", f"{repository.id} holds no {wish}; there are: {there}.")


def _gguf(repository: Repository, variant: Variant) -> Selection:
    return Selection("gguf", _checked(repository, variant.files), variant.name)


def _folder(repository: Repository, top: Iterable[HubFile], weights: Sequence[HubFile]) -> Selection:
    small = [file for file in top if file.path in _SMALL and file.nbytes <= _SMALL_MOST]
    if not _TOKENIZERS & {file.path for file in small}:
        raise HubFailure("unsupported", f"{repository.id} holds no tokenizer that Loquat can read; get another model.")
    return Selection("safetensors", _checked(repository, (*_by_size(small), *weights)))


def _adapter(repository: Repository, top: Iterable[HubFile]) -> Selection:
    files = [file for file in top if file.path in (ADAPTER_CONFIG, _ADAPTER)]
    if len(files) != 2:
        raise HubFailure(
            "unsupported",
            f"{repository.id} is an adapter without {_ADAPTER}, the only form that Loquat reads.",
        )
    return Selection("adapter", _checked(repository, _by_size(files)))


def _safetensors(repository: Repository, top: Iterable[HubFile]) -> list[HubFile]:
    """The index and all shards, or the one file; empty where there is neither."""
    by_name = {file.path: file for file in top}
    shards = [file for name, file in by_name.items() if _SHARD.fullmatch(name)]
    if _INDEX in by_name:
        counts = {name["count"] for file in shards if (name := _SHARD.fullmatch(file.path))}
        if len(counts) != 1 or len(shards) != int(counts.pop()):
            raise HubFailure("damaged", f"{repository.id} lacks parts of its weights on the hub; get another model.")
        return [by_name[_INDEX], *sorted(shards, key=lambda file: file.path)]
    if "model.safetensors" in by_name:
        return [by_name["model.safetensors"]]
    single = [file for name, file in by_name.items() if name.endswith(".safetensors") and name != _ADAPTER]
    return single if len(single) == 1 else []


def _by_size(files: Iterable[HubFile]) -> list[HubFile]:
    return sorted(files, key=lambda file: (file.nbytes, file.path))


def _checked(repository: Repository, files: Sequence[HubFile]) -> tuple[HubFile, ...]:
    """Names become files on this disk, so each has to be a plain one; what cannot be verified is not fetched."""
    names = [file.name.lower() for file in files]
    if len(set(names)) != len(names) or not all(_NAME.fullmatch(file.name) for file in files):
        raise HubFailure("unsupported", f"{repository.id} has files whose names cannot be used; get another model.")
    if not all(file.nbytes >= 0 and (file.sha256 or file.blob) for file in files):
        raise HubFailure(
            "unsupported", f"The hub tells no checksums for {repository.id}, so what came could not be verified."
        )
    return tuple(files)


def _nothing(repository: Repository) -> HubFailure:
    pickles = [file.name for file in repository.files if PurePosixPath(file.path).suffix.lower() in PICKLES]
    if pickles and not has_weights(repository.files):
        return _pickled(pickles[0])
    if has_weights(repository.files):
        return HubFailure(
            "unsupported",
            f"The files of {repository.id} are laid out in a way that Loquat does not know; get another.",
        )
    return HubFailure("unsupported", f"{repository.id} holds no weights as safetensors or GGUF; get another model.")


def _pickled(name: str) -> HubFailure:
    return HubFailure(
        "unsupported",
        f"The file {name} is a Python pickle, which can run any program when it is loaded; "
        "get a model with safetensors or GGUF files.",
    )
