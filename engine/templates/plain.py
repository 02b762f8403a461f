"""Loquat's own plain template, for base models: they were taught no form of chat, but have read many dialogues.

Torch-free. A base model goes on after its reply and writes the next question too; the stop strings end it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final


class TemplateKind(StrEnum):
    """With which template a model's chats are written."""

    OWN = "own"
    PLAIN = "plain"  # Loquat's, as the person agreed to
    NONE = "none"  # a base model: it continues texts and cannot be chatted with yet


PLAIN_TEMPLATE: Final = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ m.content }}{% else %}{{ m.role | capitalize }}:{{ m.content }}{% endif %}"
    "{{ '\n\n' }}{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
STOPS: Final = ("\n\nUser:", "\nUser:", "\n\nSystem:", "\nSystem:", "\n\nAssistant:", "\nAssistant:")


def spaced(role: str, content: str) -> str:
    """A message's text as it stands behind its role: a model writes the space itself, as part of its first word."""
    return content if role == "system" or content[:1].isspace() else f" {content}"


def first_stop(text: str, stops: Sequence[str] = STOPS) -> int | None:
    """Where the text of a reply ends; None if it holds no stop string."""
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    return min(found, default=None)
