"""The setup program for machines with an NVIDIA GPU: the same, and where torch for it is to be had at the first start.

The wheel's address and checksum are read from the page of PyTorch's index when the installer is made, so that what a
person's machine fetches is what was there then. `engine/cuda_pack.py` reads the file.
"""

from __future__ import annotations

import html
import json
import re
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Final

from building.job import Job

from windows import inno

INDEX: Final = "https://download.pytorch.org/whl/cu130/torch/"
_TAG: Final = "cp311-cp311-win_amd64"
_LINK: Final = re.compile(r'<a href="([^"]+)#sha256=([0-9a-f]{64})"')


def make(job: Job) -> Path:
    """Make the setup program; returns its file.

    Raises:
        SystemExit: The index lacks the wheel.
    """
    note = job.program / "cuda.json"
    note.write_text(json.dumps(source(read(INDEX), torch_version(job)), indent=2), encoding="utf-8")
    try:
        return inno.make(job, "-cuda")
    finally:
        note.unlink()  # the other setup program is for CPUs


def torch_version(job: Job) -> str:
    """The pin of torch in pyproject.toml."""
    return next(pin.removeprefix("torch==") for pin in job.project.dependencies if pin.startswith("torch=="))


def source(page: str, version: str, index: str = INDEX) -> dict[str, Any]:
    """What the program is told, found on a page of the index.

    Args:
        page: Its HTML.
        version: Of torch, without what stands behind a plus.
        index: The page's address.
    """
    for address, sha256 in _LINK.findall(page):
        whole = urllib.parse.urljoin(index, html.unescape(address))
        name = urllib.parse.unquote(whole.rpartition("/")[2])
        match = re.fullmatch(rf"torch-({re.escape(version)}\+cu\d+)-{_TAG}\.whl", name)
        if match:
            wheel = {"address": whole, "sha256": sha256, "nbytes": size_of(whole)}
            return {"torch": match[1], "python": "3.11", "wheels": [wheel]}
    raise SystemExit(f"{index} has no torch {version} for Windows and Python 3.11.")


def read(address: str) -> str:
    """A page of the index."""
    with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - INDEX, over HTTPS
        return str(answer.read().decode("utf-8"))


def size_of(address: str) -> int:
    """Bytes of a file of the index."""
    asked = urllib.request.Request(address, method="HEAD")  # noqa: S310
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
        return int(answer.headers["Content-Length"])
