"""The list of parts (SBOM, CycloneDX): every package of the build, and what is no Python package: model, Qt, Python."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from building.job import Job
from building.lock import plain_name
from building.project import ROOT, Project
from building.tree import sha256

NAME: Final = "loquat.cdx.json"
# What builds is not in what is built. PyInstaller's boot loader is, under an exception to its licence.
BUILD_ONLY: Final = frozenset(
    {"altgraph", "macholib", "pefile", "pip", "pyinstaller-hooks-contrib", "setuptools", "wheel"}
)


def write(target: Path, job: Job, models: Iterable[Path], python: Path) -> None:
    """Write the list; the same for every build of one commit.

    Args:
        target: The file.
        job: What it is the list of.
        models: Model files that are shipped.
        python: Of the build environment.
    """
    command = [
        str(job.tools.with_name("cyclonedx-py")),
        "environment",
        "--output-reproducible",
        "--spec-version",
        "1.6",
    ]
    command += ["--pyproject", str(ROOT / "pyproject.toml"), str(python)]
    # Nothing else of this environment may leave a trace in the list; Windows starts no Python without SYSTEMROOT.
    passed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    environment = {**passed, "SOURCE_DATE_EPOCH": str(job.epoch)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    listed = completed(json.loads(done.stdout), [*_others(job.project), *map(_model, models)])
    target.write_text(json.dumps(listed, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def completed(listed: dict[str, Any], more: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A list of an environment without what only builds, and with more parts."""
    parts = [part for part in listed["components"] if plain_name(part["name"]) not in BUILD_ONLY]
    parts = sorted([*parts, *more], key=lambda part: (part["name"].lower(), part["version"]))
    kept = {part["bom-ref"] for part in parts} | {listed.get("metadata", {}).get("component", {}).get("bom-ref")}
    edges = [edge for edge in listed.get("dependencies", []) if edge["ref"] in kept]
    trimmed = [{**edge, "dependsOn": sorted(set(edge.get("dependsOn", [])) & kept)} for edge in edges]
    return {**listed, "components": parts, "dependencies": trimmed}


def _others(project: Project) -> list[dict[str, Any]]:
    pins = dict(line.split("==") for line in project.dependencies if "==" in line)
    qt = pins["PySide6-Essentials"]
    return [
        _part("framework", "Qt", qt, "LGPL-3.0-only", f"pkg:generic/qt@{qt}"),
        _part(
            "platform",
            "CPython",
            platform.python_version(),
            "PSF-2.0",
            f"pkg:generic/cpython@{platform.python_version()}",
        ),
    ]


def _model(file: Path) -> dict[str, Any]:
    part = _part("machine-learning-model", file.stem, "1", "Apache-2.0", f"pkg:generic/{file.stem}@1")
    return {**part, "hashes": [{"alg": "SHA-256", "content": sha256(file)}]}


def _part(kind: str, name: str, version: str, licence: str, purl: str) -> dict[str, Any]:
    licences = [{"license": {"id": licence}}]
    return {"type": kind, "name": name, "version": version, "licenses": licences, "purl": purl, "bom-ref": purl}
