"""What goes into the frozen program besides the code that PyInstaller finds by itself: read by loquat.spec."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from building import trim
from building.project import APP_ID, BUILD, Project, read_project

_MODEL_FOLDER: Final = "models"
_METADATA: Final = (
    *(
        "torch",
        "numpy",
        "numba",
        "llvmlite",
        "transformers",
        "tokenizers",
        "huggingface_hub",
        "safetensors",
        "accelerate",
    ),
    *("PySide6-Essentials", "openai", "keyring", "bitsandbytes", "llguidance", "fastapi", "pydantic"),
)
# Formulas are drawn with fonts and a table of symbols that lie in their packages.
_WITH_DATA: Final = ("app", "engine", "latex2mathml", "ziafont", "ziamath")
_LINES: Final = "Metadata-Version: 2.4\nName: {}\nVersion: {}\nSummary: {}\nLicense-Expression: {}\n"


@dataclass(frozen=True, slots=True)
class Plan:
    """What loquat.spec hands to PyInstaller.

    Attributes:
        datas: Files and the folder that each goes to.
        metadata: Distributions whose version is asked for while the program runs.
        with_data: Packages whose files that are no code are read while the program runs.
        hidden: Modules that are imported by name only.
        excluded: Modules that are left out.
        modes: How a package's modules are kept: "py" are source files beside the program.
        version: Of the program.
        bundle_id: Of the macOS bundle.
        icon: Of the program file, on systems where it carries one.
        version_file: Of the program file on Windows.
    """

    datas: tuple[tuple[str, str], ...]
    metadata: tuple[str, ...]
    with_data: tuple[str, ...]
    hidden: tuple[str, ...]
    excluded: tuple[str, ...]
    modes: tuple[tuple[str, str], ...]
    version: str
    bundle_id: str
    icon: str | None
    version_file: str | None


def plan(root: Path) -> Plan:
    """What goes in on this system, of the checkout at `root`."""
    project = read_project(root)
    return Plan(
        datas=(
            *_assets(root),
            (str(root / "LICENSE"), "."),
            (str(write_metadata(project, BUILD / "metadata")), f"{_dist_info(project)}"),
            *[(str(file), _MODEL_FOLDER) for file in sorted((BUILD / _MODEL_FOLDER).glob("*.gguf"))],
        ),
        metadata=tuple(name for name in _METADATA if _is_installed(name)),
        with_data=_WITH_DATA,
        hidden=("engine.bench.subject", "engine.bench.first_token"),
        excluded=(*trim.MODULES, *(f"transformers.models.{name}" for name in trim.unneeded_families(_transformers()))),
        # Numba keeps compiled kernels only for functions whose source file exists.
        modes=(("engine.kernels", "py"),),
        version=project.version,
        bundle_id=APP_ID,
        icon=_existing(BUILD / "icons" / {"win32": "loquat.ico", "darwin": "loquat.icns"}.get(sys.platform, "none")),
        version_file=_existing(BUILD / "version.txt") if sys.platform == "win32" else None,
    )


def write_metadata(project: Project, folder: Path) -> Path:
    """Write what `importlib.metadata` reads of Loquat itself; returns the file."""
    file = folder / _dist_info(project) / "METADATA"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        _LINES.format(project.distribution, project.version, project.summary, project.licence), encoding="utf-8"
    )
    return file


def _dist_info(project: Project) -> str:
    return f"{project.distribution.replace('-', '_')}-{project.version}.dist-info"


def _assets(root: Path) -> list[tuple[str, str]]:
    """Everything in assets/ but the pictures of the README and the sources of translations."""
    files = [path for path in sorted((root / "assets").rglob("*")) if path.is_file()]
    wanted = [path for path in files if path.suffix != ".ts" and not path.match("assets/screenshot-*.png")]
    return [(str(path), str(path.parent.relative_to(root))) for path in wanted]


def _transformers() -> Path:
    found = importlib.util.find_spec("transformers")
    if found is None or found.origin is None:
        raise SystemExit("transformers is not installed in this environment: `python3 packaging/build.py` makes it.")
    return Path(found.origin).parent


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec({"PySide6-Essentials": "PySide6"}.get(name, name)) is not None


def _existing(path: Path) -> str | None:
    return str(path) if path.is_file() else None
