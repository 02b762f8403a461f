"""What was built: what each part weighs, whether that keeps what was promised, and checksums of everything in dist/."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from building import sizes, tree
from building.project import DIST

SUMS: Final = "SHA256SUMS"


def write(program: Path, made: Iterable[Path]) -> None:
    """Write the report beside what was made.

    Raises:
        SystemExit: Something weighs more than was promised.
    """
    of_program = sizes.measure(program)
    (DIST / "sizes.json").write_text(of_program.json(), encoding="utf-8")
    (DIST / "sizes.txt").write_text(of_program.table() + "\n", encoding="utf-8")
    print(of_program.table())
    files = [path for path in made if path.is_file()]
    for path in files:
        print(f"{path.stat().st_size / 1e6:9.1f} MB  {path.name}")
    checksums(DIST)
    packages = {path.name: path.stat().st_size for path in files if path.suffix == ".deb"}
    if too_large := oversized(of_program.nbytes, packages):
        raise SystemExit(too_large)


def checksums(folder: Path) -> Path:
    """Write the SHA-256 of every file in a folder, in the form that `sha256sum --check` reads; returns the file."""
    target = folder / SUMS
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path != target]
    target.write_text("".join(f"{tree.sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")
    return target


def oversized(nbytes: int, packages: dict[str, int]) -> str:
    """What is larger than promised, in a sentence; empty if nothing is."""
    if nbytes > sizes.INSTALLED_LIMIT:
        return f"The program weighs {nbytes / 1e6:.0f} MB, more than {sizes.INSTALLED_LIMIT / 1e6:.0f} MB."
    for name, of in packages.items():
        if of > sizes.PACKAGE_LIMIT:
            return f"{name} weighs {of / 1e6:.0f} MB, more than {sizes.PACKAGE_LIMIT / 1e6:.0f} MB."
    return ""
