"""The models on this machine as a window or a program lists them. Torch-free: their weights are not looked at."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import BadModelFile
from engine.events import InstalledModel
from engine.models.model_folder import CONFIG, TEMPLATE, read_object
from engine.models.registry import ModelEntry
from engine.templates.checked import Finding, read_check
from engine.templates.plain import TemplateKind


def listed(entries: Sequence[ModelEntry]) -> tuple[InstalledModel, ...]:
    """What is known of these models without loading them, in their order."""
    return tuple(map(_listed, entries))


def _listed(entry: ModelEntry) -> InstalledModel:
    template, findings = _chat(entry)
    return InstalledModel(
        name=entry.name,
        label=entry.label,
        parameters=entry.parameters,
        nbytes=entry.nbytes,
        default=entry.default,
        folder=str(entry.folder),
        architecture=entry.architecture,
        origin=entry.origin,
        licence=entry.licence,
        context=_context(entry),
        weights=entry.weights,
        adapters=entry.choices.adapters,
        draft=entry.choices.draft,
        plain_template=entry.choices.plain_template,
        template=template,
        findings=findings,
    )


def _chat(entry: ModelEntry) -> tuple[TemplateKind, tuple[Finding, ...]]:
    """With which template chats are written, and what the last check found; one imported before checks has none."""
    if (check := read_check(entry.folder)) is not None:
        return check.template, check.findings
    if entry.choices.plain_template:
        return TemplateKind.PLAIN, ()
    return TemplateKind.OWN if (entry.folder / TEMPLATE).is_file() else TemplateKind.NONE, ()


def _context(entry: ModelEntry) -> int:
    """The longest conversation that its config.json speaks of; 0 where it speaks of none, or cannot be read."""
    try:
        outer = read_object(entry.folder, CONFIG)
    except (BadModelFile, OSError):
        return 0  # said when it is loaded
    inner = outer.get("text_config")
    config = inner if isinstance(inner, dict) else outer
    longest = config.get("max_position_embeddings") or config.get("n_positions")
    return longest if isinstance(longest, int) else 0
