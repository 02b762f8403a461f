"""Whether Qt can load what draws its windows: it would end the whole process where it cannot."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLibraryInfo

from engine.system_libraries import cannot_open, loader_words

_CHECKED: Final = frozenset({"xcb", "wayland", "offscreen"})  # any other is the person's own choice, and Qt's to judge


def trouble(environ: Mapping[str, str], folder: Path | None = None) -> str:
    """What to tell the person; empty where a window can be drawn, and always outside Linux.

    The plugin is loaded as Qt itself loads it a moment later, so that this takes no time of its own.

    Args:
        environ: Says which plugins Qt will try.
        folder: Of the plugins; None takes Qt's own.
    """
    if not sys.platform.startswith("linux") or "QT_QPA_PLATFORM_PLUGIN_PATH" in environ:
        return ""
    names = platforms(environ)
    if not _CHECKED.issuperset(names):
        return ""
    place = folder or _folder()
    refusals = []
    for name in names:
        refused = _refusal(place / f"libq{name}.so")
        if not refused:
            return ""
        refusals.append(refused)
    return cannot_open(refusals[-1])


def platforms(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The plugins that Qt tries, in order; the first that loads is taken."""
    wanted = environ.get("QT_QPA_PLATFORM", "")
    if wanted:
        return tuple(part.split(":")[0].removesuffix("-egl") for part in wanted.split(";"))
    return ("wayland", "xcb") if environ.get("WAYLAND_DISPLAY") else ("xcb",)


def _folder() -> Path:
    """Qt reads and writes paths in UTF-8, whatever the locale."""
    plugins = QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)
    return Path(os.fsdecode(plugins.encode("utf-8", "surrogateescape")), "platforms")


def _refusal(plugin: Path) -> str:
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return loader_words(error)
    return ""
