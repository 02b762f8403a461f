"""What a Linux desktop reads of a program: menu entry, AppStream data, icons, manual page, licence."""

from __future__ import annotations

import gzip
import shutil
import string
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from building.job import Job
from building.project import APP_ID, HOMEPAGE, PACKAGING, ROOT

SIZES: Final = (16, 22, 24, 32, 48, 64, 128, 256, 512)
_SOURCES: Final = PACKAGING / "linux"
_DRAWING: Final = ROOT / "assets" / "icons" / "loquat.svg"


def write(share: Path, job: Job) -> None:
    """Write everything below a `share` folder, as the freedesktop standards place it."""
    entry = f"{APP_ID}.desktop"
    _copy(_SOURCES / entry, share / "applications" / entry)
    name = f"{APP_ID}.metainfo.xml"
    _write(share / "metainfo" / name, filled((_SOURCES / name).read_text(encoding="utf-8"), job))
    page = filled((_SOURCES / "loquat.1").read_text(encoding="utf-8"), job)
    zipped(share / "man" / "man1" / "loquat.1.gz", page)
    _write_icons(share / "icons" / "hicolor", job.icons)


def filled(text: str, job: Job) -> str:
    """A text with $version, $date and $homepage in it."""
    return string.Template(text).substitute(version=job.project.version, date=day(job.epoch), homepage=HOMEPAGE)


def day(epoch: int) -> str:
    """The date of some seconds since 1970, in UTC."""
    return datetime.fromtimestamp(epoch, UTC).date().isoformat()


def _write_icons(folder: Path, drawn: Path) -> None:
    for pixels in SIZES:
        _copy(drawn / f"{pixels}.png", folder / f"{pixels}x{pixels}" / "apps" / f"{APP_ID}.png")
    _copy(_DRAWING, folder / "scalable" / "apps" / f"{APP_ID}.svg")


def zipped(target: Path, text: str) -> None:
    """Write a text compressed, the same every time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
