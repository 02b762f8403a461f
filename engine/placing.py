"""Where a model runs that does not fit its GPU: in fewer bits, over several GPUs, or with a part of it left in RAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch

from engine.budget import footprint_of, limits_of, plan_load
from engine.config import EngineConfig
from engine.device import DeviceChoice
from engine.errors import DoesNotFit, UnsupportedModel
from engine.formats import choose_format
from engine.machine import measure_machine
from engine.memory import Footprint, Machine, MemoryPlan, allowance, plan
from engine.models.registry import ModelEntry
from engine.units import binary

DeviceMap = Mapping[str, int | str]
_CONTEXT: Final = 4096  # tokens that are given room before weights are left in RAM; more are bought with speed
_BUS: Final = 12e9  # bytes a second from RAM to a GPU: PCIe 4 with 16 lanes, from memory that is not pinned
_LEAST_SHARE: Final = 0.1  # of the weights; with less than that on the GPUs, the CPU alone is faster


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a model runs.

    Attributes:
        choice: The device that leads, and the format.
        plan: Its memory.
        device_map: Which part goes where, as accelerate has it: a GPU's number or "cpu"; None for all on one device.
        reason: Why it is not as it would be with more room, and what that costs; "" where it is.
    """

    choice: DeviceChoice
    plan: MemoryPlan
    device_map: DeviceMap | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """A model cut along its layers.

    Attributes:
        device_map: Which part goes where.
        in_ram: Bytes of weights that stay in RAM.
        total: Bytes of all weights.
    """

    device_map: DeviceMap
    in_ram: int
    total: int

    @property
    def gpus(self) -> int:
        """GPUs that hold a part."""
        return len({place for place in self.device_map.values() if isinstance(place, int)})


def place(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> Placement:
    """Where the model runs: on the device as chosen if it fits.

    Raises:
        DoesNotFit: It fits in no way; the sentence names what would.
        BadModelFile: The model's folder is damaged.
    """
    try:
        return Placement(choice, plan_load(entry, choice, config))
    except DoesNotFit:
        smaller = _in_fewer_bits(entry, choice, config) or _spread(entry, choice, config)
        if smaller is None:
            raise
        return smaller


def _in_fewer_bits(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> Placement | None:
    """On the same GPU in 4 bits, where nobody asked for a format."""
    if choice.device.type != "cuda" or config.dtype != "auto" or entry.weights:
        return None
    held, _ = choose_format("cuda", "nf4")
    other = replace(choice, format=held)
    try:
        return Placement(
            other, plan_load(entry, other, config), reason=f"{held.words}: there is no room for 16-bit ones"
        )
    except DoesNotFit:
        return None


def _spread(entry: ModelEntry, choice: DeviceChoice, config: EngineConfig) -> Placement | None:
    """Over all GPUs, and what they cannot hold in RAM."""
    if choice.device.type != "cuda" or choice.format.path == "bitsandbytes":
        return None
    footprint = footprint_of(entry, choice.format, config.prefill_chunk, config.kv_dtype)
    context = min(config.max_context or _CONTEXT, footprint.context_limit)
    gpus = [_gpu(number) for number in range(torch.cuda.device_count())]
    rooms = rooms_for(footprint, gpus, measure_machine("cpu"), context, config)
    parts = split(entry.folder, choice.dtype, rooms)
    if parts is None or parts.in_ram > (1 - _LEAST_SHARE) * parts.total:
        return None
    whole = Machine("cuda", sum(gpu.total for gpu in gpus) + parts.in_ram, None, 0)
    planned = plan(footprint, whole, context=context, limits=limits_of(config))
    return Placement(choice, planned, parts.device_map, spread_words(parts))


def rooms_for(
    footprint: Footprint, gpus: list[Machine], ram: Machine, context: int, config: EngineConfig
) -> dict[int | str, int]:
    """Bytes for weights on each GPU, by its number, and in RAM ("cpu").

    Keys and values lie with the layer that made them, so each GPU keeps room for its share; the intermediate results
    of a prefill chunk come to each in turn.
    """
    share = config.memory_utilization
    cached = context * footprint.kv_bytes_per_token // max(1, len(gpus))
    worked = footprint.activations + footprint.activations_per_token * context + footprint.logits
    rooms: dict[int | str, int] = {
        number: max(0, allowance(gpu, share)[0] - cached - worked) for number, gpu in enumerate(gpus)
    }
    rooms["cpu"] = max(0, allowance(ram, None)[0] - ram.runtime)
    return rooms


def split(folder: Path, dtype: torch.dtype, rooms: Mapping[int | str, int]) -> Split | None:
    """Cut a model so that each part fits its room, in the order of the layers; None where even all rooms are too few.

    Only the model's configuration is read: its parameters are made without memory.

    Args:
        folder: The model folder.
        dtype: Of the weights.
        rooms: Bytes by place.
    """
    model = _hollow(folder, dtype)
    gpus = {place: room for place, room in rooms.items() if place != "cpu"}
    # With RAM in play accelerate keeps room on a GPU for what is moved in, so GPUs alone are tried without it.
    found = _cut(model, gpus, dtype) or _cut(model, rooms, dtype)
    if found is None:
        return None
    sizes = {name: weight.numel() * dtype.itemsize for name, weight in model.named_parameters()}
    in_ram = sum(size for name, size in sizes.items() if _place_of(name, found) == "cpu")
    return Split(found, in_ram, sum(sizes.values()))


def _cut(model: Any, rooms: Mapping[int | str, int], dtype: torch.dtype) -> DeviceMap | None:  # noqa: ANN401
    import accelerate

    found: dict[str, int | str] = accelerate.infer_auto_device_map(
        model, max_memory=dict(rooms), no_split_module_classes=getattr(model, "_no_split_modules", None), dtype=dtype
    )
    return None if "disk" in found.values() else found


def spread_words(parts: Split) -> str:
    """How a model was spread, and what that costs."""
    over = f"over {parts.gpus} GPUs" if parts.gpus > 1 else "on the GPU"
    if not parts.in_ram:
        return f"spread {over}, as one cannot hold it"
    return (
        f"{binary(parts.total - parts.in_ram)} of the weights {over}, {binary(parts.in_ram)} in RAM, which cross to it "
        f"for each token: about {parts.in_ram / _BUS:.1f} s a token more"
    )


def _hollow(folder: Path, dtype: torch.dtype) -> Any:  # noqa: ANN401
    """The model without its weights.

    Raises:
        UnsupportedModel: transformers has no such causal language model.
    """
    import accelerate
    import transformers

    make: Any = transformers.AutoConfig.from_pretrained
    build: Any = transformers.AutoModelForCausalLM.from_config
    try:
        with accelerate.init_empty_weights():
            model = build(make(folder, local_files_only=True, trust_remote_code=False), dtype=dtype)
    except ValueError as error:
        raise UnsupportedModel(
            f"The model {folder.name} has an architecture that is not supported.", str(error)
        ) from error
    model.tie_weights()
    return model


def _place_of(name: str, device_map: DeviceMap) -> int | str:
    """Where a parameter lies: with the longest part of its name that the map has."""
    parts = name.split(".")
    prefixes = (".".join(parts[:count]) for count in range(len(parts), -1, -1))
    return next(device_map[prefix] for prefix in prefixes if prefix in device_map)


def _gpu(number: int) -> Machine:
    free, total = torch.cuda.mem_get_info(number)
    return Machine("cuda", total, free + torch.cuda.memory_reserved(number), 0)
