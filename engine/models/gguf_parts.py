"""GGUF models in one file or in several, `NAME-00001-of-00003.gguf`: each part has maps of its own, the model is one.

The layout is that of llama.cpp's `gguf-split`: every part is a GGUF file that says its number, how many parts there
are and how many tensors they hold together; the first holds the rest of the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from engine.errors import BadModelFile
from engine.models.gguf_reader import GgufFile, GgufTensor, open_part

SUFFIX: Final = ".gguf"
_PART: Final = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.(?i:gguf)")
_NUMBER: Final = "split.no"  # from 0
_COUNT: Final = "split.count"
_TENSORS: Final = "split.tensors.count"


def parts_of(path: Path) -> list[Path]:
    """All files of the model that a file belongs to, in order; the file alone where its name tells of no others.

    Raises:
        BadModelFile: One of them is not there.
    """
    name = _PART.fullmatch(path.name)
    count = int(name["count"]) if name else 1
    if name is None or count == 1:
        return [path]
    if not 1 <= int(name["number"]) <= count:
        raise BadModelFile(f"The name of the file {path.name} contradicts itself; give it back the name it came with.")
    parts = [path.with_name(f"{name['stem']}-{number:05}-of-{count:05}{path.suffix}") for number in range(1, count + 1)]
    missing = next((part for part in parts if not part.is_file()), None)
    if missing is not None:
        raise BadModelFile(
            f"The model {name['stem']} lies in {count} files, and {missing.name} is not among them; "
            "get it too, into the same folder.",
            str(missing),
        )
    return parts


def stem_of(path: Path) -> str:
    """The name of a model's file without its suffix, and without the number of the part."""
    name = _PART.fullmatch(path.name)
    return name["stem"] if name else path.stem


def first_file(folder: Path) -> Path | None:
    """The one GGUF model in a folder: its file, or its first part; None where there is no GGUF file.

    Raises:
        BadModelFile: There are several models, or parts are missing.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == SUFFIX and path.is_file())
    models = {stem_of(path): path for path in reversed(files)}
    if len(models) > 1:
        raise BadModelFile(
            f"The folder {folder.name} holds {len(models)} GGUF models; give the file of one of them, "
            f"for example {files[0].name}.",
            ", ".join(path.name for path in files),
        )
    return parts_of(files[0])[0] if files else None


@contextmanager
def open_gguf(path: Path) -> Iterator[GgufFile]:
    """Check a GGUF model and give views into it; any of its parts finds the others.

    The views must not be used after the block ends; on Windows the files stay locked while one lives.

    Raises:
        BadModelFile: A file is no GGUF, is cut off, contradicts itself, or is no part of this model.
        UnsupportedModel: A sound file of a version, byte order or tensor type that is not supported.
        OSError: A file cannot be opened.
    """
    with ExitStack() as maps:
        parts = [maps.enter_context(open_part(part)) for part in parts_of(path)]
        yield _joined(parts)


def _joined(parts: Sequence[GgufFile]) -> GgufFile:
    """Several parts as one file, with the first one's metadata."""
    for index, part in enumerate(parts):
        _check_place(part, index, len(parts))
    if len(parts) == 1:
        return parts[0]
    first, tensors = parts[0], _all_tensors(parts)
    expected = first.metadata.integer(_TENSORS, len(tensors))
    if expected != len(tensors):
        raise BadModelFile(
            f"The parts of {stem_of(first.path)} do not belong together; get them all again.",
            f"{expected} tensors, the parts hold {len(tensors)}",
        )
    return GgufFile(first.path, sum(part.nbytes for part in parts), first.metadata, tensors)


def _check_place(part: GgufFile, index: int, count: int) -> None:
    """A part says itself which one it is; its name can be wrong."""
    says = part.metadata.integer(_COUNT, 1)
    if count == 1 and says > 1:
        raise BadModelFile(
            f"The file {part.path.name} is one of {says} parts of a model; give it back the name it came with, "
            "which ends in its number, and put the other parts beside it."
        )
    if says != count:
        raise BadModelFile(f"The file {part.path.name} is no part of this model; get it again.", f"{_COUNT} = {says}")
    number = part.metadata.integer(_NUMBER, index)
    if number != index:
        raise BadModelFile(
            f"The file {part.path.name} is in truth part {number + 1} of its model; "
            "give the parts back the names they came with.",
            f"{_NUMBER} = {number}",
        )


def _all_tensors(parts: Sequence[GgufFile]) -> dict[str, GgufTensor]:
    tensors: dict[str, GgufTensor] = {}
    for part in parts:
        twice = min(tensors.keys() & part.tensors.keys(), default=None)
        if twice is not None:
            raise BadModelFile(f"The file {part.path.name} is no part of this model; get it again.", f"{twice} twice")
        tensors |= part.tensors
    return tensors
