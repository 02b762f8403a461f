"""What Windows shows of the program's file: its version and its maker, as PyInstaller reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from building.project import BUILD, Project

FILE: Final = BUILD / "version.txt"
_ENGLISH: Final = ("040904B0", "[1033, 1200]")
_TEXT: Final = """VSVersionInfo(
  ffi=FixedFileInfo(
    filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0x0, OS=0x40004, fileType=0x1, subtype=0x0
  ),
  kids=[
    StringFileInfo([StringTable({table!r}, [
      StringStruct("CompanyName", "The Loquat project"),
      StringStruct("FileDescription", "Loquat"),
      StringStruct("FileVersion", {version!r}),
      StringStruct("LegalCopyright", {licence!r}),
      StringStruct("OriginalFilename", "loquat.exe"),
      StringStruct("ProductName", "Loquat"),
      StringStruct("ProductVersion", {version!r}),
    ])]),
    VarFileInfo([VarStruct("Translation", {language})]),
  ],
)
"""


def write(project: Project, file: Path = FILE) -> Path:
    """Write it; returns the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    table, language = _ENGLISH
    text = _TEXT.format(
        numbers=numbers(project.version),
        table=table,
        version=project.version,
        licence=project.licence,
        language=language,
    )
    file.write_text(text, encoding="utf-8")
    return file


def numbers(version: str) -> tuple[int, int, int, int]:
    """Four numbers, whatever else a version has: (0, 2, 0, 0) of "0.2.0rc1"."""
    found = [int(part) for part in re.findall(r"\d+", re.match(r"[\d.]*", version)[0])]  # type: ignore[index]
    first, second, third, fourth, *_ = (*found, 0, 0, 0, 0)
    return first, second, third, fourth
