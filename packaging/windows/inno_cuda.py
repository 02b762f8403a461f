"""The setup program for machines with an NVIDIA GPU: the same, and where torch for it is to be had at the first start.

pip is asked, when the installer is made, which wheels it would take, from where and with which checksums, so that what
a person's machine fetches is what was there then. `engine/cuda_pack.py` reads the file. The frozen program has
bitsandbytes for processors alone, so the wheel with its CUDA libraries is among them.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from building.job import Job

from windows import inno

INDEX: Final = "LOQUAT_CUDA_INDEX"
"""The address of PyTorch's index of builds for CUDA; without it this setup program is not made."""
PYTHON: Final = "3.11"
_REPORT: Final = ("--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--quiet", "--report", "-")


def make(job: Job) -> Path:
    """Make the setup program; returns its file.

    Raises:
        SystemExit: No index is named, or pip finds nothing there.
    """
    index = os.environ.get(INDEX)
    if not index:
        raise SystemExit(f"{INDEX} is not set, so it is not known where torch for NVIDIA GPUs is to be had.")
    pins = job.project.dependencies
    reports = [
        ask(job.tools, pin(pins, "torch"), ["--index-url", index]),
        ask(job.tools, pin(pins, "bitsandbytes"), []),
    ]
    note = job.program / "cuda.json"
    note.write_text(json.dumps(source(reports, size_of), indent=2), encoding="utf-8")
    try:
        return inno.make(job, "-cuda")
    finally:
        note.unlink()  # the other setup program is for CPUs


def pin(dependencies: Sequence[str], name: str) -> str:
    """A package as pyproject.toml pins it."""
    return next(one for one in dependencies if one.startswith(f"{name}=="))


def ask(python: Path, requirement: str, options: Sequence[str]) -> dict[str, Any]:
    """What pip would install, as its report says; nothing is downloaded but the index.

    Raises:
        SystemExit: It finds nothing.
    """
    command = [str(python), "-m", "pip", "install", *_REPORT, *options, requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pip finds no {requirement} for this system: {done.stderr.strip()}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def source(reports: Sequence[Mapping[str, Any]], measure: Callable[[str], int]) -> dict[str, Any]:
    """What the program is told.

    Args:
        reports: pip's, that of torch first.
        measure: Gives the size of the file at an address.
    """
    found = [item for report in reports for item in report["install"]]
    wheels = [_wheel(item["download_info"], measure) for item in found]
    return {"torch": found[0]["metadata"]["version"], "python": PYTHON, "wheels": wheels}


def _wheel(info: Mapping[str, Any], measure: Callable[[str], int]) -> dict[str, Any]:
    address = info["url"]
    return {"address": address, "sha256": info["archive_info"]["hashes"]["sha256"], "nbytes": measure(address)}


def size_of(address: str) -> int:
    """Bytes of a file, over HTTPS."""
    asked = urllib.request.Request(address, method="HEAD")  # noqa: S310
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
        return int(answer.headers["Content-Length"])
