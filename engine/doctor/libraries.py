"""Whether Qt's libraries can be loaded, and which command brings what is missing. Qt itself is not imported."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import struct
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from engine.doctor.program import Installation
from engine.doctor.report import Finding, Part
from engine.system_libraries import install_command, is_root, loader_words, missing, os_release

_MODULES: Final = ("QtCore", "QtGui", "QtWidgets", "QtNetwork", "QtSvg")
_PACKAGE: Final = "PySide6-Essentials"
_CULPRIT: Final = re.compile(r"((?:[^:]*/)?)([^\s:/]+): ")  # as the loader's messages begin: where, and what
_OWN: Final = re.compile(r"(lib)?(Qt|pyside6|shiboken6|icu)", re.IGNORECASE)
_OLD_SYSTEM: Final = re.compile(r"version `(GLIBC\w*_[\d.]+)' not found")


def look_at_libraries() -> dict[str, Any]:
    """In a child process: which libraries the system lacks, and which of Qt's files cannot be loaded and why."""
    folder = _folder("PySide6")
    system = missing(os.environ)
    if folder is None:
        return {"qt": "", "system": system, "refused": []}
    refused = [[file.name, "cut off"] for file in _cut_off(folder)]
    if refused:  # which would crash the loader
        return {"qt": str(folder), "system": system, "refused": refused}
    _tell_loader(folder)
    for file in _files(folder, os.environ):
        try:
            ctypes.CDLL(str(file))
        except OSError as error:
            refused.append([file.name, loader_words(error)])
    return {"qt": str(folder), "system": system, "refused": refused}


def libraries_part(found: Mapping[str, Any], installation: Installation, release: str | None = None) -> Part:
    """What the look at the libraries comes to.

    Args:
        found: What `look_at_libraries` found, or {"failed": why}.
        installation: How this program was installed.
        release: The text of /etc/os-release; None reads it.
    """
    if "failed" in found:
        sentence = f"Qt's libraries could not be looked at ({found['failed']}): the window may not open."
        return Part("libraries", ("could not be looked at",), {}, (Finding(sentence, installation.repair(_qt_pin())),))
    findings = tuple(_findings(found, installation, os_release() if release is None else release))
    wrong = sorted({*found["system"], *(name for name, _ in found["refused"])})
    line = f"missing or broken: {', '.join(wrong)}" if wrong or not found["qt"] else "Qt finds all that it needs"
    line = line if found["qt"] else "Qt is not installed"
    return Part("libraries", (line,), {"missing": found["system"], "refused": found["refused"]}, findings)


def _findings(found: Mapping[str, Any], installation: Installation, release: str) -> Iterator[Finding]:
    if not found["qt"]:
        yield Finding("Qt (PySide6) is not installed, so no window can open.", installation.repair(_qt_pin()))
    absent, broken, older = _sorted_out(found)
    if absent:
        sentence = f"Qt needs system libraries that are missing or damaged: {', '.join(absent)}; install them."
        yield Finding(sentence, install_command(absent, release, is_root()))
    if broken:
        sentence = f"Files that came with Loquat are missing or damaged: {', '.join(broken)}; install them again."
        yield Finding(sentence, installation.repair(_qt_pin()))
    if older:
        yield Finding(f"This system is too old for Loquat's Qt, which needs {', '.join(older)}; use a newer system.")


def _sorted_out(found: Mapping[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Libraries of the system that are absent, own files that are absent or damaged, what the system is too old for."""
    absent, broken, older = set(found["system"]), set(), set()
    for name, error in found["refused"]:
        version, culprit = _OLD_SYSTEM.search(error), _CULPRIT.match(error)
        if version:
            older.add(version[1])
        elif culprit is None or culprit[2] == name:
            broken.add(name)
        elif _OWN.match(culprit[2]) or _came_along(culprit[1], found["qt"]):
            broken.add(culprit[2])
        else:
            absent.add(culprit[2])
    return sorted(absent - broken), sorted(broken), sorted(older)


def _came_along(folder: str, qt: str) -> bool:
    """Whether a library lies in the installed program, which brings most of the system's libraries with it."""
    return bool(folder) and Path(qt).parent in (Path(folder), *Path(folder).parents)


def _files(folder: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """What a window loads: the modules, and on Linux the plugin that draws it."""
    for module in _MODULES:
        yield next(iter(sorted(folder.glob(f"{module}.*.so")) + sorted(folder.glob(f"{module}*.pyd"))), folder / module)
    if sys.platform == "linux":
        yield from (_plugins(folder) / f"lib{name}.so" for name in _platforms(environ))


def _tell_loader(folder: Path) -> None:
    """Tell the loader of Windows where Qt's libraries lie, as PySide6 does when it is imported."""
    if sys.platform == "win32":
        for place in (folder, folder.parent / "shiboken6"):
            if place.is_dir():
                os.add_dll_directory(str(place))


def _cut_off(folder: Path) -> Iterator[Path]:
    """Qt's libraries that are not whole; on Linux alone, since those of other systems are told by their loaders."""
    if sys.platform == "linux":
        libraries = [*folder.rglob("*.so*"), *folder.parent.glob("libQt6*.so*")]  # the latter in a frozen program
        yield from (file for file in sorted(libraries) if _is_cut_off(file))


def _is_cut_off(file: Path) -> bool:
    """Whether a library of Linux ends before its own header says so, or has none."""
    with file.open("rb") as binary:
        head = binary.read(64)
    if len(head) < 64 or head[:4] != b"\x7fELF":
        return True
    (table,), (size, count) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<HH", head, 58)
    return bool(file.stat().st_size < table + size * count)


def _plugins(folder: Path) -> Path:
    return folder / "Qt" / "plugins" / "platforms"


def _platforms(environ: Mapping[str, str]) -> tuple[str, ...]:
    wanted = environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    if wanted in ("offscreen", "xcb", "wayland"):
        return (f"q{wanted}",)
    return ("qwayland", "qxcb") if environ.get("WAYLAND_DISPLAY") else ("qxcb",)


def _folder(package: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)  # which does not import it
    except ImportError:
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def _qt_pin() -> str:
    try:
        return f"{_PACKAGE}=={metadata.version(_PACKAGE)}"
    except metadata.PackageNotFoundError:
        return _PACKAGE
