"""What the person chose for one model, kept beside it: what it is called, its adapters, its draft model. Torch-free."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from engine.atomic import write_atomically

CHOICES: Final = "choices.json"


@dataclass(frozen=True, slots=True)
class AdapterChoice:
    """A LoRA adapter that was added to a model.

    Attributes:
        name: For people; also its folder's name below `adapters/` in the model folder.
        on: Whether it is merged when the model is loaded.
    """

    name: str
    on: bool = True


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """All that can be chosen for one model after its import.

    Attributes:
        label: What it is called; empty for what its manifest says.
        adapters: In the order in which they were added, which is that of merging.
        draft: The registry's name of its draft model for speculative decoding; empty for none.
        plain_template: Whether a base model's conversations are written with Loquat's plain chat template.
    """

    label: str = ""
    adapters: tuple[AdapterChoice, ...] = ()
    draft: str = ""
    plain_template: bool = False


def read_choices(folder: Path) -> ModelChoices:
    """The choices for the model in `folder`; none where nothing was chosen, or where the file cannot be read."""
    try:
        value = json.loads((folder / CHOICES).read_text(encoding="utf-8"))
        adapters = tuple(AdapterChoice(str(one["name"]), bool(one["on"])) for one in value.get("adapters", ()))
        return ModelChoices(
            label=str(value.get("label", "")),
            adapters=adapters,
            draft=str(value.get("draft", "")),
            plain_template=bool(value.get("plain_template", False)),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ModelChoices()


def write_choices(folder: Path, choices: ModelChoices) -> None:
    """Keep them, whole or not at all.

    Raises:
        OSError: The disk refused.
    """
    write_atomically(folder / CHOICES, json.dumps(asdict(choices), indent=2, ensure_ascii=False) + "\n")
