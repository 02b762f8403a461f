"""What the installers of every system share: where things lie, the version, the names, the time of the commit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGING: Final = ROOT / "packaging"
BUILD: Final = ROOT / "build"
DIST: Final = ROOT / "dist"

APP_ID: Final = "io.github.loquat_chat.Loquat"
"""Reverse-DNS name of the program: of its desktop file, its AppStream data and its icons, and of the macOS bundle."""
PACKAGE: Final = "loquat"
HOMEPAGE: Final = "https://github.com/loquat-chat/loquat"
MAINTAINER: Final = "The Loquat project <loquat-chat@users.noreply.github.com>"


@dataclass(frozen=True, slots=True)
class Project:
    """What pyproject.toml says of the program; its version is written down nowhere else.

    Attributes:
        distribution: Name of the Python distribution.
        version: Of the program and of every installer.
        summary: One line.
        licence: As an SPDX expression.
        dependencies: With their pins.
    """

    distribution: str
    version: str
    summary: str
    licence: str
    dependencies: tuple[str, ...]


def read_project(root: Path = ROOT) -> Project:
    """Read pyproject.toml."""
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(
        table["name"], table["version"], table["description"], table["license"], tuple(table["dependencies"])
    )


def source_date(root: Path = ROOT) -> int:
    """Seconds since 1970 that every file of a build carries: SOURCE_DATE_EPOCH, else the time of the commit.

    Raises:
        SystemExit: There is neither.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise SystemExit("This is no git checkout: set SOURCE_DATE_EPOCH to the seconds since 1970 of the release.")
    return int(done.stdout)


def lock_name() -> str:
    """Which lock belongs to this system and Python: "linux-x86_64-cp311", say."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
    return f"{system}-{machine}-cp{sysconfig.get_config_var('py_version_nodot')}"


def run(command: list[str], **environment: str) -> None:
    """Run a program to its end, with some variables set besides this process's own.

    Raises:
        SystemExit: It failed; the sentence names it.
    """
    print(f"+ {' '.join(command)}", flush=True)
    done = subprocess.run(command, check=False, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} ended with {done.returncode}; what it said is above.")
