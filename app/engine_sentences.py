"""The engine's sentences in the person's language.

The engine knows no Qt and says everything in English, with values in it. assets/translations/engine.json holds what it
says as templates ("There is no file or folder {0}."), taken from its source by `packaging/translations.py`; a sentence
is matched with them, and its values are put into the template's translation. What matches none stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from app.i18n import ENGLISH, TRANSLATIONS, language_in_force, translate_marked

CONTEXT: Final = "engine"
_VALUE: Final = re.compile(r"(\{\d\})")
_JOINT: Final = " · "  # between phrases of one reason


@dataclass(frozen=True, slots=True)
class Template:
    """One sentence of the engine.

    Attributes:
        text: With its values as {0}, {1}, ...
        pattern: Matches the sentence, each value as a group.
    """

    text: str
    pattern: re.Pattern[str]

    @property
    def literal_length(self) -> int:
        """How much of it is no value: the more, the surer a match is."""
        return len(_VALUE.sub("", self.text))


def translated(sentence: str) -> str:
    """A sentence or phrase of the engine in the language in force; itself where there is no translation."""
    if language_in_force() == ENGLISH:
        return sentence
    if _JOINT in sentence:
        return _JOINT.join(translated(part) for part in sentence.split(_JOINT))
    for template in _templates():
        match = template.pattern.fullmatch(sentence)
        if match:
            shown = translate_marked(CONTEXT, template.text)
            return (
                sentence if shown == template.text else shown.format(*(translated(value) for value in match.groups()))
            )
    return sentence


@cache
def _templates() -> tuple[Template, ...]:
    """All templates, those that say most first: a sentence may match a shorter one by chance."""
    texts = json.loads((TRANSLATIONS / "engine.json").read_text(encoding="utf-8"))
    return tuple(sorted(map(_template, texts), key=lambda template: -template.literal_length))


def _template(text: str) -> Template:
    parts = ("(.+?)" if _VALUE.fullmatch(part) else re.escape(part) for part in _VALUE.split(text))
    return Template(text, re.compile("".join(parts), re.DOTALL))
