"""The bootstrap on a toy project: real environments, real pip, no network."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = ("bootstrap.py", "pip_progress.py", "system_libraries.py")

BACKEND = """
import tomllib, time, zipfile
from pathlib import Path

def build_editable(folder, config_settings=None, metadata_directory=None):
    while Path("hold").exists():
        Path("held").touch()
        time.sleep(0.05)
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    needs = [f"Requires-Dist: {name}" for name in project["dependencies"]]
    needs += [f'Requires-Dist: {name}; extra == "test"' for name in project["optional-dependencies"]["test"]]
    metadata = "\\n".join(["Metadata-Version: 2.1", "Name: toy", "Version: 1", "Provides-Extra: test", *needs, ""])
    files = {"toy.pth": str(Path.cwd()), "toy-1.dist-info/METADATA": metadata, "toy-1.dist-info/RECORD": "",
             "toy-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    with zipfile.ZipFile(Path(folder) / "toy-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "toy-1-py3-none-any.whl"
"""
PROGRAM = """
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "folder": os.getcwd(), "python": sys.prefix}))
sys.exit(7 if "fail" in sys.argv else 0)
"""


def project_text(dependencies: list[str], extra: list[str]) -> str:
    return (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "toy"\nversion = "1"\ndependencies = {json.dumps(dependencies)}\n'
        f"[project.optional-dependencies]\ntest = {json.dumps(extra)}\n"
    )


class Toy:
    """A checkout with the real scripts, a build backend of its own and wheels on the disk."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a toy"  # with a space, as folders have
        self.wheels = folder / "wheels"
        for made in (self.root / "packaging", self.root / "app", self.wheels):
            made.mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy(ROOT / "packaging" / name, self.root / "packaging" / name)
        (self.root / "engine").mkdir()
        shutil.copy(ROOT / "engine" / "system_libraries.py", self.root / "engine" / "system_libraries.py")
        (self.root / "app" / "__init__.py").touch()
        (self.root / "app" / "__main__.py").write_text(PROGRAM)
        (self.root / "pytest.py").write_text(PROGRAM)  # stands in for the real one, found first by -m
        (self.root / "backend.py").write_text(BACKEND)
        self.require(["part-one"], ["part-two"])
        for name in ("part_one", "part_two", "part_three"):
            self.add_wheel(name)

    def require(self, dependencies: list[str], extra: list[str]) -> None:
        (self.root / "pyproject.toml").write_text(project_text(dependencies, extra))

    def add_wheel(self, name: str) -> None:
        with zipfile.ZipFile(self.wheels / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", "")
            wheel.writestr(f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
            wheel.writestr(
                f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{name}-1.dist-info/RECORD", "")

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.Popen(
            [sys.executable, self.root / "packaging" / "bootstrap.py", *arguments],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.root.parent,
            **options,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        child = self.start(*arguments)
        out, error = child.communicate(timeout=120)
        return child.returncode, out, error

    def installed(self) -> set[str]:
        return {entry.name.split("-")[0] for entry in self.root.glob(".venv/**/site-packages/*.dist-info")}


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


def test_first_start_installs_and_later_ones_start_at_once(toy: Toy) -> None:
    code, out, error = toy.run("run", "chat", "--prompt", "a b")
    said = json.loads(out)
    assert code == 0
    assert said["arguments"] == ["chat", "--prompt", "a b"]
    assert said["folder"] == str(toy.root.parent)  # relative paths in arguments are the person's own
    assert Path(said["python"]) == toy.root / ".venv"
    assert "Making the environment" in error
    assert f"Installed {len(toy.installed() - {'pip', 'setuptools'})} packages in" in error
    assert toy.installed() >= {"toy", "part_one"}
    assert "part_two" not in toy.installed()  # what only tests need

    seconds = []
    for _ in range(3):
        started = time.monotonic()
        code, out, error = toy.run("run", "chat", "fail")
        seconds.append(time.monotonic() - started)
        assert (code, error) == (7, "")
    assert min(seconds) < 1.0


def test_a_changed_project_is_installed_anew_and_tests_get_their_extra(toy: Toy) -> None:
    code, out, _ = toy.run("test", "-k", "some thing")
    assert code == 0
    assert json.loads(out)["arguments"] == ["-k", "some thing"]
    assert json.loads(out)["folder"] == str(toy.root)
    assert toy.installed() >= {"part_one", "part_two"}

    toy.require(["part-one", "part-three"], ["part-two"])
    code, _, error = toy.run("run", "chat")
    assert code == 0
    assert "Making the environment" not in error  # built upon, not built again
    assert "part_three" in toy.installed()

    assert toy.run("test")[2] == ""  # the run before kept the extra

    folder = next(toy.root.glob(".venv/**/site-packages/part_one-1.dist-info"))
    shutil.rmtree(folder)
    assert toy.run("run", "chat")[0] == 0
    assert "part_one" in toy.installed()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_killed_installation_is_not_taken_for_a_finished_one(toy: Toy) -> None:
    (toy.root / "hold").touch()
    child = toy.start("run", "chat", start_new_session=True)
    wait_for(toy.root / "held")
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    (toy.root / "hold").unlink()

    code, out, error = toy.run("run", "chat")
    assert code == 0
    assert "Making the environment" in error
    assert json.loads(out)["arguments"] == ["chat"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_two_starts_at_once_install_once_even_if_the_first_is_killed(toy: Toy) -> None:
    (toy.root / "hold").touch()
    first = toy.start("run", "chat", "first")
    wait_for(toy.root / "held")
    second = toy.start("run", "chat", "second")
    assert second.stderr is not None
    assert "Another start is installing" in second.stderr.readline()
    first.kill()  # pip lives on and still holds the lock
    first.communicate()
    assert second.poll() is None
    (toy.root / "hold").unlink()
    out, error = second.communicate(timeout=120)
    assert second.returncode == 0, error
    assert json.loads(out)["arguments"] == ["chat", "second"]


def test_a_failed_installation_says_what_pip_said_and_can_be_mended(toy: Toy) -> None:
    toy.require(["part-missing"], [])
    code, out, error = toy.run("run", "chat")
    assert (code, out) == (2, "")
    assert "No matching distribution found for part-missing" in error
    assert "try another Python" in error
    assert "loquat-install.log" in error
    assert "Traceback" not in error

    toy.require(["part-one"], [])
    assert toy.run("run", "chat")[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="links to the interpreter are POSIX")
def test_a_broken_environment_is_repaired(toy: Toy) -> None:
    (toy.root / ".venv" / "bin").mkdir(parents=True)
    (toy.root / ".venv" / "bin" / "python").symlink_to(toy.root / "gone")
    assert toy.run("run", "chat")[0] == 0

    python = toy.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(toy.root / "gone")
    code, _, error = toy.run("run", "chat")
    assert code == 0
    assert "Making the environment" in error


@pytest.mark.skipif(sys.platform != "linux", reason="other systems bring what Qt needs")
def test_a_missing_system_library_stops_the_window_alone(toy: Toy) -> None:
    table = toy.root / "engine" / "system_libraries.py"
    entry = 'CORE["libnowhere.so.9"] = ("libnowhere9", "nowhere", "nowhere")\nXCB = {'
    table.write_text(table.read_text().replace("XCB = {", entry, 1))
    code, out, error = toy.run("run")
    assert (code, out) == (2, "")
    assert "libnowhere.so.9" in error
    assert "nowhere" in error.rpartition(".so.9")[2]
    assert not (toy.root / ".venv").exists()  # said before minutes of downloading

    code, out, error = toy.run("run", "chat")
    assert code == 0
    assert "Note: Qt needs" in error
    assert toy.run("run", "models", "list")[2] == ""  # once is enough


def test_an_old_python_and_wrong_usage_get_a_sentence(toy: Toy) -> None:
    script = toy.root / "packaging" / "bootstrap.py"
    code = f"import sys, runpy; sys.version_info = (3, 9, 2); runpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Loquat needs Python 3.11 or newer; this is 3.9")

    code, _, error = toy.run("start")
    assert code == 2
    assert "bootstrap.py run" in error


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    names = [Path(name).stem for name in SCRIPTS]
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


def test_the_advice_fits_the_distribution(scripts: dict[str, object]) -> None:
    advice = scripts["system_libraries"].advice
    absent = ["libxcb-cursor.so.0", "libEGL.so.1"]
    ubuntu = 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n'
    mint = 'ID=linuxmint\nID_LIKE="ubuntu debian"\n'
    assert advice(absent, ubuntu, root=False).endswith("Install them with: sudo apt install libegl1 libxcb-cursor0")
    assert advice(absent, mint, root=True).endswith("with: apt install libegl1 libxcb-cursor0")
    assert advice(absent, "ID=fedora\n", root=False).endswith("sudo dnf install libglvnd-egl xcb-util-cursor")
    assert advice(absent, "ID=arch\n", root=False).endswith("sudo pacman -S --needed libglvnd xcb-util-cursor")
    assert advice(absent, "ID=else\n", root=False).endswith("Debian calls the packages libegl1 libxcb-cursor0.")


def test_only_the_libraries_of_this_display_are_wanted(scripts: dict[str, object]) -> None:
    wanted = scripts["system_libraries"].wanted
    assert "libxcb-cursor.so.0" in wanted({})
    assert "libwayland-client.so.0" not in wanted({})
    assert "libxcb-cursor.so.0" not in wanted({"WAYLAND_DISPLAY": "wayland-0"})
    assert "libwayland-client.so.0" in wanted({"WAYLAND_DISPLAY": "wayland-0"})
    assert "libxcb-cursor.so.0" in wanted({"WAYLAND_DISPLAY": "wayland-0", "QT_QPA_PLATFORM": "xcb"})
    assert "libxcb-cursor.so.0" not in wanted({"QT_QPA_PLATFORM": "offscreen"})


def test_progress_names_package_count_and_bytes(scripts: dict[str, object]) -> None:
    had: list[str] = []
    progress = scripts["pip_progress"].Progress(0.0, lambda: had)
    assert progress.text() == "Finding and downloading"
    for line in (
        "Collecting torch==2.13.0 (from loquat-chat==0.1.0)",
        "  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (915.1 MB)",
        "Progress 40000000 of 915100000",
    ):
        progress.feed(line)
    assert progress.text() == "Finding and downloading: 1 package so far, torch 40 of 915 MB"
    progress.feed("Collecting sympy>=1.13.3 (from torch==2.13.0->loquat-chat==0.1.0)")
    assert progress.text() == "Finding and downloading: 2 packages so far, sympy"
    progress.feed("Installing collected packages: mpmath, PySide6-Essentials, torch")
    assert progress.text() == "Installing 1 of 3: mpmath"
    had += ["mpmath-1.3.0.dist-info", "pyside6_essentials-6.12.0.dist-info"]
    assert progress.text() == "Installing 3 of 3: torch"
