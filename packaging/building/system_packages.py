"""Which Debian packages a frozen program needs: read off its libraries, not listed by hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import system_libraries

from building import elf
from building.tree import files_of

_BASE: Final[Mapping[str, str]] = {
    "libstdc++.so.6": "libstdc++6",
    "libgcc_s.so.1": "libgcc-s1",
    "libdrm.so.2": "libdrm2",
    "libgbm.so.1": "libgbm1",
    "libOpenGL.so.0": "libopengl0",
    "libGLX.so.0": "libglx0",
    "libcups.so.2": "libcups2",
    "libz.so.1": "zlib1g",
    "libudev.so.1": "libudev1",
    "libexpat.so.1": "libexpat1",
    "libvulkan.so.1": "libvulkan1",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-dri3.so.0": "libxcb-dri3-0",
    "libXext.so.6": "libxext6",
    "libatomic.so.1": "libatomic1",
}
_GLIBC: Final = re.compile(r"(libc|libm|libdl|libpthread|librt|libutil|libresolv|ld-linux-[\w-]+)\.so\.\d+")
_ALTERNATIVES: Final = {"libglib2.0-0": "libglib2.0-0t64 | libglib2.0-0"}


class Unknown(Exception):
    """A library is needed that no Debian package is known for."""


def debian_packages(program: Path) -> tuple[str, ...]:
    """The packages that must be there for a frozen program, for the Depends line, sorted.

    Raises:
        Unknown: A library lies neither in the program nor in a package that is known here.
    """
    files = list(files_of(program))
    found = elf.needs(path for path in files if elf.is_elf(path))
    own = {path.name for path in files}
    outside = {name for needs in found.values() for name in needs.libraries} - own
    newest = max((needs.glibc for needs in found.values()), default=(0, 0))
    return packages_of(outside, newest)


def packages_of(libraries: Iterable[str], glibc: tuple[int, int]) -> tuple[str, ...]:
    """Debian's packages for some sonames and a version of glibc.

    Raises:
        Unknown: No package is known for one of them.
    """
    names = {f"libc6 (>= {glibc[0]}.{glibc[1]})"}
    unknown = []
    for library in libraries:
        package = _BASE.get(library) or system_libraries.ALL.get(library, ("",))[0]
        if package:
            names.add(_ALTERNATIVES.get(package, package))
        elif not _GLIBC.fullmatch(library):
            unknown.append(library)
    if unknown:
        raise Unknown(
            f"Name the Debian packages of {', '.join(sorted(unknown))} in packaging/building/system_packages.py."
        )
    return tuple(sorted(names))


def main(arguments: list[str]) -> int:
    """Print what the program in a folder needs; returns the exit code."""
    print("\n".join(debian_packages(Path(arguments[0]))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
