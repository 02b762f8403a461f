"""The archive for every Linux: the program's folder, packed the same way each time."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import Final

from building.job import Job
from building.project import DIST, PACKAGE

# Two threads whatever the machine has: with another number the same input gives other bytes.
_COMPRESS: Final = ("zstd", "-12", "--long=27", "--threads=2", "--quiet", "--force")


def make(job: Job) -> Path:
    """Make the archive; returns its file."""
    name = f"{PACKAGE}-{job.project.version}"
    target = DIST / f"{name}-linux-x86_64.tar.zst"
    pack(job.program, name, target, job.epoch)
    return target


def pack(folder: Path, name: str, target: Path, epoch: int) -> None:
    """Pack a folder.

    Args:
        folder: What is packed.
        name: What it is called in the archive.
        target: The file.
        epoch: Seconds since 1970 of everything in it.
    """

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = epoch
        return member

    with subprocess.Popen([*_COMPRESS, "-o", str(target)], stdin=subprocess.PIPE) as child:
        with tarfile.open(fileobj=child.stdin, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            archive.add(folder, name, filter=plain)  # tarfile goes through a folder in the order of its names
        if child.stdin is not None:
            child.stdin.close()
    if child.returncode:
        raise SystemExit(f"zstd ended with {child.returncode} while it wrote {target.name}.")
