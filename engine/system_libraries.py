"""Which system libraries Qt needs for a window on Linux, and how each distribution calls them.

The Qt wheel brings its own libraries but leaves these to the system; which ones was read off the NEEDED entries of
QtGui and of the xcb and wayland platform plugins. Standard library only, and nothing of Loquat: a checkout loads this
file by its path before its environment exists.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

# Library to load -> package names for (Debian and Ubuntu, Fedora, Arch).
CORE = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl", "libglvnd"),
    "libGL.so.1": ("libgl1", "libglvnd-glx", "libglvnd"),
    "libX11.so.6": ("libx11-6", "libX11", "libx11"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype", "freetype2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs", "dbus"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2", "glib2"),
    "libzstd.so.1": ("libzstd1", "libzstd", "zstd"),
}
XCB = {
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb", "libx11"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    "libxcb.so.1": ("libxcb1", "libxcb", "libxcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util", "xcb-util"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb", "libxcb"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb", "libxcb"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb", "libxcb"),
}
WAYLAND = {
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client", "wayland"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor", "wayland"),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl", "wayland"),
}
ALL = {**CORE, **XCB, **WAYLAND}
INSTALLERS = {
    "debian": (0, "apt install"),
    "ubuntu": (0, "apt install"),
    "fedora": (1, "dnf install"),
    "rhel": (1, "dnf install"),
    "arch": (2, "pacman -S --needed"),
}
OS_RELEASE = Path("/etc/os-release")


def wanted(environ: Mapping[str, str]) -> dict[str, tuple[str, str, str]]:
    """The libraries that this session's kind of display needs."""
    platform = environ.get("QT_QPA_PLATFORM", "wayland" if environ.get("WAYLAND_DISPLAY") else "xcb").split(":")[0]
    return {**CORE, **(XCB if platform == "xcb" else {}), **(WAYLAND if platform.startswith("wayland") else {})}


def missing(environ: Mapping[str, str]) -> list[str]:
    """The libraries that the loader does not find; always none outside Linux."""
    return [name for name in wanted(environ) if not _loads(name)] if sys.platform == "linux" else []


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def loader_words(error: ImportError | OSError) -> str:
    """What the loader of libraries says, with the paths in it as people write them.

    An import decodes its words by the locale, which without LANG knows ASCII alone, even in UTF-8 mode.
    """
    words = str(error.__cause__ or error)  # PyInstaller's ctypes says nothing itself
    return words.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def cannot_open(words: str) -> str:
    """What to tell a person who gets no window."""
    return f"The window cannot be opened: {words}. `loquat doctor` says what to do about it."


def distributions(os_release: str) -> list[str]:
    """The distribution's own id and those it is like, from the text of /etc/os-release, nearest first."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    return [word for key in ("ID", "ID_LIKE") for word in "".join(shlex.split(fields.get(key, ""))).lower().split()]


def advice(libraries: Iterable[str], os_release: str, root: bool) -> str:
    """One or two sentences that name what is missing and the command that installs it."""
    libraries = list(libraries)
    found = f"Qt needs system libraries that are not here: {', '.join(libraries)}."
    command = install_command(libraries, os_release, root)
    if command:
        return f"{found} Install them with: {command}"
    names = sorted({ALL[library][0] for library in libraries if library in ALL})
    return f"{found} Debian calls the packages {' '.join(names)}." if names else found


def install_command(libraries: Iterable[str], os_release: str, root: bool) -> str:
    """What installs libraries on the distribution that this is; "" where one of the two is unknown."""
    known = [ALL[library] for library in libraries if library in ALL]
    name = next((name for name in distributions(os_release) if name in INSTALLERS), None)
    if name is None or not known:
        return ""
    column, command = INSTALLERS[name]
    return f"{'' if root else 'sudo '}{command} {' '.join(sorted({packages[column] for packages in known}))}"


def os_release() -> str:
    """What this distribution says of itself."""
    return OS_RELEASE.read_text(encoding="utf-8", errors="replace") if OS_RELEASE.exists() else ""


def complaint() -> str:
    """What to tell the person about this machine; empty if nothing is missing."""
    absent = missing(os.environ)
    return advice(absent, os_release(), is_root()) if absent else ""


def is_root() -> bool:
    """Whether no "sudo" is needed."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def debian_packages() -> list[str]:
    """Debian's and Ubuntu's names of all packages."""
    return sorted({names[0] for names in ALL.values()})
