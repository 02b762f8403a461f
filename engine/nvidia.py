"""NVIDIA's cards and their driver, as the system sees them. No torch: asked also where that cannot be imported."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Final

_DEVICES: Final = Path("/sys/bus/pci/devices")
_NVIDIA: Final = "0x10de"
_DISPLAYS: Final = "0x03"  # the PCI class of graphics cards


def nvidia_cards(devices: Path = _DEVICES) -> int:
    """How many NVIDIA GPUs the kernel of Linux sees, with a driver or without one; 0 on other systems."""
    return sum(
        _first_word(device / "vendor") == _NVIDIA and _first_word(device / "class").startswith(_DISPLAYS)
        for device in devices.glob("*")
    )


def nvidia_driver() -> bool:
    """Whether the library of NVIDIA's driver can be loaded."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def _first_word(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
