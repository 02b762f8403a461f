"""What one setting is: its kind, its bounds, and its words in the language in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.i18n import translate, translate_marked
from app.said import sound

Kind = Literal["choice", "switch", "number", "integer", "text", "font", "accent"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Its words are English as they are declared; `shown_...` are those to be read.

    Attributes:
        default: Also what a missing or unusable value in the file becomes.
        label, help: For the settings dialog; both are empty for what the program remembers by itself.
        group: The heading in the dialog under which it stands.
        low, high: Bounds of a number or integer, inclusive.
        choices: The values of a choice, and what people read for each.
        optional: What people read for None; empty where None is not allowed.
        reload: Whether it takes effect when a model is loaded.
        derived: Whether it is no value of its own but stands for those of other settings, and is not saved.
    """

    name: str
    kind: Kind
    default: Any
    label: str = ""
    help: str = ""
    group: str = ""
    low: float = 0
    high: float = 0
    choices: Mapping[str, str] = field(default_factory=dict)
    optional: str = ""
    reload: bool = False
    derived: bool = False

    @property
    def shown_label(self) -> str:
        """Its name."""
        return translate_marked("declarations", self.label)

    @property
    def shown_help(self) -> str:
        """What it does."""
        return translate_marked("declarations", self.help)

    @property
    def shown_group(self) -> str:
        """The heading under which it stands."""
        return translate_marked("declarations", self.group)

    @property
    def shown_optional(self) -> str:
        """What stands for None."""
        return translate_marked("declarations", self.optional)

    @property
    def shown_choices(self) -> dict[str, str]:
        """The values of a choice, and what people read for each."""
        return {value: translate_marked("declarations", label) for value, label in self.choices.items()}

    @property
    def range(self) -> str:
        """The bounds in words."""
        bounds = translate("setting", "between {low} and {high}")
        return bounds.format(low=_number(self.low), high=_number(self.high))

    def check(self, value: Any) -> Any:  # noqa: ANN401 - a value of any kind comes in from the file
        """The value, if it is allowed; a text without what no file can hold.

        Raises:
            ValueError: It is not; the message is a sentence that says what is.
        """
        if value is None and self.optional:
            return None
        if not self._fits(value):
            raise ValueError(self._rule().format(name=self.shown_label or self.name))
        return sound(value) if self.kind == "text" else value

    def _fits(self, value: Any) -> bool:  # noqa: ANN401
        if self.kind in ("text", "font"):
            return isinstance(value, str) and (self.kind == "text" or bool(value.strip()))
        if self.kind == "switch":
            return isinstance(value, bool)
        if self.kind in ("choice", "accent"):
            return isinstance(value, str) and value in self.choices
        types = (int,) if self.kind == "integer" else (int, float)
        return isinstance(value, types) and not isinstance(value, bool) and self.low <= value <= self.high

    def _rule(self) -> str:
        """The sentence that says what is allowed, with a place for the name."""
        if self.kind == "text":
            return translate("setting", "{name} must be text.")
        if self.kind == "font":
            return translate("setting", "{name} must be the name of a font.")
        if self.kind == "switch":
            return translate("setting", "{name} must be on or off.")
        if self.kind in ("choice", "accent"):
            rule = translate("setting", "{name} must be one of {choices}.")
            return rule.format(name="{name}", choices=", ".join(self.choices))
        return translate("setting", "{name} must be {range}.").format(name="{name}", range=self.range)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
