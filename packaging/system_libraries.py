#!/usr/bin/env python3
"""engine/system_libraries.py for what runs before Loquat's environment exists: loaded by its path, without its package.

Run as a script it prints Debian's package names, one line. Standard library only.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_LIBRARIES = _load(Path(__file__).resolve().parent.parent / "engine" / "system_libraries.py")
complaint = _LIBRARIES.complaint
advice = _LIBRARIES.advice
wanted = _LIBRARIES.wanted
debian_packages = _LIBRARIES.debian_packages
ALL: dict[str, tuple[str, str, str]] = _LIBRARIES.ALL

if __name__ == "__main__":
    print(" ".join(debian_packages()))
