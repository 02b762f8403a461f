"""What a step that makes an installer is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from building.project import Project


@dataclass(frozen=True, slots=True)
class Job:
    """One frozen program to be packed.

    Attributes:
        program: Its folder; on macOS the `.app`.
        project: What pyproject.toml says.
        epoch: Seconds since 1970 that every file carries.
        icons: Where `building.icons` drew.
        tools: The Python of the environment with the tools.
    """

    program: Path
    project: Project
    epoch: int
    icons: Path
    tools: Path
