"""Where Loquat keeps its files: one place for all, one override for tests and portable use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

OVERRIDE = "LOQUAT_HOME"


@dataclass(frozen=True, slots=True)
class Paths:
    """The directories of one installation; none is created here.

    Attributes:
        data: Conversations and models.
        config: Settings.
        cache: What can be made again.
        logs: Log files.
    """

    data: Path
    config: Path
    cache: Path
    logs: Path

    @property
    def models(self) -> Path:
        """Imported models, one folder each."""
        return self.data / "models"

    @property
    def database(self) -> Path:
        """The conversations."""
        return self.data / "conversations.sqlite3"


def default_paths() -> Paths:
    """The platform's directories, or all below the folder that LOQUAT_HOME names."""
    override = os.environ.get(OVERRIDE)
    if override:
        home = Path(override).expanduser().resolve()
        return Paths(home / "data", home / "config", home / "cache", home / "logs")
    dirs = platformdirs.PlatformDirs("loquat", appauthor=False)
    return Paths(dirs.user_data_path, dirs.user_config_path, dirs.user_cache_path, dirs.user_log_path)
