"""Pictures of every screen: `python -m tests.pictures [FOLDER]`; on no screen if no QT_QPA_PLATFORM is set.

Each scene is drawn light and dark, in English and Chinese, wide (1440 x 900) and narrow (640 x 800). Conversations,
models and figures are examples; the program behind the window is the real one, with a scripted worker in place of the
engine's.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QApplication

from app.i18n import LANGUAGES
from tests.pictures import chat_scenes, dialog_scenes, inspector_scenes, model_scenes
from tests.pictures.stage import SIZES, picture, staged

THEMES: Final = ("light", "dark")
_ALL: Final = (*chat_scenes.SCENES, *dialog_scenes.SCENES, *model_scenes.SCENES, *inspector_scenes.SCENES)
SCENES: Final = {scene.name: scene for scene in _ALL}


def take(
    app: QApplication, folder: Path, names: Sequence[str], *, sizes: Sequence[str], **choices: Sequence[str]
) -> None:
    """Take the pictures of some scenes; one play of a scene serves all themes.

    Args:
        names: Of the scenes.
        sizes: Of SIZES.
        choices: `languages` and `themes`.
    """
    for name, language, size in product(names, choices["languages"], sizes):
        if size not in SCENES[name].sizes:
            continue
        with (
            tempfile.TemporaryDirectory() as home,
            staged(app, Path(home), SCENES[name], language, SIZES[size]) as stage,
        ):
            for theme in choices["themes"]:
                path = folder / f"{name}-{language}-{size}-{theme}.png"
                picture(stage, theme).save(str(path))
                print(path, flush=True)


def _no_screen(folder: Path) -> str:
    """No screen, and yet room on it: Qt's own is 800 pixels wide, and menus and dialogs keep to that."""
    screen = {"name": "pictures", "x": 0, "y": 0, "width": 1600, "height": 1000, "logicalDpi": 96, "dpr": 1}
    file = folder / "screen.json"
    file.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    return f"offscreen:configfile={file.resolve()}"


def main() -> None:
    """Take the pictures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/pictures"))
    parser.add_argument("--scene", action="append", metavar="NAME", help="only these; NAME may hold *")
    parser.add_argument("--list", action="store_true", help="print the names of all scenes and end")
    parser.add_argument("--theme", choices=THEMES, action="append")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--size", choices=tuple(SIZES), action="append")
    options = parser.parse_args()
    names = [name for name in SCENES if any(fnmatch(name, wanted) for wanted in options.scene or ("*",))]
    if options.list:
        print("\n".join(names))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("QT_QPA_PLATFORM", _no_screen(options.folder))
    app = QApplication(["loquat"])
    app.setQuitOnLastWindowClosed(False)
    take(
        app,
        options.folder,
        names,
        sizes=options.size or tuple(SIZES),
        languages=options.language or LANGUAGES,
        themes=options.theme or THEMES,
    )


if __name__ == "__main__":
    main()
