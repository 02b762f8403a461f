"""What this machine can do, measured once for each model and kept on disk: values only, `measure` takes them."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.atomic import write_atomically
from engine.explain.codec import built, plain
from engine.explain.figures import ratio
from engine.explain.trace import ModelFacts

VERSION: Final = 2
FOLDER: Final = "profiles"  # below the cache folder
HEAD_DIM: Final = 128  # numbers of a head; attention to smaller ones takes as long


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """How fast a run of memory is read again and again.

    Attributes:
        nbytes: Its size.
        per_s: Bytes a second.
    """

    nbytes: int = 0
    per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class MachineProfile:
    """What a machine can do with one model while nothing else is going on. None where it could not be measured.

    Attributes:
        processor: The name of what computes.
        device: "cpu", "cuda" or "mps".
        threads: CPU threads that took part.
        format: How the weights are held, e.g. "int4".
        path: What computes, as in `ModelFacts`.
        bandwidths: Reading memory, smallest run first: a small one may stay in the processor's cache.
        matrix_rate: Operations a second while a prompt is read, two for each weight and token.
        step_s: Seconds of a decode step on a short conversation.
        step_bytes: Bytes of weights that it reads.
        layers: Of the model.
        row_s: Seconds that attention takes in a decode step for one key/value head of one layer and one token behind
            it, by the measure of heads of 128 numbers or fewer.
    """

    processor: str = ""
    device: str = ""
    threads: int = 0
    format: str = ""
    path: str = ""
    bandwidths: tuple[Bandwidth, ...] = ()
    matrix_rate: float | None = None
    step_s: float | None = None
    step_bytes: int = 0
    layers: int = 0
    row_s: float | None = None

    def read_bandwidth(self, nbytes: int) -> float | None:
        """Bytes a second at which so many bytes are read again and again.

        What a larger run reached a smaller one can reach too, however the measurement was disturbed.
        """
        usable = [each for each in self.bandwidths if each.per_s > 0]
        enough = [each.per_s for each in usable if each.nbytes >= nbytes]
        return max(enough) if enough else usable[-1].per_s if usable else None

    @property
    def overhead_s(self) -> float | None:
        """Seconds of a decode step beyond reading the weights; not below 0."""
        reading = ratio(self.step_bytes, self.read_bandwidth(self.step_bytes))
        return None if self.step_s is None or reading is None else max(0.0, self.step_s - reading)


def profile_path(cache_folder: Path, facts: ModelFacts, processor: str) -> Path:
    """Where the profile of a model on this machine is kept."""
    about = (VERSION, facts.version, processor, facts.device, facts.threads)
    model = (facts.name, facts.dtype, facts.kv_dtype, facts.path)
    name = hashlib.sha256(repr((about, model)).encode()).hexdigest()[:24]
    return cache_folder / FOLDER / f"{name}.json"


def load_profile(path: Path) -> MachineProfile | None:
    """The profile that was kept, None if there is none or it cannot be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return built(MachineProfile, data) if isinstance(data, dict) and data.get("version") == VERSION else None


def save_profile(profile: MachineProfile, path: Path) -> None:
    """Keep a profile.

    Raises:
        OSError: The folder cannot be written.
    """
    write_atomically(path, json.dumps(plain(profile) | {"version": VERSION}))


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The CPU's name."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()
