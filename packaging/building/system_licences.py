"""The licence texts of the system's libraries that PyInstaller brought along: on Linux, as Debian's packages have them.

On Windows and macOS none is taken from the system. `python3 -m building.system_licences PROGRAM FOLDER` in packaging/.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from building import licences

_DOCUMENTS: Final = Path("/usr/share/doc")
_COMMON: Final = Path("/usr/share/common-licenses")
_MENTIONED: Final = re.compile(rf"{_COMMON}/([A-Za-z0-9.+-]*[A-Za-z0-9])")
_QUERY: Final = "dpkg-query"


def add(folder: Path, libraries: Path) -> None:
    """Put the texts of the libraries that lie in a program's library folder beside the others.

    Args:
        folder: Where the texts lie.
        libraries: What PyInstaller takes from the system lies here, not deeper; links lead to what wheels brought.
    """
    files = [path.name for path in libraries.glob("lib*.so*") if not path.is_symlink()]
    names = sorted(name for name in files if not name.startswith("libpython"))  # its text comes with Python
    if names and sys.platform == "linux":
        licences.copy(folder, texts(names))


def texts(names: Iterable[str]) -> dict[str, Path]:
    """The texts of the packages that libraries of these names come from and those that they mention, by their place.

    Raises:
        SystemExit: A package came without.
    """
    if shutil.which(_QUERY) is None:
        print("This is no Debian, so the licences of the system's libraries are not added.", flush=True)
        return {}
    owners = _owners(names)
    for name in sorted(set(names) - owners.keys()):
        print(f"No package of this system has {name}, so its licence is not added.", flush=True)
    found = {}
    for package, version in _versions(sorted(set(owners.values()))):
        file = _DOCUMENTS / package / "copyright"
        if not file.is_file():
            raise SystemExit(f"No licence text is there for {package}: install the package again with its {file}.")
        found[f"{package}-{version}/copyright"] = file
    mentioned = [_MENTIONED.findall(file.read_text(encoding="utf-8", errors="replace")) for file in found.values()]
    common = {name: _COMMON / name for every in mentioned for name in every}
    return found | {f"common-licenses/{name}.txt": file for name, file in common.items() if file.is_file()}


def _owners(names: Iterable[str]) -> dict[str, str]:
    """The package of each library, where there is one: dpkg writes "zlib1g:amd64: /lib/x86_64-linux-gnu/libz.so.1"."""
    lines = _asked("--search", *[f"*/{name}" for name in names]).splitlines()
    said = [line.rpartition(": ") for line in lines if not line.startswith("diversion ")]
    return {Path(path).name: package.partition(",")[0].partition(":")[0] for package, _, path in said}


def _versions(packages: Iterable[str]) -> list[tuple[str, str]]:
    lines = _asked("--show", "--showformat=${Package} ${Version}\n", *packages).splitlines()
    return sorted((package, version.replace(":", "%3a")) for package, version in (line.split() for line in set(lines)))


def _asked(*arguments: str) -> str:
    """What dpkg says; it ends with 1 where it does not know one of many."""
    done = subprocess.run([_QUERY, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"{_QUERY} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def main(arguments: list[str]) -> int:
    """Add the texts of the libraries in the first folder to the second; returns the exit code."""
    add(Path(arguments[1]), Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
