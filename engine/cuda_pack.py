"""torch for NVIDIA GPUs beside a program that was built for CPUs: where it comes from, where it lies, how it is taken.

An installer for machines with an NVIDIA GPU brings a small file, `cuda.json`, in place of gigabytes: addresses and
checksums of the wheels. Once the person asked for them and they were unpacked, they stand in front of the program's own
torch. Torch-free; nothing here goes online (`engine.cuda_download` does).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.own_command import is_frozen
from engine.paths import Paths, program_folder

SOURCE: Final = "cuda.json"
COMPLETE: Final = "complete.json"
"""Written last into the unpacked folder; without it the folder is none."""
_FOLDER: Final = "torch-cuda"
_HTTPS: Final = "https://"


@dataclass(frozen=True, slots=True)
class Wheel:
    """One file to fetch.

    Attributes:
        address: Over HTTPS.
        sha256: Of the file, in hex.
        nbytes: Its size.
    """

    address: str
    sha256: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class CudaSource:
    """What the installer says of torch for NVIDIA GPUs.

    Attributes:
        version: Of torch, e.g. "2.13.0+cu130".
        python: The only Python that the wheels are for, e.g. "3.11".
        wheels: All that is needed.
    """

    version: str
    python: str
    wheels: tuple[Wheel, ...]

    @property
    def nbytes(self) -> int:
        """To be fetched."""
        return sum(wheel.nbytes for wheel in self.wheels)


def read_source(folder: Path | None = None) -> CudaSource | None:
    """What came with the program; None where it is a build for CPUs alone, or for another Python.

    Args:
        folder: Where the program lies; None for this one.
    """
    try:
        value = json.loads(((folder or program_folder()) / SOURCE).read_text(encoding="utf-8"))
        source = CudaSource(str(value["torch"]), str(value["python"]), tuple(map(_wheel, value["wheels"])))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    usable = source.wheels and all(wheel.address.startswith(_HTTPS) for wheel in source.wheels)
    return source if usable and source.python == _python() else None


def pack_folder(paths: Paths) -> Path:
    """Where the unpacked wheels lie."""
    return paths.data / _FOLDER


def unpacked_version(paths: Paths) -> str:
    """Which torch for NVIDIA GPUs is there for this Python; "" for none."""
    try:
        value = json.loads((pack_folder(paths) / COMPLETE).read_text(encoding="utf-8"))
        there = (pack_folder(paths) / "torch" / "__init__.py").is_file()
        return str(value["torch"]) if there and value["python"] == _python() else ""
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def take(paths: Paths) -> bool:
    """Put it in front of the program's own torch; to be called before torch is imported. Whether it was there."""
    if not is_frozen() or not unpacked_version(paths):
        return False
    sys.path.insert(0, str(pack_folder(paths)))
    return True


def _wheel(value: Mapping[str, Any]) -> Wheel:
    return Wheel(str(value["address"]), str(value["sha256"]).lower(), int(value["nbytes"]))


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
