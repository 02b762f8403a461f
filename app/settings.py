"""Every setting declared once: default, range, label, help. Values live in one JSON file."""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from engine.config import MAX_SEED, SamplingParams

log = logging.getLogger(__name__)

Kind = Literal["choice", "number", "integer", "text"]
SAVE_DELAY_MS: Final = 300  # a slider that is dragged must not write a file per pixel


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        default: Also what a missing or unusable value in the file becomes.
        label, help: For the settings dialog; both are empty for what the program remembers by itself.
        low, high: Bounds of a number or integer, inclusive.
        choices: The values of a choice.
        optional: Whether None ("automatic") is allowed.
    """

    name: str
    kind: Kind
    default: Any
    label: str = ""
    help: str = ""
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    optional: bool = False

    def check(self, value: Any) -> Any:  # noqa: ANN401 - a value of any kind comes in from the file
        """The value, if it is allowed.

        Raises:
            ValueError: It is not; the message is a sentence that says what is.
        """
        if value is None and self.optional:
            return None
        if self.kind == "text":
            return self._require(value, isinstance(value, str), "must be text")
        if self.kind == "choice":
            return self._require(value, value in self.choices, f"must be one of {', '.join(self.choices)}")
        types = (int,) if self.kind == "integer" else (int, float)
        fits = isinstance(value, types) and not isinstance(value, bool) and self.low <= value <= self.high
        return self._require(value, fits, f"must be between {self.low:g} and {self.high:g}")

    def _require(self, value: Any, fits: bool, rule: str) -> Any:  # noqa: ANN401
        if not fits:
            raise ValueError(f"{self.label or self.name} {rule}.")
        return value


_SAMPLING: Final = SamplingParams()
SETTINGS: Final = (
    Setting(
        "theme",
        "choice",
        "system",
        "Theme",
        "Light or dark, or as the system says.",
        choices=("system", "light", "dark"),
    ),
    Setting(
        "system_prompt",
        "text",
        "",
        "System prompt",
        "Said to the model before a new conversation; conversations that have begun keep theirs.",
    ),
    Setting(
        "temperature",
        "number",
        _SAMPLING.temperature,
        "Temperature",
        "0 always takes the likeliest word; higher is more varied.",
        low=0,
        high=2,
    ),
    Setting(
        "top_k",
        "integer",
        _SAMPLING.top_k,
        "Top k",
        "Chooses among this many likeliest tokens; 0 is no limit.",
        low=0,
        high=1_000_000,
    ),
    Setting(
        "top_p",
        "number",
        _SAMPLING.top_p,
        "Top p",
        "Chooses among the likeliest tokens that make up this share.",
        low=0,
        high=1,
    ),
    Setting(
        "min_p",
        "number",
        _SAMPLING.min_p,
        "Min p",
        "Leaves out tokens less likely than this fraction of the likeliest.",
        low=0,
        high=1,
    ),
    Setting(
        "repetition_penalty",
        "number",
        _SAMPLING.repetition_penalty,
        "Repetition penalty",
        "Above 1, words that were used become less likely.",
        low=0.1,
        high=5,
    ),
    Setting(
        "seed",
        "integer",
        None,
        "Seed",
        "The same seed gives the same answer; empty draws one each time.",
        low=0,
        high=MAX_SEED,
        optional=True,
    ),
    Setting(
        "max_tokens",
        "integer",
        None,
        "Longest answer",
        "In tokens; empty means until the context is full.",
        low=1,
        high=10_000_000,
        optional=True,
    ),
    Setting("window_geometry", "text", ""),
)
_BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


class Settings(QObject):
    """The values, kept in `path`; a change is saved a moment later, and by `save` at once.

    Attributes:
        trouble: A sentence for the person if the file was unusable and put aside, else "".
    """

    changed = Signal(str)  # the setting's name
    save_failed = Signal(str)  # a sentence for the person

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.trouble = ""
        self._stored = self._read()
        self._values = {setting.name: _usable(setting, self._stored) for setting in SETTINGS}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_DELAY_MS)
        self._timer.timeout.connect(self.save)

    def get(self, name: str) -> Any:  # noqa: ANN401 - its kind is in the declaration
        """The value of a setting."""
        return self._values[name]

    def set(self, name: str, value: object) -> None:
        """Change a setting.

        Raises:
            ValueError: The value is not allowed; the message is a sentence.
        """
        checked = _BY_NAME[name].check(value)
        if checked == self._values[name]:
            return
        self._values[name] = checked
        self._timer.start()
        self.changed.emit(name)

    def reset(self, name: str) -> None:
        """Go back to the default."""
        self.set(name, _BY_NAME[name].default)

    def sampling(self) -> SamplingParams:
        """How replies are sampled."""
        names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed", "max_tokens")
        return SamplingParams(**{name: self._values[name] for name in names})

    def save(self) -> None:
        """Write the file, whole or not at all. Values of a newer version that are not known here stay in it."""
        self._timer.stop()
        values = {name: value for name, value in self._stored.items() if name not in _BY_NAME}
        values |= {s.name: self._values[s.name] for s in SETTINGS if self._values[s.name] != s.default}
        if values == self._stored:
            return
        try:
            write_atomically(self._path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            log.warning("settings could not be saved: %s", error)
            self.save_failed.emit(f"The settings could not be saved in {self._path.parent}. Is there room on the disk?")
        else:
            self._stored = values

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("settings could not be read: %s", error)
            self.trouble = self._put_aside()
            return {}
        return values

    def _put_aside(self) -> str:
        aside = self._path.with_name(f"{self._path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}.json")
        try:
            self._path.rename(aside)
        except OSError as error:
            log.warning("the settings file stays where it is: %s", error)
            return "The settings could not be read; the defaults are used."
        return f"The settings could not be read; they were kept as {aside.name}, and the defaults are used."


def write_atomically(path: Path, text: str) -> None:
    """Replace a file so that at any moment either the old or the new one is there, whole.

    Raises:
        OSError: It could not be written; the old file is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _usable(setting: Setting, stored: dict[str, Any]) -> Any:  # noqa: ANN401
    try:
        return setting.check(stored.get(setting.name, setting.default))
    except ValueError as error:
        log.warning("a setting is not usable: %s", error)
        return setting.default
