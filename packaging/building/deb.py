"""The Debian package, packed by nfpm: the program in /opt/loquat, `loquat` on the path, and what the desktop reads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Final

from building import desktop_files, system_packages, tree
from building.job import Job
from building.project import BUILD, DIST, HOMEPAGE, MAINTAINER, PACKAGE, PACKAGING, run

PLACE: Final = "/opt/loquat"
_SOURCES: Final = PACKAGING / "linux"
_DESCRIPTION: Final = """local chat that shows why it is as fast as it is
Loquat runs a language model on this machine and shows at every moment why it
is as fast or as slow as it is. A small model comes with it, so that the first
chat needs no network. Its own Python, Qt and torch lie in /opt/loquat."""
_CHANGELOG: Final = """loquat ({version}) unstable; urgency=medium

  * Version {version}; what changed is told in CHANGELOG.md of the source.

 -- {maintainer}  {time}
"""


def make(job: Job) -> Path:
    """Make the package; returns its file."""
    staging = BUILD / "deb"
    shutil.rmtree(staging, ignore_errors=True)
    write_tree(staging, job)
    settings = configuration(job, staging, system_packages.debian_packages(job.program))
    file = BUILD / "nfpm.json"
    file.write_text(json.dumps(settings, indent=2), encoding="utf-8")  # JSON is YAML
    target = DIST / f"{PACKAGE}_{job.project.version}_amd64.deb"
    nfpm = job.tools.with_name("nfpm")
    run(
        [str(nfpm), "package", "--packager", "deb", "--config", str(file), "--target", str(target)],
        SOURCE_DATE_EPOCH=str(job.epoch),
    )
    return target


def write_tree(staging: Path, job: Job) -> None:
    """Write what the package holds beside the program, as it will lie below /usr."""
    share = staging / "usr" / "share"
    desktop_files.write(share, job)
    documents = share / "doc" / PACKAGE
    _write(documents / "copyright", desktop_files.filled((_SOURCES / "copyright").read_text(encoding="utf-8"), job))
    desktop_files.zipped(documents / "changelog.gz", _changelog(job))
    overrides = (_SOURCES / "lintian-overrides").read_text(encoding="utf-8")
    _write(share / "lintian" / "overrides" / PACKAGE, overrides)
    tree.settle(staging, job.epoch)


def configuration(job: Job, staging: Path, packages: Iterable[str]) -> dict[str, Any]:
    """What nfpm is told.

    Args:
        job: What is packed.
        staging: As `write_tree` filled it.
        packages: Debian packages that must be there.
    """
    time = datetime.fromtimestamp(job.epoch, UTC).isoformat()
    contents = [
        {"src": str(job.program), "dst": PLACE, "type": "tree"},
        {"src": str(staging / "usr"), "dst": "/usr", "type": "tree"},
        {"src": f"{PLACE}/loquat", "dst": "/usr/bin/loquat", "type": "symlink"},
    ]
    return {
        "name": PACKAGE,
        "arch": "amd64",
        "platform": "linux",
        "version": job.project.version,
        "version_schema": "none",
        "section": "utils",
        "priority": "optional",
        "maintainer": MAINTAINER,
        "homepage": HOMEPAGE,
        "license": job.project.licence,
        "description": _DESCRIPTION,
        "depends": list(packages),
        "recommends": ["fonts-dejavu-core | fonts-noto-core | fonts-liberation2"],
        "suggests": ["gnome-keyring | kwalletmanager", "fonts-noto-cjk"],
        "mtime": time,
        "contents": contents,
        "deb": {"compression": "zstd"},
    }


def _changelog(job: Job) -> str:
    time = format_datetime(datetime.fromtimestamp(job.epoch, UTC))
    return _CHANGELOG.format(version=job.project.version, maintainer=MAINTAINER, time=time)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
