"""What a check of a model's chat template and tokenizer found, kept in the model's folder. Torch-free."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from engine.atomic import write_atomically
from engine.templates.plain import TemplateKind

CHECK: Final = "check.json"
FORMAT: Final = 1


class Held(StrEnum):
    """What the model's files hold for a template."""

    USABLE = "usable"
    BROKEN = "broken"
    NONE = "none"


class SystemMessage(StrEnum):
    """What becomes of a system message."""

    OWN = "own"  # a role of its own
    FOLDED = "folded"  # the template puts it into the first question
    BY_LOQUAT = "by loquat"  # the template takes none, so Loquat puts it in front of the first question


class Thinking(StrEnum):
    """Whether a model thinks before it answers."""

    NONE = "none"
    ALWAYS = "always"
    SWITCH = "switch"  # the template can ask it not to


class History(StrEnum):
    """What becomes of earlier replies."""

    KEPT = "kept"
    UNTHOUGHT = "without thinking"
    REWRITTEN = "rewritten"  # in another way: the cache of a conversation is lost from there on


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know.

    Attributes:
        kind: For programs, e.g. "no_template".
        sentence: For people.
        serious: Whether chats with the model suffer from it.
    """

    kind: str
    sentence: str
    serious: bool


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What was found out about one model.

    Attributes:
        held: What the model's own template is.
        template: With which template its chats are written now.
        system, thinking, history: What that template does; with "none", Loquat's plain one.
        stable: Whether a longer conversation's prompt begins with the shorter one's.
        tools: How it writes calls of tools, as `engine.tools.ToolStyle`; "" where it knows none that Loquat can read.
        ends: The tokens that end a reply, as text.
        tokens, rows: Of the tokenizer, and of the embedding.
        findings: The serious ones first.
    """

    held: Held
    template: TemplateKind
    system: SystemMessage
    thinking: Thinking
    history: History
    stable: bool
    tools: str
    ends: tuple[str, ...]
    tokens: int
    rows: int
    findings: tuple[Finding, ...]

    @property
    def serious(self) -> bool:
        """Whether anything was found from which chats suffer."""
        return any(finding.serious for finding in self.findings)


def write_check(folder: Path, check: ModelCheck) -> None:
    """Keep it, whole or not at all.

    Raises:
        OSError: The disk refused.
    """
    value = {"format": FORMAT, **asdict(check)}
    write_atomically(folder / CHECK, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_check(folder: Path) -> ModelCheck | None:
    """What the last check of the model in `folder` found; None where there was none, or by another version."""
    try:
        value = json.loads((folder / CHECK).read_text(encoding="utf-8"))
        return _from_json(value) if value.pop("format") == FORMAT else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _from_json(value: dict[str, Any]) -> ModelCheck:
    kinds = {"held": Held, "template": TemplateKind, "system": SystemMessage, "thinking": Thinking, "history": History}
    known = {name: kind(value[name]) for name, kind in kinds.items()}
    findings = tuple(Finding(**finding) for finding in value["findings"])
    return ModelCheck(**{**value, **known, "ends": tuple(value["ends"]), "findings": findings})
