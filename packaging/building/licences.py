"""The licence texts of everything that is shipped, in one folder: `licences/NAME-VERSION/` of the program.

Most distributions bring theirs; those that do not have them in packaging/licences.
`PYTHON -m building.licences FOLDER` in packaging/, with the Python of a build environment.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Final

from building.lock import plain_name
from building.project import BUILD, PACKAGING, run
from building.sbom import BUILD_ONLY

FOLDER: Final = "licences"
TEXTS: Final = PACKAGING / FOLDER
ADDED: Final[Mapping[str, tuple[str, ...]]] = {
    "certifi": ("MPL-2.0",),
    "latex2mathml": ("latex2mathml",),
    "pyside6-essentials": ("LGPL-3.0-only", "GPL-3.0-only"),
    "sentencepiece": ("Apache-2.0",),
    "shiboken6": ("LGPL-3.0-only", "GPL-3.0-only"),
    "tokenizers": ("Apache-2.0",),
    "tqdm": ("MPL-2.0",),
}
"""Distributions without a text, or with one that only names another: the SPDX ids of the texts in packaging/licences.

A licence whose text has the holder's name in it is there under the distribution's name. Qt's comes with PySide6: the
LGPL is a supplement to the GPL, so that both are needed.
"""
_NAMED: Final = re.compile(r"(licen[cs]e|copying|copyright|notice|authors)", re.IGNORECASE)
_CODE: Final = frozenset({".py", ".pyc", ".pyi", ".h", ".so", ".pyd"})


def provide(python: Path) -> Path:
    """The folder with the texts, gathered anew.

    Args:
        python: Of the build environment.
    """
    folder = BUILD / FOLDER
    run([str(python), "-P", "-m", "building.licences", str(folder)], PYTHONPATH=str(PACKAGING))
    return folder


def shipped(distributions: Iterable[metadata.Distribution]) -> list[metadata.Distribution]:
    """Those of an environment that go into the program, sorted."""
    kept = [one for one in distributions if plain_name(one.name) not in BUILD_ONLY]
    return sorted(kept, key=lambda one: plain_name(one.name))


def texts(distributions: Iterable[metadata.Distribution]) -> dict[str, Path]:
    """Every text: its place below the folder, and where it is taken from.

    Raises:
        SystemExit: Nothing is known of a distribution's licence; the sentence names it.
    """
    found: dict[str, Path] = {}
    bare = []
    for distribution in distributions:
        name = plain_name(distribution.name)
        own = {**_own(distribution), **{f"{text}.txt": TEXTS / f"{text}.txt" for text in ADDED.get(name, ())}}
        found |= {f"{name}-{distribution.version}/{place}": source for place, source in own.items()}
        if not ADDED.get(name) and not any(map(_is_its_licence, distribution.files or ())):
            bare.append(name)
    if bare:
        raise SystemExit(
            f"No licence text is there for {', '.join(bare)}: put it into packaging/licences and name it in ADDED of "
            "packaging/building/licences.py."
        )
    return found


def python_licence() -> Path:
    """The licence of the Python that runs this.

    Raises:
        SystemExit: It came without.
    """
    beside = [Path(sysconfig.get_path("stdlib")), Path(sys.base_prefix)]  # the second on Windows
    for file in [folder / "LICENSE.txt" for folder in beside]:
        if file.is_file():
            return file
    raise SystemExit(
        f"No licence text is there for Python: LICENSE.txt is in neither of {', '.join(map(str, beside))}."
    )


def copy(folder: Path, wanted: Mapping[str, Path]) -> None:
    """Copy texts to their places below a folder."""
    for place, source in sorted(wanted.items()):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / place)


def _own(distribution: metadata.Distribution) -> dict[str, Path]:
    """The texts that a distribution brings, by their place; where one is there twice that of its metadata holds."""
    files = sorted((_place(path), not _in_metadata(path), path) for path in distribution.files or ())
    wanted = {place: path for place, _, path in reversed(files) if place}
    return {place: Path(str(distribution.locate_file(path))) for place, path in wanted.items()}


def _place(path: PurePosixPath) -> str:
    """Where a file goes that is a licence's text; "" for any other."""
    parts = [part for part in path.parts if part != ".."]  # files beside the library, such as share/
    if _in_metadata(path):
        inner = parts[1:]
        if inner[:1] == ["licenses"]:
            return "/".join(inner[1:])
        parts = inner
    is_text = _NAMED.match(path.name) and path.suffix not in _CODE
    return "/".join(parts) if is_text else ""


def _is_its_licence(path: PurePosixPath) -> bool:
    """Whether this is the licence of the distribution itself: others are of what it has copied, or name people only."""
    return _in_metadata(path) and bool(_place(path)) and not path.name.lower().startswith(("authors", "notice"))


def _in_metadata(path: PurePosixPath) -> bool:
    return path.parts[0].endswith(".dist-info")


def _all() -> Iterator[tuple[str, Path]]:
    yield from texts(shipped(metadata.distributions())).items()
    yield f"cpython-{platform.python_version()}/LICENSE.txt", python_licence()


def main(arguments: list[str]) -> int:
    """Gather the texts of this environment in the folder named; returns the exit code."""
    folder = Path(arguments[0])
    shutil.rmtree(folder, ignore_errors=True)
    copy(folder, dict(_all()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
