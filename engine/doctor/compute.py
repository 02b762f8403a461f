"""Which device answers and why, what the kernels use of the processor, and how much memory there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.doctor.report import Finding, Part
from engine.models.progress import megabytes

_LITTLE: Final = 1_000_000_000


def look_at_device() -> dict[str, Any]:
    """In a child process, since importing torch and Numba takes seconds: the device, and what the kernels can use."""
    import torch

    from engine.config import EngineConfig
    from engine.device import choose_device
    from engine.kernels.target import TARGET

    chosen = choose_device(EngineConfig())
    return {
        "device": chosen.device.type,
        "reason": chosen.reason,
        "format": chosen.format.words,
        "cuda_build": torch.version.cuda or "",
        "cuda": torch.cuda.is_available(),
        "instructions": _instructions(TARGET.x86, TARGET.lanes, vnni=TARGET.vnni, lacks=TARGET.missing),
        "missing": list(TARGET.missing),
    }


def device_part(found: Mapping[str, Any], cards: int, driver: bool, compiled: bool, *, fetchable: bool = False) -> Part:
    """Which device answers.

    Args:
        found: What `look_at_device` found, or {"failed": why}.
        cards: How many NVIDIA GPUs there are.
        driver: Whether their driver's library can be loaded.
        compiled: Whether the kernels of this version are kept on the disk.
        fetchable: Whether torch for NVIDIA GPUs can be had for this installation, and is not there yet.
    """
    if "failed" in found:
        # Reading torch for the first time can take minutes on a slow disk, beside a scanner for viruses say.
        advice = (
            "look once more, and if it stays so install Loquat again" if "late" in found else "install Loquat again"
        )
        sentence = f"The engine cannot be started ({found['failed']}), so nothing can be answered; {advice}."
        return Part("device", ("could not be found out",), {"nvidia_cards": cards}, (Finding(sentence),))
    lines = [f"{found['device']}: {found['reason']} · {found['format']}"]
    if found["device"] == "cpu":
        lines.append(_kernel_line(found, compiled))
    values = {**found, "nvidia_cards": cards, "nvidia_driver": driver, "kernels_compiled": compiled}
    return Part("device", tuple(lines), values, tuple(_device_findings(found, cards, driver, fetchable)))


def memory_part(total: int, available: int) -> Part:
    """How much memory there is; models themselves are planned for before they are loaded."""
    line = f"{megabytes(total)}, {megabytes(available)} of it free"
    sentence = f"Only {megabytes(available)} of memory are free; close other programs before you load a model."
    findings = (Finding(sentence),) if available < _LITTLE else ()
    return Part("memory", (line,), {"total": total, "available": available}, findings)


def _device_findings(found: Mapping[str, Any], cards: int, driver: bool, fetchable: bool) -> Iterator[Finding]:
    if found["missing"]:
        yield Finding(
            f"This processor lacks {', '.join(found['missing'])}, so answers are computed by torch and come slower.",
            wrong=False,
        )
    if found["cuda_build"] and not found["cuda"]:
        yield _without_cuda(cards, driver)
    elif fetchable and driver:
        sentence = "There is an NVIDIA GPU; the window offers to fetch what uses it, and so does `loquat cuda install`."
        yield Finding(sentence, wrong=False)
    elif cards and not found["cuda_build"]:
        sentence = "There is an NVIDIA GPU, but this build of Loquat computes on the processor; the CUDA build uses it."
        yield Finding(sentence, wrong=False)


def _without_cuda(cards: int, driver: bool) -> Finding:
    """Why a build for NVIDIA GPUs computes on the processor."""
    if not cards and not driver:
        sentence = "This is the build for NVIDIA GPUs, and there is none here: answers are computed on the processor."
        return Finding(sentence, wrong=False)
    if not driver:
        sentence = (
            "There is an NVIDIA GPU, but its driver is not installed, so answers are computed on the processor; "
            "install NVIDIA's driver and start Loquat again."
        )
        return Finding(sentence)
    return Finding(
        "NVIDIA's driver is installed, but the GPU cannot be used: the driver may be too old for this build, or was "
        "updated since the system started. Answers are computed on the processor; restart, or update the driver."
    )


def _kernel_line(found: Mapping[str, Any], compiled: bool) -> str:
    kernels = "compiled" if compiled else "compiled at the first start"
    return f"kernels: {found['instructions']} · {kernels}"


def _instructions(x86: bool, lanes: int, *, vnni: bool, lacks: tuple[str, ...]) -> str:
    """What the kernels use of the processor, in words."""
    if lacks:
        return "not for this processor"
    if not x86:
        return "64-bit ARM"
    return f"{'AVX-512' if lanes == 16 else 'AVX2, FMA, F16C'}{', VNNI' if vnni else ''}"
