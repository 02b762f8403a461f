"""Files that go with a question: what may be dropped or pasted, and a file's text, read beside the window's thread."""

from __future__ import annotations

import re
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from PySide6.QtCore import QMimeData, QObject, Signal

from app.engine_sentences import translated
from app.i18n import translate
from app.records import Attachment
from engine.models.safetensors_file import PICKLES, pickle_refused

MAX_BYTES: Final = 5_000_000
MAX_FILES: Final = 20  # that go with one question
LONG_PASTE: Final = 4_000  # characters; more is offered as an attachment
# What the field holds without a pause, measured on a 2-core machine: a key press takes 28 ms in a paragraph of 200,000
# characters and 1 s in one of 5 MB. Lines of one word are broken in quadratic time: 7 ms in 10,000, minutes in 5 MB.
MOST_IN_FIELD: Final = 200_000  # characters
LONGEST_LINE: Final = 100_000
LONGEST_WORD: Final = 10_000
MODEL_SUFFIX: Final = ".gguf"
MODEL_FILE: Final = "config.json"  # in the folder of a Hugging Face model
ADAPTER_FILE: Final = "adapter_config.json"  # in the folder of a LoRA adapter

_BOMS: Final = (  # UTF-32's little-endian mark begins with UTF-16's
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_PICKLED: Final = (b"\x80", b"PK\x03\x04")  # the protocol of a pickle, or the archive that PyTorch puts one into
_IMAGES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\f\r\b\x1b")) + b"\x7f"
_MANY_CONTROLS: Final = 0.01  # of all bytes; text has next to none
_GB2312: Final = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xf7][\xa1-\xfe])*[\xa1-\xf7]?")
_SAMPLE: Final = 65_536  # bytes that decide between Chinese and Western text

DropKind = Literal["model", "files", "image", "text"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that cannot be attached, in one sentence for the person."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds a model: to be added to the models instead of attached."""

    path: Path


@dataclass(frozen=True, slots=True)
class AdapterFolder:
    """A folder that holds a LoRA adapter: to be added to a model instead of attached."""

    path: Path


Outcome = Attachment | Refused | ModelFolder | AdapterFolder


def local_paths(mime: QMimeData) -> tuple[Path, ...]:
    """The local files and folders of a drop or a paste."""
    return tuple(Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile())


def kind_of_drop(mime: QMimeData) -> DropKind | None:
    """What a drop or a paste is, told without a look at the disk, which may be slow; None for nothing of use.

    "model" is one GGUF file. Folders count as "files": only `read` finds out whether one holds a model.
    """
    paths = local_paths(mime)
    if paths:
        return "model" if len(paths) == 1 and paths[0].suffix.lower() == MODEL_SUFFIX else "files"
    if mime.hasText() and mime.text():
        return "text"
    return "image" if mime.hasImage() else None


def images_refused() -> Refused:
    """Why no picture is taken."""
    return Refused(translate("attachments", "This model reads text only."))


def pasted(text: str) -> Outcome:
    """A long text from the clipboard as an attachment."""
    name = translate("attachments", "Pasted text")
    return Attachment(name, text) if size_of(text) <= MAX_BYTES else _too_large(name)


def fits_field(text: str) -> bool:
    """Whether the field stays quick to type in with this text in it."""
    if len(text) > MOST_IN_FIELD:
        return False
    return _longest(text.split()) <= LONGEST_WORD and _longest(text.split("\n")) <= LONGEST_LINE


def _longest(parts: list[str]) -> int:
    return max(map(len, parts), default=0)


def size_of(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode(errors="surrogatepass"))


def read(path: Path) -> Outcome:
    """Read a text file whole. Takes as long as the disk does: not for the window's thread."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _folder(path)
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device may never end
            return Refused(translate("attachments", "{name} is not a file.").format(name=path.name))
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # it may have grown
    except OSError as error:
        sentence = translate("attachments", "{name} cannot be read: {reason}.")
        return Refused(sentence.format(name=path.name, reason=error.strerror or type(error).__name__))
    if len(data) > MAX_BYTES:
        return _pickle(path.name) if _is_pickle(path.name, data) else _too_large(path.name)
    return from_bytes(path.name, data)


def from_bytes(name: str, data: bytes) -> Outcome:
    """The text of a file with this content, or why it cannot be attached."""
    if data.startswith(_IMAGES) or (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        text = decode(data)  # a text may begin with "BM"
        return images_refused() if text is None else Attachment(name, text)
    if data.startswith(b"%PDF-"):
        sentence = translate(
            "attachments", "{name} is a PDF. Loquat reads text files; copy its text and paste it here."
        )
        return Refused(sentence.format(name=name))
    text = decode(data)
    if text is None and _is_pickle(name, data):
        return _pickle(name)
    if text is None:
        return Refused(translate("attachments", "{name} is not a text file.").format(name=name))
    if not text.strip():
        return Refused(translate("attachments", "{name} is empty.").format(name=name))
    return Attachment(name, text)


def _is_pickle(name: str, data: bytes) -> bool:
    """Whether it is a model that can hold programs; other things are called ".bin" too."""
    suffix = Path(name).suffix.lower()
    return suffix in PICKLES and (suffix != ".bin" or data.startswith(_PICKLED))


def _pickle(name: str) -> Refused:
    return Refused(translated(pickle_refused(name).sentence))


def decode(data: bytes) -> str | None:
    """Text from bytes, with plain line ends: by its byte order mark, UTF-8, GB 2312 or Latin-1; None for binary data.

    Latin-1 is read as Windows-1252, as the WHATWG Encoding Standard has it. Every byte has a meaning there, so what
    few control characters tell from binary data is decided before.
    """
    encoding = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "")
    if encoding:
        return _decoded(data, encoding)
    if b"\0" in data or len(data) - len(data.translate(None, _CONTROLS)) > _MANY_CONTROLS * len(data):
        return None
    return next(text for name in ("utf-8", *_legacy(data)) if (text := _decoded(data, name)) is not None)


def _legacy(data: bytes) -> tuple[str, ...]:
    """In Chinese text the bytes above ASCII come in pairs; accented letters mostly stand alone."""
    chinese = _GB2312.fullmatch(data[:_SAMPLE]) is not None
    return ("gb18030", "cp1252", "latin-1") if chinese else ("cp1252", "latin-1")


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


def _folder(path: Path) -> Outcome:
    if (path / ADAPTER_FILE).is_file():
        return AdapterFolder(path)
    if (path / MODEL_FILE).is_file() or next(path.glob(f"*{MODEL_SUFFIX}"), None) is not None:
        return ModelFolder(path)
    return Refused(
        translate("attachments", "{name} is a folder. Please choose the files in it.").format(name=path.name)
    )


def _too_large(name: str) -> Refused:
    return Refused(translate("attachments", "{name} is too large: at most 5 MB can be attached.").format(name=name))


class _Delivery(QObject):
    """Carries one outcome from the thread that reads to the window's; belongs to nobody who might be gone by then."""

    arrived = Signal(int, object)


class AttachmentReader(QObject):
    """Reads files beside the window's thread, each on a thread of its own: a slow disk holds up no other.

    Args:
        read_file: Reads one file; may take any time.
    """

    done = Signal(int, object)  # the number that `start` gave, an Outcome

    def __init__(self, parent: QObject | None = None, read_file: Callable[[Path], Outcome] = read) -> None:
        super().__init__(parent)
        self._read = read_file
        self._deliveries: dict[int, _Delivery] = {}
        self._started = 0

    def start(self, path: Path) -> int:
        """Begin to read; the number under which `done` will tell the outcome."""
        self._started += 1
        number, delivery, read_file = self._started, _Delivery(), self._read
        delivery.arrived.connect(self._arrived)
        self._deliveries[number] = delivery
        # Not QThreadPool: the program waits for its threads at the end, and a disk may never answer.
        threading.Thread(
            target=lambda: delivery.arrived.emit(number, read_file(path)), name="attachment", daemon=True
        ).start()
        return number

    def cancel(self, number: int) -> None:
        """Do not tell this outcome; the thread ends when the disk answers."""
        delivery = self._deliveries.pop(number, None)
        if delivery is not None:  # nobody else may hold it any more: the thread may be over, its outcome on the way
            delivery.arrived.disconnect(self._arrived)

    def _arrived(self, number: int, outcome: Outcome) -> None:
        if self._deliveries.pop(number, None) is not None:
            self.done.emit(number, outcome)
