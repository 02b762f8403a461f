"""How Loquat was installed, in which versions of what, and how a part of it is mended."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from engine.doctor.report import Finding, Part
from engine.explain.version import program_version
from engine.own_command import is_frozen
from engine.paths import appimage, portable_folder, program_folder
from engine.system_libraries import is_root, os_release

# What people call it -> the package that pip installs, and what Python imports.
_PACKAGES: Final = {
    "Qt": ("PySide6-Essentials", "PySide6"),
    "torch": ("torch", "torch"),
    "transformers": ("transformers", "transformers"),
    "numba": ("numba", "numba"),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
}
_DEBIAN: Final = Path("/var/lib/dpkg/info/loquat.list")


@dataclass(frozen=True, slots=True)
class Installation:
    """How this program was installed.

    Attributes:
        kind: "checkout", "deb", "appimage" or "folder".
        folder: Where it lies.
    """

    kind: str
    folder: Path

    def repair(self, package: str) -> str:
        """The command that brings a Python package of the program back; "" where only a new download does."""
        if self.kind == "checkout":
            python = shlex.quote(sys.executable) if os.name != "nt" else f'"{sys.executable}"'
            return f"{python} -m pip install --force-reinstall --no-deps {package}"
        if self.kind == "deb":
            return f"{'' if is_root() else 'sudo '}apt install --reinstall loquat"
        return ""


def installation(debian: Path = _DEBIAN) -> Installation:
    """How this program was installed.

    Args:
        debian: Where dpkg lists the files of the package.
    """
    if not is_frozen():
        return Installation("checkout", Path(__file__).parent.parent.parent)
    if appimage() is not None:
        return Installation("appimage", program_folder())
    program = str(Path(sys.executable).resolve())
    is_deb = debian.is_file() and program in debian.read_text(encoding="utf-8").splitlines()
    return Installation("deb" if is_deb else "folder", program_folder())


def program_part(how: Installation) -> Part:
    """Versions, and where the program lies."""
    versions = {"Loquat": program_version(), "Python": platform.python_version()}
    versions |= {name: _version(package) for name, (package, _) in _PACKAGES.items()}
    absent = [name for name, (_, module) in _PACKAGES.items() if not is_there(module)]
    portable = portable_folder()
    kinds = {"checkout": "a checkout", "deb": "the Debian package", "appimage": "an AppImage", "folder": "a folder"}
    lines = (
        " · ".join(f"{name} {version or '?'}" for name, version in versions.items()),
        f"{kinds[how.kind]} in {how.folder}",
        f"{_system()}, {platform.machine()}, display: {_display(os.environ) or 'none'}",
        *((f"portable: everything is kept in {portable}",) if portable else ()),
    )
    values = {
        "versions": versions,
        "kind": how.kind,
        "folder": str(how.folder),
        "system": _system(),
        "machine": platform.machine(),
        "display": _display(os.environ),
        "portable": str(portable) if portable else None,
    }
    findings = [_absent(name, how) for name in absent]
    if not _display(os.environ):
        sentence = "There is no display in this session, so no window opens; `loquat chat` works in the terminal."
        findings.append(Finding(sentence, wrong=False))
    return Part("program", lines, values, tuple(findings))


def is_there(module: str) -> bool:
    """Whether Python would find a package; it is not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _absent(name: str, how: Installation) -> Finding:
    sentence = f"{name} is missing from the installation; install it again."
    return Finding(sentence, how.repair(_PACKAGES[name][0]))


def _display(environment: Mapping[str, str]) -> str:
    """What a window would be drawn on; "" where there is nothing."""
    if sys.platform != "linux":
        return sys.platform
    wanted = environment.get("QT_QPA_PLATFORM", "").split(":")[0]
    found = "wayland" if environment.get("WAYLAND_DISPLAY") else "x11" if environment.get("DISPLAY") else ""
    return wanted or found


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _system() -> str:
    if sys.platform == "linux":
        fields = dict(line.split("=", 1) for line in os_release().splitlines() if "=" in line)
        name = "".join(shlex.split(fields.get("PRETTY_NAME", ""))) if fields.get("PRETTY_NAME") else "Linux"
        return f"{name}, Linux {platform.release()}"
    return f"{platform.system()} {platform.release()}"
