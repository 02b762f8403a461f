"""Assistants: system prompts with a name, an icon, a manner of answering and an opening.

The shipped ones lie in assets/assistants/shipped.json, their names and openings here, because they are translated. The
person's own lie in one JSON file beside the settings, written whole or not at all.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from app import presets
from app.assets import ASSETS
from app.declarations import SETTINGS
from app.i18n import mark, translate, translate_marked
from app.records import ChatOptions, new_id
from app.said import sound
from app.settings import SAVE_DELAY_MS, put_aside
from engine.atomic import write_atomically

log = logging.getLogger(__name__)

MAX_NAME: Final = 60
MAX_PROMPT: Final = 200_000  # characters
ICONS: Final = (
    "chat",
    "pen",
    "translate",
    "code",
    "summary",
    "tutor",
    "spark",
    "bulb",
    "heart",
    "globe",
    "flask",
    "music",
)
SAMPLING: Final = (*presets.NAMES, "seed", "max_tokens")
_TEXTS: Final = ("id", "name", "icon", "system_prompt", "model", "opening")
PLAIN: Final = "plain"
_BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
_WORDS: Final = {  # name and opening of those that are shipped
    PLAIN: (mark("assistants", "Plain"), mark("assistants", "Ask anything.")),
    "writing": (mark("assistants", "Writing"), mark("assistants", "Paste a text, or say what should be written.")),
    "translator": (
        mark("assistants", "Translator"),
        mark("assistants", "Paste English or Chinese; it comes back in the other."),
    ),
    "code": (mark("assistants", "Code"), mark("assistants", "Paste code, or say what it should do.")),
    "summary": (mark("assistants", "Summary"), mark("assistants", "Paste a long text, or drop a file.")),
    "tutor": (mark("assistants", "Tutor"), mark("assistants", "What would you like to understand?")),
}


@dataclass(frozen=True, slots=True)
class Assistant:
    """One assistant. Names and openings of shipped ones are in the language in force.

    Attributes:
        icon: One of ICONS; its drawing is assets/icons/assistant-<icon>.svg.
        sampling: Values by the names of the settings, only those that differ from the settings.
        model: The name of the model that it asks for; empty for whichever is loaded.
        opening: What an empty chat with it says to the person; never sent to the model.
        builtin: Shipped; it can be copied, not changed.
    """

    id: str = field(default_factory=new_id)
    name: str = ""
    icon: str = "spark"
    system_prompt: str = ""
    sampling: Mapping[str, float | int | None] = field(default_factory=dict)
    model: str = ""
    opening: str = ""
    builtin: bool = False

    @property
    def drawing(self) -> str:
        """The name of its icon in assets/icons."""
        return f"assistant-{self.icon}"

    @property
    def options(self) -> ChatOptions:
        """What a chat with it does otherwise than the settings say."""
        return ChatOptions("" if self.id == PLAIN else self.id, dict(self.sampling))

    def check(self) -> None:
        """See that it can be kept.

        Raises:
            ValueError: It cannot; the message is a sentence.
        """
        if not self.name.strip():
            raise ValueError(translate("assistants", "An assistant needs a name."))
        if len(self.name) > MAX_NAME:
            sentence = translate("assistants", "A name has at most {most} characters.")
            raise ValueError(sentence.format(most=MAX_NAME))
        if len(self.system_prompt) > MAX_PROMPT:
            sentence = translate("assistants", "A system prompt has at most {most} characters.")
            raise ValueError(sentence.format(most=f"{MAX_PROMPT:,}"))
        if self.icon not in ICONS:
            raise ValueError(translate("assistants", "There is no such icon."))
        check_sampling(self.sampling)


def check_sampling(sampling: Mapping[str, Any]) -> None:
    """See that values of sampling settings are allowed.

    Raises:
        ValueError: One is not; the message is a sentence.
    """
    for name, value in sampling.items():
        if name not in SAMPLING:
            raise ValueError(translate("assistants", "{name} is no way of answering.").format(name=name))
        _BY_NAME[name].check(value)


def shipped_assistants() -> tuple[Assistant, ...]:
    """Those that come with Loquat, their words in the language in force; the first is the plain one."""
    return tuple(_shipped(values) for values in _held())


@cache
def _held() -> tuple[dict[str, Any], ...]:
    """What is shipped, read once: which assistant a chat has is asked with every question."""
    return tuple(json.loads((ASSETS / "assistants" / "shipped.json").read_text(encoding="utf-8")))


def _shipped(values: dict[str, Any]) -> Assistant:
    name, opening = _WORDS[values["id"]]
    said = Assistant(**values, builtin=True)
    shown = translate_marked("assistants", name), translate_marked("assistants", opening)
    return dataclasses.replace(said, name=shown[0], opening=shown[1])


class Assistants(QObject):
    """All assistants, the shipped ones first; a change is saved a moment later, and by `save` at once.

    Attributes:
        trouble: A sentence for the person if the file was unusable and put aside, else "".
    """

    changed = Signal()
    save_failed = Signal(str)  # a sentence for the person

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.trouble = ""
        self._own = self._read()
        self._unsaved = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_DELAY_MS)
        self._timer.timeout.connect(self.save)

    def all(self) -> tuple[Assistant, ...]:
        """The shipped ones, then the person's own in the order in which they were made."""
        return (*shipped_assistants(), *self._own)

    def get(self, assistant_id: str) -> Assistant | None:
        """One of them; None for one that is gone, and the plain one for ""."""
        wanted = assistant_id or PLAIN
        return next((assistant for assistant in self.all() if assistant.id == wanted), None)

    def put(self, assistant: Assistant, place: int | None = None) -> None:
        """Add one's own assistant, or change it.

        Args:
            assistant: One with the same id is replaced where it stands.
            place: Where a new one goes among one's own; None for the end.

        Raises:
            ValueError: It cannot be kept, or is a shipped one; the message is a sentence.
        """
        assistant = _sound(assistant)
        assistant.check()
        if assistant.builtin or assistant.id in _WORDS:
            raise ValueError(translate("assistants", "This assistant comes with Loquat. Duplicate it to change it."))
        ids = [own.id for own in self._own]
        if assistant.id in ids:
            self._own[ids.index(assistant.id)] = assistant
        else:
            self._own.insert(len(self._own) if place is None else place, assistant)
        self._tell()

    def remove(self, assistant_id: str) -> int | None:
        """Remove one's own assistant; the place at which it stood, or None if there is none.

        Chats with it go on as they are: they hold its system prompt and values themselves.
        """
        place = next((i for i, own in enumerate(self._own) if own.id == assistant_id), None)
        if place is not None:
            del self._own[place]
            self._tell()
        return place

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self._timer.stop()
        if not self._unsaved:
            return
        held = [{key: value for key, value in dataclasses.asdict(own).items() if key != "builtin"} for own in self._own]
        try:
            write_atomically(self._path, json.dumps(held, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            log.warning("assistants could not be saved: %s", error)
            sentence = translate(
                "assistants", "The assistants could not be saved in {folder}. Is there room on the disk?"
            )
            self.save_failed.emit(sentence.format(folder=self._path.parent))
        else:
            self._unsaved = False

    def _tell(self) -> None:
        self._unsaved = True
        self._timer.start()
        self.changed.emit()

    def _read(self) -> list[Assistant]:
        try:
            return _from_json(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, RecursionError) as error:
            log.warning("assistants could not be read: %s", error)
            kept = put_aside(self._path)
            sentence = translate("assistants", "Your assistants could not be read; they were kept as {name}.")
            gone = translate("assistants", "Your assistants could not be read.")
            self.trouble = sentence.format(name=kept) if kept else gone
            return []


def _from_json(text: str) -> list[Assistant]:
    held = json.loads(text)
    if not isinstance(held, list) or not all(isinstance(values, dict) for values in held):
        raise ValueError("not a list of objects")
    known = {field.name for field in dataclasses.fields(Assistant)} - {"builtin"}
    found = [Assistant(**{key: value for key, value in values.items() if key in known}) for values in held]
    for assistant in found:
        texts = (getattr(assistant, name) for name in _TEXTS)
        if not all(isinstance(text, str) for text in texts) or not isinstance(assistant.sampling, dict):
            raise ValueError("a value of another kind")
        assistant.check()
    return [_sound(assistant) for assistant in found]


def _sound(assistant: Assistant) -> Assistant:
    """An assistant whose texts a file can hold."""
    texts: dict[str, Any] = {name: sound(getattr(assistant, name)) for name in _TEXTS}
    return dataclasses.replace(assistant, **texts)
