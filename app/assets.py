"""Where the files lie that come with the program: fonts, icons, themes, translations, assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# Installed from a wheel, the assets lie inside the package; in a checkout, beside it.
_INSIDE: Final = Path(__file__).parent / "assets"
ASSETS: Final = _INSIDE if _INSIDE.is_dir() else Path(__file__).parent.parent / "assets"
