"""What the loader of libraries says, as people read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPORT = """
import sys
from engine.system_libraries import cannot_open, loader_words
sys.path.insert(0, sys.argv[1])
try:
    import broken
except ImportError as error:
    print(cannot_open(loader_words(error)), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the loader's words are no text of the locale")
@pytest.mark.parametrize("environ", [{"PYTHONUTF8": "1"}, {"PYTHONCOERCECLOCALE": "0"}])
def test_the_path_of_a_broken_module_is_readable_without_a_language(tmp_path: Path, environ: dict[str, str]) -> None:
    folder = tmp_path / "Mes programmes \u00e9 \u4e2d\u6587"
    folder.mkdir()
    (folder / "broken.so").touch()
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, str(folder)],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", **environ},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    said = f"The window cannot be opened: {folder / 'broken.so'}: file too short."
    assert done.stderr == f"{said} `loquat doctor` says what to do about it.\n"
