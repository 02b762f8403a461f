from __future__ import annotations

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import QLibraryInfo

from app import qt_platform
from app.assets import ASSETS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt's plugins need nothing of the system")


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        ({}, ("xcb",)),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ("wayland", "xcb")),
        ({"QT_QPA_PLATFORM": "xcb", "WAYLAND_DISPLAY": "wayland-0"}, ("xcb",)),
        ({"QT_QPA_PLATFORM": "wayland-egl;xcb:x"}, ("wayland", "xcb")),
    ],
)
def test_the_plugins_are_those_that_qt_tries(environ, names):
    assert qt_platform.platforms(environ) == names


def test_a_plugin_that_loads_is_no_trouble_and_one_that_does_not_is_told(tmp_path):
    (tmp_path / "libqxcb.so").touch()
    told = qt_platform.trouble({}, tmp_path)
    assert told.startswith(f"The window cannot be opened: {tmp_path / 'libqxcb.so'}: file too short. `loquat doctor`")
    assert "libqxcb.so" in qt_platform.trouble({"WAYLAND_DISPLAY": "wayland-0"}, tmp_path)
    assert qt_platform.trouble({"QT_QPA_PLATFORM": "offscreen"}) == ""
    assert qt_platform.trouble({"QT_QPA_PLATFORM": "vnc"}, tmp_path) == ""
    assert qt_platform.trouble({"QT_QPA_PLATFORM_PLUGIN_PATH": "/x"}, tmp_path) == ""


@pytest.mark.parametrize(
    "environ", [{}, {"LC_ALL": "C", "PYTHONUTF8": "1"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_path_is_readable_without_a_language(tmp_path, environ):
    folder = tmp_path / "Mes programmes \u00e9 \u4e2d\u6587"
    folder.mkdir()
    (folder / "libqxcb.so").touch()
    code = "import sys; from pathlib import Path; from app.qt_platform import trouble\n"
    code += "print(trouble({}, Path(sys.argv[1])), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ} | environ,
        cwd=ASSETS.parent,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr.startswith(f"The window cannot be opened: {folder / 'libqxcb.so'}: file too short. ")


def test_one_plugin_that_loads_is_enough(tmp_path):
    (tmp_path / "libqwayland.so").touch()
    both = {"QT_QPA_PLATFORM": "wayland;offscreen"}
    assert "libqoffscreen.so" in qt_platform.trouble(both, tmp_path)
    plugins = QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)
    (tmp_path / "libqoffscreen.so").symlink_to(f"{plugins}/platforms/libqoffscreen.so")
    assert qt_platform.trouble(both, tmp_path) == ""


def test_a_library_of_the_system_that_is_missing_ends_the_program_with_a_sentence(tmp_path, loquat_home):
    """Something else lies over the library, in a mount namespace of the child's own: Qt alone would abort."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    files = [line.split()[-1] for line in listed.splitlines() if line.strip().startswith("libxcb-cursor.so.0 ")]
    blank = tmp_path / "blank"
    blank.touch()
    hide = " && ".join([*(f"mount --bind {blank} {file}" for file in files), 'exec "$0" "$@"'])
    before = ["unshare", "-m", "sh", "-c", hide]
    if not files or subprocess.run([*before, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user cannot hide a library of the system")
    code = "import sys; from app.desktop import run; sys.exit(run([]))"
    done = subprocess.run(
        [*before, sys.executable, "-c", code],
        env={**os.environ, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("The window cannot be opened: ") and "libxcb-cursor.so.0: " in done.stderr
    assert done.stderr.endswith("`loquat doctor` says what to do about it.\n")
    assert not loquat_home.data.exists()
