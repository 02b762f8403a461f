"""The values of the settings: in one JSON file, checked by their declarations."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from app import presets
from app.declarations import GIB, SETTINGS, Setting
from app.i18n import translate
from app.theme import Look
from engine.atomic import write_atomically
from engine.chat import Overflow
from engine.config import EngineConfig, SamplingParams

log = logging.getLogger(__name__)

PRESET: Final = "preset"
CHOSEN: Final = "sampling_chosen"
SAVE_DELAY_MS: Final = 300  # a slider that is dragged must not write a file per pixel


_BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


class Settings(QObject):
    """The values, kept in `path`; a change is saved a moment later, and by `save` at once.

    Attributes:
        trouble: A sentence for the person if the file was unusable and put aside, else "".
    """

    changed = Signal(str)  # the setting's name
    default_changed = Signal(str)  # the name of one whose default another model changed
    save_failed = Signal(str)  # a sentence for the person

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.trouble = ""
        self._stored = self._read()
        self._values = {setting.name: _usable(setting, self._stored) for setting in SETTINGS}
        self._own: dict[str, float] = {}
        self._chosen = self._chosen_before()  # of sampling; the rest follows the model
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_DELAY_MS)
        self._timer.timeout.connect(self.save)
        if any(name in self._stored and value != self._stored[name] for name, value in self._values.items()):
            self.save()  # what was not usable is out of the file from now on

    def get(self, name: str) -> Any:  # noqa: ANN401 - its kind is in the declaration
        """The value of a setting."""
        return presets.preset_of(self._values, self._own) if name == PRESET else self._values[name]

    def set(self, name: str, value: object) -> None:
        """Change a setting.

        Raises:
            ValueError: The value is not allowed; the message is a sentence.
        """
        checked = _BY_NAME[name].check(value)
        if name == PRESET and checked == presets.OWN and self._own:
            self._choose(self._chosen - {*presets.NAMES})
            self._follow()
        elif name == PRESET:
            wanted = presets.values_of(checked, self._own)
            self._choose(self._chosen | wanted.keys())
            for part, number in wanted.items():
                self._put(part, number)
        else:
            self._choose(self._chosen | ({name} & {*presets.NAMES}))
            self._put(name, checked)

    def default(self, name: str) -> Any:  # noqa: ANN401 - its kind is in the declaration
        """What a setting goes back to: for sampling what the loaded model's makers say, if they say anything."""
        values = presets.values_of(presets.OWN, self._own)
        if name == PRESET:
            return presets.preset_of(values, self._own)
        return values[name] if name in values else _BY_NAME[name].default

    def chose(self, name: str) -> bool:
        """Whether the person chose a value of sampling; it does not follow the model then."""
        return name in self._chosen

    def _choose(self, names: frozenset[str]) -> None:
        if names != self._chosen:
            self._chosen = names
            self._values[CHOSEN] = bool(names)
            self._timer.start()

    def _follow(self) -> None:
        for name in presets.NAMES:
            if name not in self._chosen:
                self._put(name, self.default(name))

    def _chosen_before(self) -> frozenset[str]:
        stored = {*presets.NAMES} & self._stored.keys()
        return frozenset(stored or presets.NAMES) if self._values[CHOSEN] else frozenset()

    def _put(self, name: str, checked: object) -> None:
        if checked == self._values[name]:
            return
        before = self.get(PRESET)
        self._values[name] = checked
        self._timer.start()
        self.changed.emit(name)
        if self.get(PRESET) != before:
            self.changed.emit(PRESET)

    def set_own_sampling(self, values: Mapping[str, float]) -> None:
        """Take how the loaded model's makers sample it; who has chosen nothing else samples it that way too."""
        preset, defaults = self.get(PRESET), {name: self.default(name) for name in (*presets.NAMES, PRESET)}
        self._own = dict(values)
        self._follow()
        if self.get(PRESET) != preset:
            self.changed.emit(PRESET)
        for name, default in defaults.items():
            if default != self.default(name):
                self.default_changed.emit(name)

    def reset(self, name: str) -> None:
        """Go back to the default; sampling follows the model again."""
        self._choose(self._chosen - ({*presets.NAMES} if name == PRESET else {name}))
        if name == PRESET:
            self._follow()
        else:
            self._put(name, self.default(name))

    def sampling(self) -> SamplingParams:
        """How replies are sampled."""
        return SamplingParams(**{name: self._values[name] for name in (*presets.NAMES, "seed", "max_tokens")})

    def for_chats(self) -> dict[str, Any]:
        """What a chat can do otherwise: the system prompt, and the values of sampling."""
        return {name: self._values[name] for name in ("system_prompt", *presets.NAMES, "seed", "max_tokens")}

    def look(self) -> Look:
        """Accent, font, text size and density."""
        value = self._values
        return Look(value["accent"], value["font"], int(value["text_size"]), value["density"])

    def engine_config(self) -> EngineConfig:
        """How models are loaded."""
        value = self._values
        percent = value["memory_percent"]
        return EngineConfig(
            device=value["device"],
            dtype=value["dtype"],
            kv_dtype=value["kv_dtype"],
            threads=value["threads"] or 0,
            max_context=value["max_context"],
            memory_utilization=None if percent is None else percent / 100,
            save_caches=value["save_caches"],
            cache_disk_bytes=int(value["cache_disk_gib"] * GIB),
        )

    @property
    def overflow(self) -> Overflow:
        """What to do when a conversation outgrows the context."""
        policy: Overflow = self._values["overflow"]
        return policy

    def reset_all(self) -> None:
        """Go back to the defaults of everything that the person can set."""
        for setting in SETTINGS:
            if setting.label:
                self.reset(setting.name)

    def save(self) -> None:
        """Write the file, whole or not at all. Values of a newer version that are not known here stay in it."""
        self._timer.stop()
        values = {name: value for name, value in self._stored.items() if name not in _BY_NAME}
        values |= {s.name: self._values[s.name] for s in SETTINGS if self._is_kept(s)}
        if values == self._stored:
            return
        try:
            write_atomically(self._path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            log.warning("settings could not be saved: %s", error)
            sentence = translate("settings", "The settings could not be saved in {folder}. Is there room on the disk?")
            self.save_failed.emit(sentence.format(folder=self._path.parent))
        else:
            self._stored = values

    def _is_kept(self, setting: Setting) -> bool:
        if setting.name in presets.NAMES:
            return setting.name in self._chosen
        return not setting.derived and bool(self._values[setting.name] != setting.default)

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            log.warning("settings could not be read: %s", error)
            self.trouble = self._trouble(put_aside(self._path))
            return {}
        return values

    def _trouble(self, kept_as: str) -> str:
        if not kept_as:
            return translate("settings", "The settings could not be read; the defaults are used.")
        sentence = translate(
            "settings", "The settings could not be read; they were kept as {name}, and the defaults are used."
        )
        return sentence.format(name=kept_as)


def put_aside(path: Path) -> str:
    """Rename a file that cannot be read, so that nothing writes over it; its new name, or "" if it stays."""
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}.json")
    try:
        path.rename(aside)
    except OSError as error:
        log.warning("a damaged file stays where it is: %s", error)
        return ""
    return aside.name


def _usable(setting: Setting, stored: dict[str, Any]) -> Any:  # noqa: ANN401
    try:
        return setting.check(stored.get(setting.name, setting.default))
    except ValueError as error:
        log.warning("a setting is not usable: %s", error)
        return setting.default
