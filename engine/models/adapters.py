"""The LoRA adapters of a model: checked against it, copied beside it, switched on and off. Torch-free."""

from __future__ import annotations

import filecmp
import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.errors import BadModelFile, BadRequest, ModelNotFound, UnsupportedModel
from engine.models.adapter_file import CONFIG, WEIGHTS, Adapter, check_numbers, plain_name, read_adapter
from engine.models.choices import AdapterChoice, read_choices, write_choices
from engine.models.files import blocks, flush_to_disk, need_room, os_errors
from engine.models.names import NameTaken, check_name, free_name, shown
from engine.models.shape import weight_entries

ADAPTERS: Final = "adapters"


def check_fits(adapter: Adapter, model: Path) -> None:
    """Refuse an adapter that was trained on another model.

    Raises:
        BadModelFile: The model lacks a matrix that the adapter changes, or has it in another size.
    """
    shapes = {plain_name(entry.name): entry.shape for entry in weight_entries(model)}
    for target in adapter.targets.values():
        have = shapes.get(target.weight)
        wanted = (target.columns, target.rows) if target.transposed else (target.rows, target.columns)
        if have != wanted and have and _fits_mostly(adapter, shapes):
            name = shown(target.weight)
            raise BadModelFile(
                f"The adapter {adapter.folder.name} is damaged ({name} has another shape); get it again.",
                f"{wanted}, not {have}",
            )
        if have != wanted:
            trained = f"it was trained on {shown(adapter.base)}" if adapter.base else "it was trained on another model"
            detail = f"has {target.weight} as {have}, not {wanted}" if have else f"has no {target.weight}"
            raise BadModelFile(
                f"The adapter {adapter.folder.name} does not fit this model: {trained}. Add it to that one.",
                f"{model.name} {detail}",
            )


def _fits_mostly(adapter: Adapter, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether an adapter belongs to a model but for a few of its matrices."""
    targets = adapter.targets.values()
    fitting = [one for one in targets if shapes.get(one.weight) in ((one.rows, one.columns), (one.columns, one.rows))]
    return len(fitting) > len(targets) / 2


def add_adapter(model: Path, source: Path, name: str | None = None) -> AdapterChoice:
    """Copy an adapter beside its model and switch it on.

    Args:
        model: The model folder.
        source: The adapter's folder, as peft saves it.
        name: What to call it; None makes a name of the folder's.

    Raises:
        ModelNotFound: There is no such folder.
        BadModelFile, UnsupportedModel: See `read_adapter` and `check_fits`.
        BadRequest: It is there already.
        EngineError: The name cannot be used or is taken, or the disk refused.
    """
    source = source.expanduser().resolve()
    if not source.is_dir():
        raise ModelNotFound(f"There is no folder {source}; give the folder that holds {CONFIG}.")
    with os_errors("add the adapter", model):
        adapter = read_adapter(source)
        check_fits(adapter, model)
        check_numbers(adapter)
        _check_new(model, adapter)
        chosen = _free(model, source, name)
        need_room(model, adapter.nbytes, f"add {chosen}")
        _copy(adapter, model / ADAPTERS / chosen)
        before = read_choices(model)
        added = AdapterChoice(chosen)
        write_choices(model, replace(before, adapters=(*before.adapters, added)))
    return added


def switch_adapter(model: Path, name: str, on: bool) -> None:
    """Merge an adapter at the next load, or leave it out.

    Raises:
        ModelNotFound: There is none of that name.
        EngineError: The disk refused.
    """
    _find(model, name)
    before = read_choices(model)
    changed = tuple(replace(one, on=on) if one.name == name else one for one in before.adapters)
    with os_errors("switch the adapter", model):
        write_choices(model, replace(before, adapters=changed))


def remove_adapter(model: Path, name: str) -> int:
    """Delete an adapter; the bytes freed.

    Raises:
        ModelNotFound: There is none of that name.
        EngineError: The disk refused.
    """
    _find(model, name)
    folder, before = model / ADAPTERS / name, read_choices(model)
    freed = sum(file.stat().st_size for file in folder.glob("*")) if folder.is_dir() else 0
    with os_errors("remove the adapter", model):
        write_choices(model, replace(before, adapters=tuple(one for one in before.adapters if one.name != name)))
        shutil.rmtree(folder, ignore_errors=True)
    return freed


def merged_adapters(model: Path) -> list[Adapter]:
    """The adapters that are switched on, in their order.

    Raises:
        BadModelFile: One is gone or damaged; the sentence says how to go on without it.
    """
    return [_readable(model, choice.name) for choice in read_choices(model).adapters if choice.on]


def merge_key(adapters: list[Adapter]) -> str:
    """Names what was merged, for what is kept of the merged weights; "" for nothing."""
    if not adapters:
        return ""
    digest = hashlib.sha256()
    for adapter in adapters:
        for name in (CONFIG, WEIGHTS):
            with (adapter.folder / name).open("rb") as file:
                for block in blocks(file):
                    digest.update(block)
    return digest.hexdigest()[:12]


def _readable(model: Path, name: str) -> Adapter:
    try:
        return read_adapter(model / ADAPTERS / name)
    except (BadModelFile, UnsupportedModel, OSError) as error:
        sentence = f"The adapter {name} of {model.name} cannot be read; switch it off, or remove it and add it again."
        raise BadModelFile(sentence, str(error)) from error


def _check_new(model: Path, adapter: Adapter) -> None:
    """Refuse an adapter that is there already: merged twice it would count twice."""
    for choice in read_choices(model).adapters:
        held = model / ADAPTERS / choice.name / WEIGHTS
        if held.is_file() and filecmp.cmp(held, adapter.folder / WEIGHTS, shallow=False):
            state = "on" if choice.on else "off"
            raise BadRequest(f"This adapter is there already, as {choice.name}, and is switched {state}.")


def _free(model: Path, source: Path, name: str | None) -> str:
    folder = model / ADAPTERS
    if name is None:
        return free_name(folder, source.name)
    check_name(name)
    if (folder / name).exists():
        raise NameTaken(name)
    return name


def _copy(adapter: Adapter, target: Path) -> None:
    unfinished = target.with_name(f".{target.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        for name in (CONFIG, WEIGHTS):
            shutil.copyfile(adapter.folder / name, unfinished / name)
            flush_to_disk(unfinished / name)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _find(model: Path, name: str) -> AdapterChoice:
    choices = read_choices(model).adapters
    for choice in choices:
        if choice.name == name:
            return choice
    known = ", ".join(choice.name for choice in choices)
    hint = f"there are: {known}" if known else "it has none"
    raise ModelNotFound(f"{model.name} has no adapter named {name}; {hint}.")
