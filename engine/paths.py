"""Where Loquat keeps its files: one place for all, one override for tests and portable use."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.own_command import is_frozen

OVERRIDE = "LOQUAT_HOME"
PORTABLE = "loquat-data"


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
    """The platform's directories, or all below one folder: that of LOQUAT_HOME, or `loquat-data` beside the program."""
    override = os.environ.get(OVERRIDE)
    home = Path(override).expanduser().resolve() if override else portable_folder()
    if home is not None:
        return Paths(home / "data", home / "config", home / "cache", home / "logs")
    dirs = platformdirs.PlatformDirs("loquat", appauthor=False)
    return Paths(dirs.user_data_path, dirs.user_config_path, dirs.user_cache_path, dirs.user_log_path)


def portable_folder() -> Path | None:
    """The folder `loquat-data` beside the installed program, which holds everything if it is there.

    None where there is no such folder, in a checkout, and where LOQUAT_HOME says otherwise.
    """
    if not is_frozen() or os.environ.get(OVERRIDE):
        return None
    folder = program_folder() / PORTABLE
    return folder if folder.is_dir() else None


def program_folder() -> Path:
    """Where the installed program lies as a person sees it: beside an AppImage or a Mac's bundle, not inside it."""
    image = appimage()
    if image is not None:
        return image.parent
    program = Path(sys.executable).resolve()
    inside_bundle = program.parent.parts[-2:] == ("Contents", "MacOS")
    return program.parents[3] if inside_bundle else program.parent


def appimage() -> Path | None:
    """The AppImage that this program runs from.

    None where it runs from none. Whatever an AppImage starts inherits its variables, another program's terminal say, so
    that they are believed only if this program lies in what was mounted.
    """
    file, mounted = os.environ.get("APPIMAGE"), os.environ.get("APPDIR")
    if not file or not mounted:
        return None
    return Path(file).resolve() if Path(sys.executable).resolve().is_relative_to(Path(mounted).resolve()) else None
