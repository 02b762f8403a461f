"""What the processor that Numba compiles for can do: read once, when the kernels are first imported."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Final

from numba.core import config
from numba.core.codegen import get_host_cpu_features


@dataclass(frozen=True, slots=True)
class Target:
    """The compile target as the kernels need to know it.

    Attributes:
        x86: Whether the instruction set is x86-64.
        vnni: Whether `vpdpbusd` exists (AVX-VNNI or AVX-512 VNNI).
        lanes: 32-bit numbers in the widest register that is worth using.
        missing: Instructions the kernels need and this processor lacks; empty when it can run them.
    """

    x86: bool
    vnni: bool
    lanes: int
    missing: tuple[str, ...]


def _read() -> Target:
    stated = getattr(config, "CPU_FEATURES")  # noqa: B009  Numba declares its settings at run time
    text = get_host_cpu_features() if stated is None else stated
    features = {part[1:] for part in text.split(",") if part.startswith("+")}
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    if not x86:
        # Every 64-bit ARM has the vector instructions that the generic code needs.
        arm = platform.machine().lower() in ("arm64", "aarch64")
        return Target(x86=False, vnni=False, lanes=4, missing=() if arm else ("64-bit ARM or x86-64",))
    wide = {"avx512f", "avx512bw", "avx512vl"} <= features
    vnni = "avxvnni" in features or (wide and "avx512vnni" in features)
    missing = tuple(name.upper() for name in ("avx2", "fma", "f16c") if name not in features)
    return Target(x86=True, vnni=vnni, lanes=16 if wide else 8, missing=missing)


TARGET: Final = _read()
